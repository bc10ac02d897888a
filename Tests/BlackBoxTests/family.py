"""The daemon's own processes: its keeper, which is the main one, and the loop; what a process has open."""

import contextlib
import os
import resource
import select
from pathlib import Path

from waiting import PATIENCE

# It is gone, or ends while it is read.
GONE = (FileNotFoundError, ProcessLookupError)
# What the tests start leaves no dumps.
CORE_LIMIT = resource.getrlimit(resource.RLIMIT_CORE)
resource.setrlimit(resource.RLIMIT_CORE, (0, CORE_LIMIT[1]))


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_loop(pid, keeper):
    """Not a child that is about to become a program: that heads a session."""
    session = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[3]
    return session != str(pid) and os.readlink(f"/proc/{pid}/exe") == os.readlink(f"/proc/{keeper}/exe")


def loops(keeper):
    found = []
    with contextlib.suppress(*GONE):  # the keeper has ended
        for pid in children(keeper):
            with contextlib.suppress(*GONE):  # gone meanwhile
                if is_loop(pid, keeper):
                    found.append(pid)
    return found


def descriptors(pid):
    """What its descriptors are: "socket:[1234]", a path."""
    found = []
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(*GONE):  # closed meanwhile
            found.append(os.readlink(f"/proc/{pid}/fd/{number}"))
    return found


@contextlib.contextmanager
def ends(pids):
    """Returns when these processes have ended."""
    descriptors = [os.pidfd_open(pid) for pid in pids]
    yield
    for descriptor in descriptors:
        assert select.select([descriptor], [], [], PATIENCE)[0], "it does not end"
        os.close(descriptor)


def state(pid):
    """As /proc has it; X where it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except GONE:
        return "X"
