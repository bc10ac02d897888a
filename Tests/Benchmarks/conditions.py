"""The measurements of the board's conditions. Each makes rows of the table. The board is played by umockdev."""

import os
import socket
import sys
import time
from pathlib import Path

from board import BUILD, CURFEWD, MS, REPOSITORY, Curfew, Fifo, Floor, Trouble, cgroup_mount
from rows import Measurements, Row

sys.path.append(str(REPOSITORY / "Tests/BlackBoxTests"))
import hardware  # noqa: E402
from uevents import udev_message  # noqa: E402

LISTENER = [BUILD / "prompt", Fifo, "power"]
# Seconds in which nothing turns back: the shortest that can be configured.
DEBOUNCE = 0.1
EVENT = udev_message(
    "power_supply",
    {"ACTION": "change", "DEVPATH": "/devices/AC", "SUBSYSTEM": "power_supply", "SEQNUM": "4711"})


class Supplies:
    """A charger and a battery, and the sockets of those who hear of them."""

    def __init__(self):
        if reason := hardware.missing():
            raise Trouble(reason)
        self.played = hardware.Hardware()
        charger = self.played.add("power_supply", "AC", type="Mains", online=1)
        battery = self.played.add("power_supply", "BAT0", type="Battery", present=1, capacity=80, status="Full")
        self.online = f"{self.played.root}{charger}/online"
        self.capacity = f"{self.played.root}{battery}/capacity"
        self.files = [os.open(path, os.O_WRONLY | os.O_CLOEXEC) for path in (self.online, self.capacity)]
        self.sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sender.settimeout(10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sender.close()
        for file in self.files:
            os.close(file)
        self.played.close()

    def hearer(self):
        """Where curfewd listens."""
        found = list(Path(self.played.root).glob("event*"))
        if len(found) != 1:
            raise Trouble(f"{len(found)} sockets hear of devices; one was to")
        return str(found[0])

    def set(self, online, capacity):
        """capacity: of two digits, so that at no moment half of it can be read."""
        for file, value in zip(self.files, (online, capacity)):
            os.pwrite(file, b"%d" % value, 0)

    def announce(self, address):
        self.sender.sendto(EVENT, address)


class PlayedCurfew(Curfew):
    """On the board that is played."""

    def __init__(self, login, supplies, command):
        super().__init__(login, command, delegate="varlink")
        self.supplies = supplies
        (self.root / "etc/curfew/curfew.toml").write_text(f'[policy]\ndebounce = "{DEBOUNCE * 1000:.0f}ms"\n')

    def start(self):
        self.login.lines.drop()
        self.supplies.played.show_groups(str(cgroup_mount()))
        self.exec(
            [CURFEWD, "--root", self.root, "--cgroup", self.group_name],
            DBUS_SYSTEM_BUS_ADDRESS=self.login.address, **self.supplies.played.environment())
        return self


class ConditionFigures(Measurements):
    """What it costs to hear the board."""

    def condition(self):
        row = Row("udev event -> first handler call on the app", "ms", {"median": 3})
        with Supplies() as supplies, Floor() as floor, PlayedCurfew(self.login, supplies, LISTENER) as curfew:
            for samples, supervisor, address in self.sides(supplies, floor, curfew, row.floor, row.curfewd):
                supplies.set(1, 80)
                supplies.announce(address)
                for number in self.times(100, 20):
                    # What is heard turns back only after the debounce.
                    time.sleep(DEBOUNCE * 1.5)  # not a wait: the rounds are to be apart
                    supplies.set(number % 2, 80)
                    supervisor.fifo.drop()
                    begun = time.monotonic_ns()
                    supplies.announce(address)
                    samples.append((supervisor.fifo.word("power")[1] - begun) / MS)
        return [row]

    def condition_storm(self):
        seconds = 10
        share = Row("1,000 power events a second for 10 s: share of one processor", "%", {"max": 20})
        rate = Row("  events a second that there were", "", {"min": 950})
        lost = Row("  its last state was not told to the app", "", {"max": 0})
        memory = Row("  PSS that is left of it", "KiB", {"max": 64})
        for _ in self.times(3, 1):
            with Supplies() as supplies, Floor() as floor, PlayedCurfew(self.login, supplies, LISTENER) as curfew:
                sides = self.sides(
                    supplies, floor, curfew, (share.floor, rate.floor, lost.floor, memory.floor),
                    (share.curfewd, rate.curfewd, lost.curfewd, memory.curfewd))
                for (shares, rates, losses, kept), supervisor, address in sides:
                    # What the first events need is not to be measured.
                    self.storm(supplies, supervisor, address, 1)
                    before = supervisor.memory()["Pss"]
                    took, elapsed, is_lost = self.storm(supplies, supervisor, address, seconds)
                    shares.append(took / elapsed * 100)
                    rates.append(seconds * 1000 / elapsed)
                    losses.append(int(is_lost))
                    kept.append(supervisor.memory()["Pss"] - before)
        return [share, rate, lost, memory]

    def sides(self, supplies, floor, curfew, floors, figures):
        """The floor's figures, then curfewd's: the same events, each to its own."""
        address = str(floor.root / "events")
        floor.conditions(address, supplies.online, supplies.capacity, command=LISTENER).wait_said("ready")
        floor.fifo.word("start")
        yield floors, floor, address
        curfew.start().wait_running("active").wait_locked()
        curfew.fifo.word("start")
        yield figures, curfew, supplies.hearer()

    def storm(self, supplies, supervisor, address, seconds):
        """Seconds of a processor that it took, seconds that it lasted, and whether the last state was lost."""
        begun, ran_before = time.monotonic(), supervisor.ran()
        heard = None
        for number in range(seconds * 1000):
            pause = begun + number / 1000 - time.monotonic()
            if pause > 0:
                time.sleep(pause)  # not a wait: the pace
            supplies.set(number % 2, 40 + number % 40)
            supplies.announce(address)
            if number % 50 == 0:
                heard = self.newest(supervisor, heard)
        last = [0, 25]
        supplies.set(*last)
        supplies.announce(address)
        took, elapsed = (supervisor.ran() - ran_before) / 1e9, time.monotonic() - begun
        end = time.monotonic() + 3
        while heard is None or heard[2:] != last:
            if time.monotonic() > end:
                return took, elapsed, True
            heard = self.newest(supervisor, heard, 3)
        return took, elapsed, False

    @staticmethod
    def newest(supervisor, heard, seconds=0):
        """The latest that the app has said; waits so long for something new."""
        poll = supervisor.fifo.poll.poll
        while supervisor.fifo.pending or poll(seconds * 1000):
            heard = supervisor.fifo.word("power")
            seconds = 0
        return heard
