"""A private system bus with a logind on it."""

import json
import os
import signal
import subprocess
from pathlib import Path

import dbus
import dbus.bus
from waiting import wait_until

MANAGER = "org.freedesktop.login1.Manager"
MOCK = "org.freedesktop.DBus.Mock"
TEMPLATE = Path(__file__).parent / "programs" / "login_manager.py"


class Login:
    def __init__(self, root, groups=None, **parameters):
        """parameters: those of the template; the bus and logind are started."""
        self.socket = f"{root}/bus"
        self.address = f"unix:path={self.socket}"
        self.events_file = Path(root) / "login.jsonl"
        self.events_file.touch()
        self.parameters = {"events": str(self.events_file), "groups": groups,
                           "inhibit": f"{root}/run/systemd/inhibit", **parameters}
        self.bus = None
        self.manager = None
        self.start_bus()
        self.start_manager()

    # The bus and logind come and go.

    def start_bus(self):
        if os.path.exists(self.socket):
            os.unlink(self.socket)
        self.bus = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address={self.address}"],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        wait_until(self._bus_answers, "the bus is there")

    def _bus_answers(self):
        try:
            dbus.bus.BusConnection(self.address).close()
        except dbus.exceptions.DBusException:
            return False
        return True

    def start_manager(self, **changes):
        self.parameters.update(changes)
        environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.address}
        self.manager = subprocess.Popen(
            ["/usr/bin/python3", "-m", "dbusmock", "--logfile", f"{self.socket}.log", "--system",
             "--template", str(TEMPLATE), "--parameters", json.dumps(self.parameters)],
            env=environment, stdin=subprocess.DEVNULL,
        )

        def is_there():
            connection = dbus.bus.BusConnection(self.address)
            try:
                return connection.name_has_owner("org.freedesktop.login1")
            finally:
                connection.close()

        wait_until(is_there, "logind is on the bus")

    def kill_manager(self):
        self._end("manager")

    def kill_bus(self):
        self._end("bus")
        self._end("manager")

    def _end(self, which):
        process = getattr(self, which)
        if process is not None:
            process.send_signal(signal.SIGKILL)
            process.wait()
            setattr(self, which, None)

    def close(self):
        self.kill_bus()

    # What a test asks of it.

    def _mock(self, method, *arguments):
        connection = dbus.bus.BusConnection(self.address)
        try:
            manager = connection.get_object("org.freedesktop.login1", "/org/freedesktop/login1")
            return manager.get_dbus_method(method, MOCK)(*arguments)
        finally:
            connection.close()

    def sleep(self, start):
        """Emits PrepareForSleep; when, in CLOCK_MONOTONIC."""
        return float(self._mock("Edge", "PrepareForSleep", start))

    def say_late(self, signal_name, start):
        """Emits the signal alone, which is an older one's."""
        self._mock("EmitSignal", "org.freedesktop.login1.Manager", signal_name, "b", [dbus.Boolean(start)])

    def shutdown(self, start):
        return float(self._mock("Edge", "PrepareForShutdown", start))

    def set_delay(self, seconds):
        self._mock("Change", "InhibitDelayMaxUSec", dbus.UInt64(int(seconds * 1e6)))

    def set_sleeping(self, value):
        """Changes the property without a signal: an edge that is lost."""
        self._mock("Change", "PreparingForSleep", dbus.Boolean(value))

    def hold_others(self, *locks):
        """Locks of other processes from now on: (who, why, user, pid) each, of mode delay on sleep."""
        self.show_others(*(("shutdown:sleep", *lock) for lock in locks))

    def show_others(self, *locks):
        """The same of any kind: (what, who, why, user, pid) each."""
        rows = [(what, who, why, "delay", dbus.UInt32(user), dbus.UInt32(pid)) for what, who, why, user, pid in locks]
        self._mock("HoldOthers", dbus.Array(rows, signature="(ssssuu)"))

    def forget_others(self):
        """They are let go as soon as it has said once more that they are held."""
        self._mock("ForgetOthers")

    def make_lock(self):
        """The path of a FIFO that is a lock for as long as a process has it open for writing."""
        return str(self._mock("MakeLock"))

    def show_lock(self, fifo, who, why, user, pid, what="shutdown:sleep", mode="delay", listed=True):
        """From now on it says that this process took it; listed: to all who ask, and not in its folder alone."""
        self._mock("ShowLock", fifo, dbus.Struct(
            (what, who, why, mode, dbus.UInt32(user), dbus.UInt32(pid)), signature="ssssuu"), listed)

    def wait_let_go(self, fifo):
        """Returns when no process has the lock any more; the event."""
        return wait_until(lambda: next(iter(self.events("let-go", path=fifo)), None), f"{fifo} is let go")

    def be_busy(self, seconds):
        """So long passes from now on before it says who holds locks."""
        self._mock("BeBusy", dbus.UInt32(seconds * 1000))

    def fail_lists(self, count):
        """So many times from now on it does not say who holds locks."""
        self._mock("FailLists", dbus.UInt32(count))

    def refuse(self, *kinds):
        """Locks on these are refused from now on, and no others."""
        self._mock("Refuse", dbus.Array(kinds, signature="s"))

    # Sessions, all of a person's where nothing else is said.

    def open_session(self, name="1", kind="user", seat="seat0"):
        """seat: "" for one from afar."""
        self._mock("OpenSession", name, kind, seat)

    def close_session(self, name="1"):
        self._mock("CloseSession", name)

    def lock(self, name="1"):
        """Asks a session to lock itself, as loginctl lock-session does; when, in CLOCK_MONOTONIC."""
        return float(self._mock("SessionSignal", name, "Lock"))

    def unlock(self, name="1"):
        return float(self._mock("SessionSignal", name, "Unlock"))

    def set_locked(self, value, name="1"):
        """The hint that a locker gives."""
        return float(self._mock("HintLocked", name, value))

    def set_idle(self, value):
        return float(self._mock("HintIdle", value))

    def set_board(self, name, value, announce=False):
        """LidClosed, Docked or OnExternalPower, of which nothing is announced, but for LidClosed since systemd 256."""
        self._mock("Announce" if announce else "Change", name, dbus.Boolean(value))

    # What it has seen.

    def power_offs(self):
        return self.events("power-off")

    def events(self, kind=None, **matching):
        # The last may be half written.
        lines = self.events_file.read_text().split("\n")[:-1]
        events = [json.loads(line) for line in lines]
        return [
            event for event in events
            if (kind is None or event["event"] == kind)
            and all(event.get(name) == value for name, value in matching.items())
        ]

    def held(self, what):
        """How many locks of a kind are held now."""
        since = self.events("started")[-1]["t"]
        taken = [event for event in self.events("inhibit", what=what) if event["t"] >= since]
        closed = [event for event in self.events("closed", what=what) if event["t"] >= since]
        return len(taken) - len(closed)

    def wait_held(self, what, count=1):
        """Returns when so many locks of a kind were ever taken, and one of them is held."""
        wait_until(
            lambda: len(self.events("inhibit", what=what)) >= count and self.held(what) == 1,
            lambda: f"lock {count} for {what} is held: {self.events()}")

    def wait_closed(self, what, count=1):
        """The closing of the count-th lock of a kind."""
        wait_until(
            lambda: len(self.events("closed", what=what)) >= count,
            lambda: f"lock {count} for {what} is closed: {self.events()}")
        return self.events("closed", what=what)[count - 1]


