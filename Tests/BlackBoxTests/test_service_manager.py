"""What the service manager hears of the daemon (sd_notify)."""

import os
import signal
import socket
import struct

import board as boards
import pytest


class Manager:
    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.heard = []

    def hear(self, wanted, timeout=20):
        """Until it has heard that line since the last forget(). timeout 0: it was said already."""
        self.socket.settimeout(timeout)
        while wanted not in self.heard:
            assert len(self.heard) < 200, self.heard
            self.heard += self.socket.recv(4096).decode().splitlines()

    def forget(self):
        self.heard.clear()


@pytest.fixture
def manager(board):
    made = Manager(f"{board.root}/service-manager")
    yield made
    made.socket.close()


def test_it_hears_of_the_start_the_signs_of_life_and_the_end(board, manager):
    board.app("app")
    board.start(environment={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "600000"})
    manager.hear("READY=1")
    manager.forget()
    manager.hear("WATCHDOG=1")
    manager.forget()
    manager.hear("WATCHDOG=1")
    assert board.stop() == 0
    manager.hear("STOPPING=1")
    # An app is told of its own socket, not of the daemon's.
    assert board.notes("app", "start")[0]["environment"]["NOTIFY_SOCKET"] != manager.path


@pytest.mark.parametrize("by_signal", [False, True])
def test_it_hears_how_many_apps_there_are_after_a_reload_too(board, manager, by_signal):
    board.app("app")
    board.start(environment={"NOTIFY_SOCKET": manager.path})
    manager.hear("STATUS=1 app")
    board.app("other")
    manager.forget()
    if by_signal:
        board.daemon.send_signal(signal.SIGHUP)
    else:
        board.call("Reload")
    manager.hear("STATUS=2 apps")
    # Nothing is told of a reload that changed nothing.
    board.app_file("other", "exec = 1")
    manager.forget()
    assert board.error("Reload").name.endswith("InvalidConfiguration")
    board.app("other", "ready")
    board.call("Reload")
    manager.hear("STATUS=2 apps")
    assert [line for line in manager.heard if line.startswith("STATUS=")] == ["STATUS=2 apps"]


def test_signs_of_life_that_are_awaited_of_the_main_process(board, manager):
    """systemd names it, by WATCHDOG_PID; they come of the loop, through it."""
    board.app("app")
    variables = {"PATH": os.environ["PATH"], "NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "600000"}

    def become():
        arguments = [boards.CURFEWD, "--root", board.root, "--cgroup", board.cgroup, "--no-board"]
        os.execve(arguments[0], arguments, {**variables, "WATCHDOG_PID": str(os.getpid())})

    daemon = board.start(prepare=become)
    manager.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    manager.hear("READY=1")
    for _ in range(3):
        manager.forget()
        manager.hear("WATCHDOG=1")
    _, ancillary, _, _ = manager.socket.recvmsg(4096, socket.CMSG_SPACE(12))
    assert struct.unpack("3i", ancillary[0][2])[0] == daemon.pid
    # Its next loop is not less alive.
    os.kill(board.loop(), 9)
    manager.forget()
    manager.hear("READY=1")
    manager.hear("WATCHDOG=1")


def test_it_expects_no_signs_of_life_while_the_board_sleeps(board, manager):
    """It counts by MONOTONIC, which on some boards runs on in the sleep."""
    board.app("app")
    login = board.with_login(delay=3)
    board.start(environment={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "6000000"})
    board.wait_active("app")
    login.wait_held("sleep")
    login.sleep(True)
    # When the lock is gone it would be too late.
    login.wait_closed("sleep")
    manager.hear("WATCHDOG_USEC=0", timeout=0)
    login.sleep(False)
    manager.hear("WATCHDOG_USEC=6000000")
    assert [line for line in manager.heard if line.startswith("WATCHDOG_USEC=")] == [
        "WATCHDOG_USEC=0", "WATCHDOG_USEC=6000000"]
