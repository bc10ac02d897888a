"""The measurements of background tasks. Each makes rows of the table."""

import os
import signal
import time

from board import BUILD, MS, Curfew, Fifo, Floor
from rows import Measurements, Row, wait_dead

LOAD = [BUILD / "task_load", Fifo]
# Apps, and tasks that each holds.
APPS = 64
TASKS = 64
# Milliseconds of an app that overruns. Its expiration handler is called when a tenth is left.
BUDGET = 1000


class TaskFigures(Measurements):
    """What it costs to ask for time, to hold it, and to have it run out."""

    def task_round_trip(self):
        row = Row("BeginBackgroundTask from C, round trip", "us", {"median": 100})
        command = [*LOAD, "time", 200]
        with Floor() as floor, Curfew(self.login, command) as curfew:
            sides = [(row.floor, floor.tasks("--serve", 1, command)), (row.curfewd, curfew.start())]
            pids = [supervisor.fifo.word("start")[0] for _, supervisor in sides]
            for _ in self.times(20, 5):
                for (samples, supervisor), pid in zip(sides, pids):
                    os.kill(pid, signal.SIGUSR1)
                    samples += [supervisor.fifo.word("took")[0] / 1000 for _ in range(200)]
        return [row]

    def task_rate(self):
        row = Row("BeginBackgroundTask a second, each ended too, one processor", "", {"min": 10_000})
        work = Row("  processor time of the daemon for one and its end", "us", {"max": 100})
        # Apps enough to keep the daemon busy, on the other processors where there are any.
        apps, begins = 4, 2500
        daemon, *others = sorted(os.sched_getaffinity(0))
        command = [*LOAD, "load", begins]
        with Floor() as floor, Curfew(self.login, command, apps) as curfew:
            sides = [(floor.tasks("--serve", apps, command), row.floor, work.floor),
                     (curfew.start(), row.curfewd, work.curfewd)]
            pids = [[supervisor.fifo.word("start")[0] for _ in range(apps)] for supervisor, _, _ in sides]
            for supervisor, members in zip(sides, pids):
                for pid in supervisor[0].own():
                    os.sched_setaffinity(pid, {daemon})
                for pid in members:
                    os.sched_setaffinity(pid, others or {daemon})
            for _ in self.times(10, 3):
                for (supervisor, rates, times), members in zip(sides, pids):
                    before = supervisor.ran()
                    for pid in members:
                        os.kill(pid, signal.SIGUSR1)
                    spans = [supervisor.fifo.word("done")[1:] for _ in members]
                    seconds = (max(ended for _, ended in spans) - min(begun for begun, _ in spans)) / 1e9
                    rates.append(apps * begins / seconds)
                    times.append((supervisor.ran() - before) / 1000 / (apps * begins))
        return [row, work]

    def tasks_held(self):
        memory = Row(f"PSS that {APPS} apps with {TASKS} tasks each add", "MiB", {"max": 1})
        wakes = Row("wake-ups in 10 s while they are held in background", "", {"max": 0})
        processor = Row("  processor time meanwhile", "ms", {"max": 0})
        for _ in self.times(3, 1):
            with Curfew(self.login, [*LOAD, "hold", TASKS], APPS, delegate="varlink") as curfew:
                curfew.start().wait_running("active").wait_locked()
                before = curfew.memory()["Pss"]
                with curfew.wire() as wire:
                    for app in range(APPS):
                        wire.call("Background", app=f"app-{app:04}")
                for _ in range(APPS):
                    curfew.fifo.word("holds")
                curfew.wait_running("background")
                memory.curfewd.append((curfew.memory()["Pss"] - before) / 1024)
                switches, begun = curfew.switches(), curfew.ran()
                time.sleep(10)  # not a wait: the measurement
                wakes.curfewd.append(curfew.switches() - switches)
                processor.curfewd.append((curfew.ran() - begun) / MS)
        return [memory, wakes, processor]

    def task_expiration(self):
        late = Row("its time -> expiration handler runs; never early", "ms", {"min": 0, "max": 2})
        decided = Row("  of it until curfewd calls, as it tells the app", "ms")
        dead = Row("budget's end -> all processes dead; never early", "ms", {"min": 0, "max": 2})
        command = [*LOAD, "expire"]
        keys = {"launch": "manual", "delegate": "varlink", "background": {"task-budget": f"{BUDGET}ms"}}
        with Floor() as floor, Curfew(self.login, command, **keys) as curfew:
            floor.tasks("--expire", BUDGET, command).wait_said("ready")
            curfew.start().wait_locked()
            with curfew.wire() as wire:
                for _ in self.times(50, 8):
                    os.kill(floor.pid, signal.SIGUSR1)
                    watch_expiration(floor.fifo, late.floor, [], dead.floor)
                    wire.call("Activate", app="app-0000")
                    wire.call("Background", app="app-0000")
                    watch_expiration(curfew.fifo, late.curfewd, decided.curfewd, dead.curfewd)
        return [late, decided, dead]


def watch_expiration(fifo, late, decided, dead):
    """Milliseconds after their time at which an app heard that its time runs out, at which it was told so, and at which
    its last process was dead. Counted from when it began to say that it is in background, so that the true figures are
    no more; but for the second, which is the supervisor's own word."""
    main, _, child = fifo.word("start")
    _, replied, arrival, left = fifo.word("expire")
    late.append((arrival - replied) / MS - BUDGET * 0.9)
    decided.append(BUDGET * 0.1 - left / MS)
    dead.append((wait_dead((main, child)) - replied) / MS - BUDGET)
