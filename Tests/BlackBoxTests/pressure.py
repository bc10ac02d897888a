"""Real memory pressure, made by programs/hog.c."""

import os
import subprocess
from pathlib import Path

from waiting import wait_until

SOURCE = Path(__file__).parent / "programs" / "hog.c"


def build(folder):
    """The hog's program, made in a folder."""
    program = Path(folder) / "hog"
    subprocess.run(
        ["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", str(SOURCE), "-o", str(program)],
        check=True, timeout=120)
    return str(program)


def limit_controller():
    """Where the old memory controller is mounted, which is to limit hogs; empty where it is not."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [Path(mount[1]) for mount in mounts if mount[2] == "cgroup" and "memory" in mount[3].split(",")]


def limit_groups():
    """What hogs have made of the old memory controller's groups."""
    return [group for point in limit_controller() for group in point.glob("curfew-hog-*")]


def remove_leftovers():
    """Removes the groups of hogs that were killed, as an app is, and could not do it themselves."""
    def gone(group):
        try:
            os.rmdir(group)
        except FileNotFoundError:
            pass
        except OSError:
            return False
        return True

    for group in limit_groups():
        if not os.path.exists(f"/proc/{group.name.rpartition('-')[2]}"):
            wait_until(lambda: gone(group), f"{group} is empty")


def offered(group):
    """Whether the kernel counts stalls of groups."""
    return (Path(group) / "memory.pressure").exists()
