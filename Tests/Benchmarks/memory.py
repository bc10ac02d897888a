"""The measurements of memory that runs short. Each makes rows of the table."""

import os
import select
import socket
import time

from board import BUILD, MS, SLEEP, Curfew, Trouble, wait_for
from rows import Measurements, Row

APPS = 100
# MiB: short enough for a victim, and for no more than one.
TOTAL, AVAILABLE = 800, 150
# Seconds that the daemon gives a victim to show.
PAUSE = 1.1


class Pressure:
    """The kernel's pressure file, which cannot be brought to announce anything at will: played within the daemon by
    played_memory.so. A byte that is sent out of band is what makes it ready."""

    def __init__(self, root):
        self.folder = root / "played"
        self.folder.mkdir()
        proc = root / "proc"
        proc.mkdir()
        (proc / "meminfo").write_text(f"MemTotal: {TOTAL << 10} kB\nMemAvailable: {AVAILABLE << 10} kB\n")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.settimeout(30)
        self.listener.bind(str(self.folder / str(proc / "pressure/memory").replace("/", "+")))
        self.listener.listen()
        self.critical = None

    def environment(self):
        return {"LD_PRELOAD": str(BUILD / "played_memory.so"), "PLAYED_MEMORY": str(self.folder)}

    def wait_heard(self):
        while self.critical is None:
            connection, _ = self.listener.accept()
            connection.settimeout(30)
            if connection.recv(64).startswith(b"full"):
                self.critical = connection

    def say(self):
        """The nanosecond before it."""
        said = time.monotonic_ns()
        self.critical.send(b"!", socket.MSG_OOB)
        return said


class MemoryFigures(Measurements):
    """How long it takes until memory comes back."""

    def memory_critical(self):
        row = Row(f"memory critical -> victim dead, of {APPS} suspended apps", "ms", {"median": 20})
        work = Row("  processor time of the daemon for it", "ms")
        with Curfew(self.login, SLEEP, APPS, start="background") as curfew:
            pressure = Pressure(curfew.root)
            curfew.start(**pressure.environment())
            pressure.wait_heard()

            def rest():
                apps = curfew.apps()
                return apps if sum(app["taskState"] == "suspended" for app in apps) == APPS else None

            pids = [app["mainPID"] for app in wait_for(rest, f"{APPS} apps are suspended")]
            alive = select.poll()
            descriptors = [os.pidfd_open(pid) for pid in pids]
            for descriptor in descriptors:
                alive.register(descriptor, select.POLLIN)
            for _ in self.times(20, 10):
                time.sleep(PAUSE)  # not a wait: the rounds are to be apart
                before = curfew.ran()
                said = pressure.say()
                ended = alive.poll(10_000)
                row.curfewd.append((time.monotonic_ns() - said) / MS)
                work.curfewd.append((curfew.ran() - before) / MS)
                if len(ended) != 1:
                    raise Trouble(f"{len(ended)} apps were ended instead of one:\n{curfew.said()}")
                alive.unregister(ended[0][0])
            for descriptor in descriptors:
                os.close(descriptor)
        return [row, work]
