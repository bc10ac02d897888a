#!/usr/bin/env python3
"""Plays the scenarios of the board tests; deploy/board-test calls it.

    run.py --image FOLDER --deb FOLDER --out FOLDER [--arch ARCH] [--only NAME]... [--list]
"""

import argparse
import shutil
import sys
import time
import traceback
from pathlib import Path

import payload
import scenarios
from board import Board
from machine import Machine, MachineError
from scenario import SCENARIOS, Skipped


class Outcome:
    def __init__(self, scenario, seconds, word, detail):
        self.scenario, self.seconds, self.word, self.detail = scenario, seconds, word, detail


class Run:
    def __init__(self, options):
        self.options, self.out = options, Path(options.out)
        self.machine, self.board, self.outcomes, self.boots = None, None, [], 0
        self.has_stood = False
        packages = payload.packages_in(options.deb, options.arch)
        if not packages:
            sys.exit(f"error: there is no package for {options.arch} in {options.deb}; make them with deploy/package")
        self.payload = payload.make(options.arch, packages, self.out)

    def boot(self):
        """A board with Curfew installed."""
        begun = time.monotonic()
        self.boots += 1
        self.close()
        self.machine = Machine(self.options.arch, self.options.image, self.payload, self.out / f"machine-{self.boots}")
        self.machine.boot().wait_boot()
        up = time.monotonic()
        self.board = Board(self.machine)
        self.board.install()
        print(f"{'':9}booted in {up - begun:.0f} s, installed in {time.monotonic() - up:.0f} s", flush=True)

    def close(self):
        if self.machine:
            self.machine.close()

    def play(self, scenario):
        """Again, but once in a run, where the machine has come to a stand as a whole: in one run of about thirty its
        kernel did not answer any more after it had been asked to sleep, and no program of a guest should stop QEMU."""
        outcome, stands = self.attempt(scenario)
        if stands and not self.has_stood:
            self.has_stood = True
            print(f"{'':9}the machine does not answer any more; it is played again, on a new one", flush=True)
            outcome, _ = self.attempt(scenario)
        self.outcomes.append(outcome)

    def attempt(self, scenario):
        """Its outcome, and whether the machine stands."""
        print(f"...      {scenario.name}: {scenario.asserts}", flush=True)
        begun, stands = time.monotonic(), False
        try:
            if self.board is None:
                self.boot()
            self.machine.forget_events()
            self.board.mark()
            word, detail = "pass", scenario.play(self.board) or ""
        except Skipped as reason:
            word, detail = "skipped", str(reason)
        except (MachineError, AssertionError, LookupError, ValueError) as error:
            word, detail = "FAIL", "".join(traceback.format_exception(error))
            stands = self.keep(scenario, detail)
        seconds = time.monotonic() - begun
        print(f"{word:7}  {scenario.name}: {seconds:.0f} s  {detail}", flush=True)
        return Outcome(scenario, seconds, word, detail), stands

    def keep(self, scenario, failure):
        """What it takes to find out why; and a new board if this one is not to be trusted any more. Returns whether the
        machine stands."""
        folder = self.out / scenario.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "failure").write_text(failure)
        if self.machine is None:
            return False
        shutil.copy(self.machine.folder / "serial.log", folder)
        reset = self.machine.find_event("RESET")
        try:
            if reset:
                self.machine.wait_boot()
            status, journal = self.machine.try_sh("journalctl --sync; journalctl --no-pager -o short-monotonic -n 3000")
            (folder / "journal").write_text(journal)
            (folder / "status").write_text(self.machine.try_sh("curfew status; curfew reports; systemctl --failed")[1])
            # One that was reset on its way has lost the payload, and whatever was not on its disk.
            if status == 0 and not reset:
                return False
            stands = False
        except MachineError as error:
            (folder / "journal").write_text(f"there is none: {error}\n")
            stands = self.machine.stands(folder / "processors")
        self.close()
        self.board = self.machine = None
        return stands

    def table(self):
        width = max(len(one.scenario.name) for one in self.outcomes)
        print(f"\n{'scenario':{width}}  seconds  outcome  what was asserted")
        for one in self.outcomes:
            print(f"{one.scenario.name:{width}}  {one.seconds:7.1f}  {one.word:7}  {one.scenario.asserts}")
        figures = [one for one in self.outcomes if one.detail and one.word != "FAIL"]
        print("\n" + "\n".join(f"{one.scenario.name}: {one.detail}" for one in figures))


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--arch", default="amd64")
    parser.add_argument("--image")
    parser.add_argument("--deb")
    parser.add_argument("--out")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def main():
    wanted = options()
    assert scenarios.MODULES
    played = [one for one in SCENARIOS if wanted.arch in one.architectures]
    if wanted.list:
        for one in played:
            print(f"{one.name:20}  {one.asserts}")
        return 0
    unknown = set(wanted.only) - {one.name for one in played}
    if unknown:
        sys.exit(f"error: there is no scenario {', '.join(sorted(unknown))}; see deploy/board-test --list")
    begun = time.monotonic()
    run = Run(wanted)
    try:
        for one in played:
            if not wanted.only or one.name in wanted.only:
                run.play(one)
    finally:
        run.close()
    run.table()
    failed = sum(one.word == "FAIL" for one in run.outcomes)
    print(f"\n{wanted.arch}, {time.monotonic() - begun:.0f} s, {run.boots} boots")
    print(f"{sum(one.word == 'pass' for one in run.outcomes)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
