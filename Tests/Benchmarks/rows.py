"""A row of the table, and what all measurements share. curfewd and the floor take turns, so that both see the same
noise."""

import os
import select
import time
from dataclasses import dataclass, field

from board import Trouble


@dataclass
class Row:
    what: str
    unit: str
    # {"median": limit, "max": limit, "min": limit}: of the first two no more, of the last no less.
    reach: dict = field(default_factory=dict)
    curfewd: list = field(default_factory=list)
    floor: list = field(default_factory=list)
    # Measured by others at another time on another machine's day: never a part of a ratio.
    peers: str = ""
    # The floor of that run: what is to be reached was set beside it.
    peers_floor: float = 0

    def reached(self):
        return self.is_within(self.curfewd)

    def floor_reached(self):
        """Whether the machine let the least there can be reach it, just then."""
        return self.is_within(self.floor)

    def is_within(self, samples):
        if not self.reach or not samples:
            return None
        found = {name: statistic(samples, name) for name in self.reach}
        return all(found[name] >= limit if name == "min" else found[name] <= limit
                   for name, limit in self.reach.items())

    def ratio(self):
        """curfewd's median by the floor's beside it."""
        floor = statistic(self.floor, "median") if self.floor else 0
        return statistic(self.curfewd, "median") / floor if self.curfewd and floor > 0 else None

    def ratio_to_reach(self):
        """The same of what is to be reached: what a slower or busier machine can be asked for."""
        return self.reach["median"] / self.peers_floor if self.peers_floor else None


def statistic(samples, name):
    ordered = sorted(samples)
    if name == "median":
        middle = len(ordered) // 2
        return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return ordered[0] if name == "min" else ordered[-1]


class Measurements:
    """What makes rows; one method a measurement."""

    def __init__(self, login, quick, progress):
        self.login = login
        self.quick = quick
        self.progress = progress

    def times(self, full, quick):
        for number in range(rounds := quick if self.quick else full):
            self.progress(f"{number + 1} of {rounds}")
            yield number

    def sleep_once(self, relative=True):
        """One sleep and one wake: when the lock was closed, in nanoseconds, since the signal or absolute."""
        self.login.lines.drop()
        self.login.edge(True)
        # The lock may be closed before the signal's sender gets to say when it began.
        found = {}
        while len(found) < 2:
            event = self.login.any_event()
            if event["event"] == "edge" or event["event"] == "closed" and event["what"] == "sleep":
                found[event["event"]] = event["at"]
        self.login.edge(False)
        self.login.event("inhibit", what="sleep")
        return found["closed"] - found["edge"] if relative else found["closed"]


def ran(pid):
    """Nanoseconds a process has been on a processor."""
    with open(f"/proc/{pid}/schedstat") as file:
        return int(file.read().split()[0])


def wait_dead(pids):
    """The nanosecond at which all of these processes are dead."""
    descriptors = []
    try:
        descriptors += [os.pidfd_open(pid) for pid in pids]
        alive = set(descriptors)
        poll = select.poll()
        for descriptor in descriptors:
            poll.register(descriptor, select.POLLIN)
        while alive:
            ready = poll.poll(10_000)
            dead = time.monotonic_ns()
            if not ready:
                raise Trouble("the app lives on, ten seconds later")
            for descriptor, _ in ready:
                alive.discard(descriptor)
                poll.unregister(descriptor)
        return dead
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
