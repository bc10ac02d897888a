"""Control groups (v2) as the tests see them."""

import os
import signal
from pathlib import Path

from waiting import wait_until


def mount_point():
    """Where cgroup v2 is mounted; None where it is not, or cannot be written."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        if after.split()[0] == "cgroup2":
            point = before.split()[4]
            return point if os.access(point, os.W_OK) else None
    return None


def events(group):
    """{"populated": True, "frozen": False}; empty where the group is gone."""
    try:
        lines = (Path(group) / "cgroup.events").read_text().splitlines()
    except OSError:
        return {}
    return {name: value == "1" for name, value in (line.split() for line in lines)}


def processes(group):
    try:
        return [int(line) for line in (Path(group) / "cgroup.procs").read_text().split()]
    except OSError:
        return []


def instances(apps):
    """The groups of the instances that have processes, by name: {"camera.1": Path}."""
    try:
        groups = [path for path in Path(apps).iterdir() if path.is_dir()]
    except OSError:
        return {}
    return {path.name: path for path in groups if events(path).get("populated")}


def remove(base):
    """Ends whatever is left in a group of ours, and removes it with all below it."""
    base = Path(base)
    if not base.exists():
        return
    if events(base).get("populated"):
        (base / "cgroup.kill").write_text("1")
        wait_until(lambda: not events(base).get("populated"), f"{base} is empty")
    for folder, _, _ in os.walk(base, topdown=False):
        os.rmdir(folder)


def is_alive(pid):
    """Whether there is such a process, and no zombie."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in ("Z", "X")


def started_at(pid):
    """When a process was started, in ticks since boot; tells it from one that has its number later."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return None


def kill_if_same(pid, start):
    if start is not None and started_at(pid) == start:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
