"""Real memory pressure, made by programs/hog.c."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from waiting import wait_until

SOURCE = Path(__file__).parent / "programs" / "hog.c"
UNAVAILABLE = 77


def build(folder):
    """The hog's program, made in a folder."""
    program = Path(folder) / "hog"
    subprocess.run(
        ["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", str(SOURCE), "-o", str(program)],
        check=True, timeout=120)
    return str(program)


class Hog:
    """Presses in a cgroup of its own, which it makes and removes, for as long as the with statement lasts.

    group: that cgroup, to be made inside of the one whose pressure is wanted. percent: how much of the time something
    is to stall there. seconds: when it ends in any case. Skips the test where no pressure can be made, with the reason.
    """

    def __init__(self, program, group, percent=100, seconds=60):
        self.group = Path(group)
        self.command = [program, "-g", str(group), "-p", str(percent), "-t", str(seconds)]
        self.process = None

    def __enter__(self):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        line = self.process.stdout.readline()
        if line != "pressing\n":
            status = self.process.wait(timeout=20)
            self.errors.seek(0)
            text = self.errors.read().strip()
            self.close()
            if status == UNAVAILABLE:
                pytest.skip(f"no memory pressure can be made here: {text}")
            raise AssertionError(f"hog: {status}: {text}")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.close()
        remove_leftovers()

    def close(self):
        self.process.stdout.close()
        self.errors.close()


def limit_controller():
    """Where the old memory controller is mounted, which is to limit hogs; empty where it is not."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [Path(mount[1]) for mount in mounts if mount[2] == "cgroup" and "memory" in mount[3].split(",")]


def limit_groups(hog="*"):
    """What hogs, or the one with this pid, have made of the old memory controller's groups."""
    return [group for point in limit_controller() for group in point.glob(f"curfew-hog-{hog}")]


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


def totals(group):
    """Microseconds of stalls so far: {"some": 17, "full": 5}. Not to be read more than a few times a second."""
    text = (Path(group) / "memory.pressure").read_text()
    return {kind: int(total) for kind, total in re.findall(r"^(some|full) .*total=(\d+)$", text, re.MULTILINE)}


def offered(group):
    """Whether the kernel counts stalls of groups."""
    return (Path(group) / "memory.pressure").exists()
