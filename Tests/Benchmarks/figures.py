"""The measurements of the lifecycle. Each makes rows of the table."""

import os
import time

from board import BUILD, CURFEWD, MS, SLEEP, Curfew, Fifo, Floor, Trouble
from rows import Measurements, Row, ran, wait_dead
from wire import Refused

BEACON = [BUILD / "beacon", Fifo]
PROMPT = [BUILD / "prompt", Fifo]
HANGING = [BUILD / "prompt", Fifo, "hang"]
# What the hanging app is given to answer DidEnterBackground, in milliseconds.
ALLOWANCE = 300


class Figures(Measurements):
    """What it costs to keep apps, to start them, to tell them and to end them."""

    # Memory and size.

    def size(self):
        return [Row("size of the binary", "KB", {"max": 1000}, [os.path.getsize(CURFEWD) / 1000],
                    [os.path.getsize(BUILD / "floor") / 1000])]

    def memory(self):
        rows = []
        goals = {1: 3.2, 10: 3.3, 100: 4.0, 1000: 9.0}
        peers = {1: "systemd 7.8, s6 0.7", 10: "systemd 7.8, s6 2.4", 100: "systemd 8.2, s6 14.2",
                 1000: "systemd 13.1, s6 127"}
        for count, goal in goals.items():
            pss = Row(f"PSS with {count} idle apps", "MiB", {"median": goal}, peers=peers[count])
            dirty = Row(f"private dirty with {count}", "MiB", {"median": 0.8} if count == 10 else {})
            for _ in self.times(3 if count < 1000 else 2, 1):
                with Floor() as floor:
                    memory = floor.start(count, SLEEP).wait_started().memory()
                    pss.floor.append(memory["Pss"] / 1024)
                    dirty.floor.append(memory["Private_Dirty"] / 1024)
                with Curfew(self.login, SLEEP, count) as curfew:
                    memory = curfew.start().wait_running().memory()
                    pss.curfewd.append(memory["Pss"] / 1024)
                    dirty.curfewd.append(memory["Private_Dirty"] / 1024)
            rows += [pss, dirty]
        return rows

    # Nothing to do.

    def idle(self):
        seconds = 10 if self.quick else 30
        row = Row(f"wake-ups in {seconds} s idle, 100 apps", "", {"max": 0}, peers="systemd 0, s6 0")
        processor = Row("processor time meanwhile", "ms", {"max": 0})
        with Floor() as floor, Curfew(self.login, SLEEP, 100) as curfew:
            floor.start(100, SLEEP).wait_started()
            curfew.start().wait_running().wait_locked()
            # What follows a start: the last connection is closed, logind has answered.
            time.sleep(2)  # not a wait: what a start leaves behind is not to be measured
            before = curfew.switches(), floor.switches(), curfew.ran(), floor.ran()
            time.sleep(seconds)  # not a wait: the measurement
            row.curfewd.append(curfew.switches() - before[0])
            row.floor.append(floor.switches() - before[1])
            processor.curfewd.append((curfew.ran() - before[2]) / MS)
            processor.floor.append((floor.ran() - before[3]) / MS)
        return [row, processor]

    # Starting.

    def start(self):
        rows = []
        for count, goal, peers, floor_then in ((100, 60, "runit 165, floor 29", 29),
                                               (1000, 700, "runit 1450, floor 377", 377)):
            row = Row(f"start of {count} apps", "ms", {"median": goal}, peers=peers, peers_floor=floor_then)
            work = Row("  processor time of it, apps' exec included", "ms")
            for _ in self.times(10 if count == 100 else 5, 3 if count == 100 else 1):
                with Floor() as floor:
                    self.start_all(floor.start(count, BEACON), count, row.floor, work.floor)
                with Curfew(self.login, BEACON, count) as curfew:
                    self.start_all(curfew.start(), count, row.curfewd, work.curfewd)
            rows += [row, work]
        return rows + [self.start_sandboxed(rows[-2])]

    def start_sandboxed(self, plain):
        """The same, with what each app gets if its file says nothing."""
        row = Row("  the same, each in a sandbox", "ms", {"median": 900})
        row.floor = plain.floor
        for _ in self.times(5, 1):
            with Curfew(self.login, BEACON, 1000, sandbox="default") as curfew:
                self.start_all(curfew.start(), 1000, row.curfewd, [])
        return row

    def start_all(self, supervisor, count, times, work):
        """From just before the supervisor is executed to the first instruction of the last app."""
        apps = [supervisor.fifo.word("start") for _ in range(count)]
        times.append((max(begun for _, begun in apps) - supervisor.started) / MS)
        # The last ones have yet to come to rest.
        time.sleep(0.2)  # not a wait: nothing tells when a process rests
        work.append((supervisor.ran() + sum(ran(pid) for pid, _ in apps)) / MS)

    # Dying, and coming back.

    def restart(self):
        row = Row("kill -9 -> new instance runs", "ms", {"median": 2.5},
                  peers="runit 3.0, systemd 12.5, floor 1.1", peers_floor=1.1)
        boxed = Row("  the same, in a sandbox", "ms", {"median": 3})
        always = {"restart": "always", "restart_delay": "0s", "restart_limit": 1_000_000}
        with Floor() as floor, Curfew(self.login, BEACON, **always) as curfew, \
                Curfew(self.login, BEACON, sandbox="default", **always) as other:
            apps = [(row.floor, floor.start(1, BEACON)), (row.curfewd, curfew.start()), (boxed.curfewd, other.start())]
            pids = [supervisor.fifo.word("start")[0] for _, supervisor in apps]
            for _ in self.times(100, 20):
                for index, (samples, supervisor) in enumerate(apps):
                    # The remains of the round before are gone by then.
                    time.sleep(0.03)  # not a wait: the rounds are to be apart
                    killed = time.monotonic_ns()
                    os.kill(pids[index], 9)
                    pids[index], begun = supervisor.fifo.word("start")[:2]
                    samples.append((begun - killed) / MS)
        boxed.floor = row.floor
        return [row, boxed]

    # Overrunning.

    def deadline(self):
        late = Row("handler deadline -> all processes dead", "ms", {"median": 1.5, "max": 10},
                   peers="systemd 242, s6 1.6")
        bound = Row("  counted from the reply before it: never early", "ms", {"min": 0})
        rounds = list(self.times(100, 10))
        with Floor() as floor:
            floor.delegates("--deadline", ALLOWANCE, len(rounds), command=HANGING)
            for _ in rounds:
                late.floor.append(watch_overrun(floor.fifo)[0])
        keys = {"launch": "manual", "delegate": "varlink", "allowances": {"did_enter_background": f"{ALLOWANCE}ms"}}
        with Curfew(self.login, HANGING, **keys) as curfew:
            curfew.start().wait_locked()
            with curfew.wire() as wire:
                for _ in rounds:
                    wire.call("Activate", app="app-0000")
                    wire.send("Background", app="app-0000")
                    seen = watch_overrun(curfew.fifo)
                    late.curfewd.append(seen[0])
                    bound.curfewd.append(seen[1])
                    expect_refusal(wire)
        return [late, bound]

    # Sleeping.

    def sleep(self):
        row = Row("PrepareForSleep -> lock closed, 100 prompt apps", "ms", {"median": 40}, peers="limit about 10")
        rounds = list(self.times(20, 5))
        with Floor() as floor:
            floor.delegates("--sleep", 100, len(rounds), command=PROMPT)
            for _ in range(600):
                samples = [int(line.split()[1]) / MS for line in floor.said().splitlines() if line.startswith("asleep")]
                if len(samples) == len(rounds):
                    break
                time.sleep(0.1)  # not a wait: bounded by the loop
            row.floor = samples
        with Curfew(self.login, PROMPT, 100, delegate="varlink") as curfew:
            curfew.start().wait_locked()
            for _ in rounds:
                curfew.wait_running("active")
                row.curfewd.append(self.sleep_once() / MS)
        return [row]

    def sleep_hanging(self):
        row = Row("the same, one hangs: its deadline -> lock closed", "ms", {"median": 5})
        hanging = {"delegate": "varlink", "allowances": {"did_enter_background": f"{ALLOWANCE}ms"}}
        with Curfew(self.login, PROMPT, 99, [(HANGING, hanging)], delegate="varlink") as curfew:
            curfew.start().wait_locked()
            for _ in self.times(20, 5):
                with curfew.wire() as wire:
                    wire.call("Activate", app="other-0")
                curfew.wait_running("active")
                closed = self.sleep_once(relative=False)
                call = curfew.fifo.word("call")
                row.curfewd.append((closed - call[1] - call[3]) / MS)
        return [row]


def watch_overrun(fifo):
    """Milliseconds from the deadline that the app was told until all its processes were dead: counted from the arrival
    of the call, so that the true figure is no less; and from the reply to the call before, so that it is no more."""
    _, _, child = fifo.word("start")
    main, arrival, replied, told = fifo.word("call")
    dead = wait_dead((main, child))
    return (dead - arrival - told) / MS, (dead - replied - told) / MS


def expect_refusal(wire):
    """Background ends with AppEnded."""
    try:
        wire.receive()
    except Refused:
        return
    raise Trouble("the app was ended, and Background says that it is in background")
