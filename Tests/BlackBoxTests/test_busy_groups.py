"""The kernel has one lock for all control groups, which a user with groups of its own can keep: we do not wait."""

import contextlib
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from waiting import wait_until

STRACE = shutil.which("strace")
pytestmark = pytest.mark.skipif(STRACE is None, reason="needs strace")


@contextlib.contextmanager
def slow(board, call, seconds, path):
    """So long the loop, in whatever thread, stands in this system call, of this file."""
    loop = board.loop()
    command = [STRACE, "-qq", "-f", "-o", "/dev/null", "-P", str(path), "-e", f"trace={call}",
               "-e", f"inject={call}:delay_enter={seconds * 1000000}", "-p", str(loop)]
    with subprocess.Popen(command) as tracer:
        try:
            status = Path(f"/proc/{loop}/status")
            wait_until(lambda: f"TracerPid:\t{tracer.pid}" in status.read_text(), "the loop is traced")
            yield
        finally:
            tracer.terminate()


def asked_at_once(board):
    begun = time.monotonic()
    board.device_state()
    assert time.monotonic() - begun < 1


def test_a_sleep_does_not_wait_for_a_freeze_that_does_not_come_back(board):
    board.app("app")
    board.app("other")
    login = board.awake("app", "other")
    with slow(board, "write", 6, board.instance("app") / "cgroup.freeze"):
        signalled = login.sleep(True)
        wait_until(lambda: board.is_frozen("other"), "the other is frozen")
        asked_at_once(board)
        assert login.wait_closed("sleep")["t"] - signalled < 5
        login.sleep(False)
        board.wait_active("app", "other")
        login.wait_held("sleep", 2)
    # What has come late was taken back, after it.
    wait_until(lambda: not board.is_frozen("app"), board.log)
    assert not board.terminations("app")


def test_an_end_does_not_wait_for_a_kill_that_does_not_come_back(board):
    board.app("app", "child")
    board.start()
    board.wait_active("app")
    with slow(board, "write", 3, board.instance("app") / "cgroup.kill"):
        with board.wire() as wire:
            wire.send("io.curfew.Control.Terminate", {"app": "app", "force": True})
            asked_at_once(board)
            board.wait_app("app", taskState="notRunning")
        wait_until(lambda: not board.instances(), board.log)
    board.call("Launch", app="app", background=None)
    board.wait_active("app")


def test_a_start_does_not_wait_for_ever_for_its_group(board):
    board.app("app", launch="manual")
    board.app("other")
    board.start()
    board.wait_active("other")
    with slow(board, "mkdir", 3, board.apps_group / "app.2"):
        begun = time.monotonic()
        error = board.error("Launch", app="app", background=None)
        assert error.name.endswith("AppEnded"), error
        assert time.monotonic() - begun < 2
        # It is tried again.
        board.wait_active("app")
    assert len(board.instances()) == 2
