"""That the pressure which other tests rely on is real, and leaves nothing behind."""

import os
import select
import signal
import subprocess
import time
from pathlib import Path

import cgroups
import pressure
import pytest
from pressure import Hog


@pytest.fixture(scope="module")
def hog(tmp_path_factory):
    return pressure.build(tmp_path_factory.mktemp("hog"))


@pytest.fixture
def group():
    made = Path(cgroups.mount_point()) / f"curfew-test-pressure-{os.getpid()}"
    made.mkdir()
    if not pressure.offered(made):
        made.rmdir()
        pytest.skip("the kernel counts no stalls of groups (PSI)")
    yield made
    cgroups.remove(made)


class Trigger:
    def __init__(self, group, text):
        self.file = os.open(f"{group}/memory.pressure", os.O_RDWR | os.O_NONBLOCK)
        os.write(self.file, text.encode() + b"\0")
        self.poll = select.poll()
        self.poll.register(self.file, select.POLLPRI)

    def fires(self, within):
        return bool(self.poll.poll(within * 1000))

    def close(self):
        os.close(self.file)


def test_some_and_full(hog, group):
    triggers = [Trigger(group, f"{kind} 200000 2000000") for kind in ("some", "full")]
    assert not any(trigger.fires(0) for trigger in triggers)
    with Hog(hog, group / "hog") as running:
        begin = time.monotonic()
        assert all(trigger.fires(20) for trigger in triggers)
        print(f"after {time.monotonic() - begin:.2f} s")
        assert len(pressure.limit_groups(running.process.pid)) == len(pressure.limit_controller())
    for trigger in triggers:
        trigger.close()
    assert not (group / "hog").exists()
    assert not pressure.limit_groups(running.process.pid)


def test_low_pressure_is_less_than_high(hog, group):
    """Twice the same time: a tenth of it, and as much as can be had."""
    stalls = []
    for percent in (10, 100):
        before = pressure.totals(group)["some"]
        with Hog(hog, group / "hog", percent, seconds=3) as running:
            running.process.wait(timeout=20)
        stalls.append(pressure.totals(group)["some"] - before)
    assert 50_000 < stalls[0] < stalls[1] / 2, stalls


def test_a_hog_that_is_killed_leaves_nothing(hog, group):
    with Hog(hog, group / "hog") as running:
        running.process.send_signal(signal.SIGKILL)
        running.process.wait(timeout=20)
    assert not pressure.limit_groups(running.process.pid)


def test_no_hog_where_nothing_limits_it(hog, group):
    """In a mount namespace without the old controllers."""
    script = 'umount -a -t cgroup && exec "$@"'
    ended = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", hog, "-g", str(group / "hog")],
        capture_output=True, text=True, timeout=20, check=False)
    assert ended.returncode == pressure.UNAVAILABLE, ended.stderr
    assert "the memory controller of cgroup v1 is not mounted" in ended.stderr
    assert not (group / "hog").exists()
