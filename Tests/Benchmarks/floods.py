"""The measurements under floods: what apps, operators and strangers send without end. Each makes rows of the table."""

import contextlib
import os
import subprocess
import time
from pathlib import Path

from board import MS, Curfew
from figures import PROMPT
from rows import Measurements, Row

PROGRAM = ["/usr/bin/python3", str(Path(__file__).with_name("flood.py"))]
APPS = 10
# Seconds after a flood in which memory is to be given back.
REST = 10
RESTARTS = {"restart": "always", "restart_delay": "0s", "restart_limit": 1_000_000}


class Flood:
    """name: as the table has it; apps: how many apps send it, else one that is none; others: what they are beside."""

    def __init__(self, name, kind, apps=0, socket=None, monitors=0, **keys):
        self.name, self.kind, self.apps, self.socket = name, kind, apps, socket
        self.monitors, self.keys = monitors, keys

    def others(self):
        keys = {"launch": "manual", "delegate": "none", "restart": "never", **self.keys}
        return [([*PROGRAM, self.kind], keys)] * self.apps

    @contextlib.contextmanager
    def on(self, curfew):
        with contextlib.ExitStack() as stack:
            for _ in range(self.monitors):
                # Nothing that comes is read.
                stack.enter_context(curfew.wire()).send("Monitor", more=True)
            with curfew.wire() as wire:
                for number in range(self.apps):
                    wire.call("Launch", app=f"other-{number}", background=None)
            if self.socket:
                stack.enter_context(self.stranger(curfew))
            yield
            with curfew.wire() as wire:
                for number in range(self.apps):
                    wire.call("Terminate", app=f"other-{number}", force=True)

    @contextlib.contextmanager
    def stranger(self, curfew):
        place = str(curfew.root / "run/curfew" / f"io.curfew.{self.socket}")
        # As for the group of operators.
        os.chmod(place, 0o666)
        process = subprocess.Popen([*PROGRAM, self.kind, place], user=65534, group=65534, extra_groups=[],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            process.kill()
            process.wait()


FLOODS = [
    Flood("a stranger's messages of 1 MiB", "messages", socket="Application"),
    Flood("a stranger's bytes without end", "endless", socket="Application"),
    Flood("64 connections of an operator", "crowd", socket="Control"),
    Flood("MAINPID= 400 times a message, 3 apps", "notify", apps=3),
    Flood("STATUS= beside 60 deaf monitors", "status", apps=1, monitors=60),
    Flood("orphans without end, 3 apps", "orphans", apps=3),
    Flood("60 KiB of output and an end, 3 apps", "lines", apps=3, **RESTARTS),
]


class FloodFigures(Measurements):
    """What those who behave suffer from those who do not."""

    def floods(self):
        rows = []
        for flood in FLOODS:
            rows += self.flood(flood)
        return rows

    def flood(self, flood):
        asleep = Row(f"{APPS} prompt apps asleep: {flood.name}", "ms", {"max": 50})
        answer = Row("  root is answered", "ms", {"max": 100})
        memory = Row(f"  PSS {REST} s after, more than before", "MiB", {"max": 0.5})
        with Curfew(self.login, PROMPT, APPS, flood.others(), delegate="varlink") as curfew:
            curfew.start().wait_running("active").wait_locked()
            self.sleep_once()
            curfew.wait_running("active")
            before = curfew.memory()["Pss"]
            with flood.on(curfew):
                for _ in self.times(10, 5):
                    time.sleep(0.2)  # not a wait: the rounds are to be apart
                    curfew.wait_running("active")
                    asleep.curfewd.append(self.sleep_once() / MS)
                    answer.curfewd += [self.answer(curfew) for _ in range(5)]
            time.sleep(REST)  # not a wait: the measurement
            memory.curfewd.append((curfew.memory()["Pss"] - before) / 1024)
        return [asleep, answer, memory]

    @staticmethod
    def answer(curfew):
        begun = time.monotonic_ns()
        with curfew.wire() as wire:
            wire.call("DescribeDevice")
        return (time.monotonic_ns() - begun) / MS
