"""Signals that another user of the bus sends straight to the daemon: a match does not keep them away."""

import os
import signal
import threading
import time

import dbus
import dbus.bus
import dbus.lowlevel
import family
from lingering import lingering, listener
from waiting import wait_until

LOGIND = "org.freedesktop.login1"
DRIVER = "org.freedesktop.DBus"
SLEEP = ["WillResignActive", "DidEnterBackground", "WillEnterForeground", "DidBecomeActive"]


class Stranger:
    """A connection to the daemon's bus that owns no name but its own."""

    def __init__(self, board):
        self.bus = dbus.bus.BusConnection(board.login.address)
        self.name = self.bus.get_unique_name()
        self.victim = self._name_of(board.loop())

    def _name_of(self, pid):
        driver = self.bus.get_object(DRIVER, "/org/freedesktop/DBus")
        for name in driver.ListNames(dbus_interface=DRIVER):
            try:
                if name.startswith(":") and driver.GetConnectionUnixProcessID(name, dbus_interface=DRIVER) == pid:
                    return name
            except dbus.exceptions.DBusException:
                pass  # gone meanwhile
        raise AssertionError("the daemon is not on the bus")

    def send(self, path, interface, member, *arguments):
        """Returns when the bus has passed it on: what logind says after that reaches the daemon after it."""
        message = dbus.lowlevel.SignalMessage(path, interface, member)
        message.append(*arguments)
        message.set_destination(self.victim)
        self.bus.send_message(message)
        self.bus.list_names()

    def change_owner(self, old, new):
        self.send("/org/freedesktop/DBus", DRIVER, "NameOwnerChanged", LOGIND, old, new)

    def begin(self, what):
        self.send("/org/freedesktop/login1", f"{LOGIND}.Manager", what, True)


def leaves(stranger):
    stranger.change_owner(stranger.bus.get_name_owner(LOGIND), "")


def is_the_stranger(stranger):
    stranger.change_owner("", stranger.name)


def is_left_alone(_stranger):
    """The signals that follow are forged all the same."""


def test_logind_is_whom_the_bus_names(board):
    board.app("app")
    login = board.with_login()
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    login.wait_held("shutdown")
    stranger = Stranger(board)
    for round_, forge in enumerate([is_left_alone, leaves, is_the_stranger], 1):
        forge(stranger)
        stranger.begin("PrepareForSleep")
        stranger.begin("PrepareForShutdown")
        signalled = login.sleep(True)
        board.wait_sleep("asleep")
        closing = login.wait_closed("sleep", round_)
        assert closing["t"] >= signalled, forge
        assert closing["groups"] == {"app.1": True}, forge
        login.sleep(False)
        login.wait_held("sleep", round_ + 1)
        board.wait_active("app")
        wait_until(lambda: board.calls("app")[2:] == SLEEP * round_, lambda: f"one sleep each: {board.calls('app')}")
        assert not login.events("closed", what="shutdown"), forge
        assert board.device_state()["sleepState"] == "awake", forge
    assert "logind" not in board.log()
    stranger.bus.close()


def has_socket(pid, socket):
    return f"socket:[{os.fstat(socket.fileno()).st_ino}]" in family.descriptors(pid)


def test_descriptors_that_come_over_the_bus_hold_up_nothing(board):
    board.app("app")
    login = board.with_login()
    board.start()
    board.wait_active("app")
    # The threads that ask for locks have connections of their own, for as long: none is taken for the loop's.
    login.wait_held("sleep")
    login.wait_held("shutdown")
    wait_until(lambda: len(os.listdir(f"/proc/{board.loop()}/task")) == 1, "no thread is at work")
    stranger = Stranger(board)
    kept = []
    loop = board.loop()
    with listener() as server:
        # It reads them when all copies but those on their way to it are closed.
        os.kill(loop, signal.SIGSTOP)
        for _ in range(3):
            sender, keeps = lingering(server)
            kept.append(keeps)
            stranger.send("/org/freedesktop/login1", f"{LOGIND}.Manager", "PrepareForSleep",
                          dbus.types.UnixFd(sender))
            # The bus has passed it on, or was refused that: it would wait itself, were its own the last.
            stranger.bus.get_name_owner("org.freedesktop.DBus")
            wait_until(lambda: not has_socket(login.bus.pid, sender), "the bus has closed its own")
            # Where it was refused, ours is the last, and waits.
            closing = threading.Thread(target=sender.close, daemon=True)
            closing.start()
            closing.join(0.5)
        os.kill(loop, signal.SIGCONT)
        begun = time.monotonic()
        login.sleep(True)
        board.wait_sleep("asleep")
        assert time.monotonic() - begun < 2
        login.sleep(False)
        login.wait_held("sleep", 2)
        board.wait_active("app")
    for one in kept:
        one.close()
    stranger.bus.close()
