"""Measures curfewd as it is shipped and prints one table; deploy/bench builds what it needs and runs it."""

import argparse
import json
import os
import platform
import signal
import sys
import time
import traceback
from pathlib import Path

from board import Floor, Login, Trouble, temporary_folder
from conditions import ConditionFigures
from figures import BEACON, MS, Figures
from floods import FloodFigures
from memory import MemoryFigures
from rows import statistic
from tasks import TaskFigures

# Seconds for one measurement.
LIMIT = 300
NAMES = ["size", "memory", "idle", "start", "restart", "deadline", "sleep", "sleep-hanging",
         "task-round-trip", "task-rate", "tasks-held", "task-expiration", "condition", "condition-storm",
         "memory-critical", "floods"]


class AllFigures(Figures, TaskFigures, ConditionFigures, MemoryFigures, FloodFigures):
    """Those that NAMES has, with _ for -."""


def arguments():
    parser = argparse.ArgumentParser(prog="deploy/bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--only", metavar="NAME", action="append", choices=NAMES,
                        help="one measurement, can be repeated: " + ", ".join(NAMES))
    parser.add_argument("--json", metavar="FILE", help="all samples, for programs")
    return parser.parse_args()


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def noise():
    """What the machine gives to the same C program at different times."""
    starts, returns = [], []
    for _ in range(3):
        with Floor() as floor:
            starts.append(floor.start(100, BEACON).last_start(100) / MS)
    with Floor() as floor:
        pid = floor.start(1, BEACON).fifo.word("start")[0]
        for _ in range(30):
            time.sleep(0.03)  # not a wait: the rounds are to be apart
            killed = time.monotonic_ns()
            os.kill(pid, signal.SIGKILL)
            pid, begun = floor.fifo.word("start")[:2]
            returns.append((begun - killed) / MS)
    return {"start of 100": starts, "kill -9 -> new instance": returns, "load": os.getloadavg()}


def too_late(_signal, _frame):
    raise Trouble(f"not done within {LIMIT} s")


def interrupted(_signal, _frame):
    raise KeyboardInterrupt


def measure(figures, names, rows, failures):
    for name in names:
        figures.progress = lambda text, name=name: progress(f"{name}: {text}")
        figures.progress("…")
        signal.alarm(LIMIT)
        try:
            rows += getattr(figures, name.replace("-", "_"))()
        except Exception as error:
            if not isinstance(error, (Trouble, OSError)):
                traceback.print_exc()
            failures.append(f"{name}: {error}")
        finally:
            signal.alarm(0)
            progress("")


def number(value, unit):
    if unit in ("", "KB"):
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"


def spread(samples, unit):
    if not samples:
        return "-"
    parts = [number(statistic(samples, name), unit) for name in ("min", "median", "max")]
    if len(samples) == 1:
        return parts[1]
    return " / ".join(parts) + f"  ({len(samples)})"


def to_reach(row):
    words = {"median": "{} median", "max": "{} max", "min": "{} or more"}
    return ", ".join(words[name].format(f"{limit:g}") for name, limit in row.reach.items()) or "-"


def ratio(row):
    if row.ratio() is None:
        return "-"
    wanted = row.ratio_to_reach()
    return f"{row.ratio():.1f}" + (f" ({wanted:.1f})" if wanted else "")


def reached(row):
    if row.reached() is not False:
        return {True: "yes", None: "-"}[row.reached()]
    wanted, found = row.ratio_to_reach(), row.ratio()
    if wanted and found and found <= wanted:
        return "NO, by ratio yes"
    return "NO, nor the floor" if row.floor_reached() is False else "NO"


def table(rows):
    lines = [("what", "to reach", "curfewd min / median / max (n)", "floor min / median / max (n)", "ratio (to reach)",
              "reached",
              "another run")]
    for row in rows:
        what = f"{row.what}, {row.unit}" if row.unit else row.what
        lines.append((what, to_reach(row), spread(row.curfewd, row.unit), spread(row.floor, row.unit), ratio(row),
                      reached(row), row.peers or "-"))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for index, line in enumerate(lines):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        if index == 0:
            print("  ".join("-" * width for width in widths))


def machine():
    memory = next(line.split()[1] for line in open("/proc/meminfo") if line.startswith("MemTotal"))
    return {
        "kernel": platform.release(), "architecture": platform.machine(), "processors": os.cpu_count(),
        "memory MiB": int(memory) // 1024, "run in": temporary_folder(),
    }


def report(rows, failures, facts, before, after):
    print()
    table(rows)
    print()
    print("noise: the floor before and after all else (min / median / max, ms)")
    for name in ("start of 100", "kill -9 -> new instance"):
        print(f"  {name}: {spread(before[name], 'ms')}   then   {spread(after[name], 'ms')}")
    loads = [" ".join(f"{value:.2f}" for value in run["load"]) for run in (before, after)]
    print(f"  load average: {loads[0]}   then   {loads[1]}")
    print("  " + ", ".join(f"{name} {value}" for name, value in facts.items()))
    print("start: from just before the supervisor is executed to the first instruction of the last app")
    print("another run: measured once at another time. The ratio to reach: what to reach, by the floor of then;")
    print("  on a busy machine the times say little, the ratios and the processor times more")
    for failure in failures:
        print(f"failed: {failure}")


def main():
    options = arguments()
    signal.signal(signal.SIGALRM, too_late)
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, interrupted)
    rows, failures = [], []
    login = None
    try:
        progress("noise")
        before = noise()
        login = Login()
        measure(AllFigures(login, options.quick, progress), options.only or NAMES, rows, failures)
        progress("noise")
        after = noise()
    except KeyboardInterrupt:
        print("interrupted; everything that was started is ended", file=sys.stderr)
        return 130
    except Trouble as trouble:
        print(f"deploy/bench: {trouble}", file=sys.stderr)
        return 1
    finally:
        if login:
            login.close()
        progress("")
    facts = machine()
    report(rows, failures, facts, before, after)
    if options.json:
        result = {"machine": facts, "noise": [before, after], "failures": failures,
                  "rows": [{**vars(row), "reached": row.reached()} for row in rows]}
        Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    return 1 if failures else 0


sys.exit(main())
