"""The kernel has one lock for all control groups, which a user with groups of its own can keep: we do not wait."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from loops import hold_loop, kill_loop
from waiting import wait_until

STRACE = shutil.which("strace")
pytestmark = pytest.mark.skipif(STRACE is None, reason="needs strace")


@contextlib.contextmanager
def slow(board, call, seconds, path, keeper=False):
    """So long the loop, in whatever thread, stands in this system call, of this file; or each after it."""
    loop = board.daemon.pid if keeper else board.loop()
    command = [STRACE, "-qq", "-f", "-o", "/dev/null", "-P", str(path), "-e", f"trace={call}",
               "-e", f"inject={call}:delay_enter={seconds * 1000000}", "-p", str(loop)]
    with subprocess.Popen(command) as tracer:
        try:
            status = Path(f"/proc/{loop}/status")
            wait_until(lambda: f"TracerPid:\t{tracer.pid}" in status.read_text(), "it is traced")
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


def test_the_next_loop_finds_its_groups_as_they_are(board):
    board.app("app")
    login = board.awake("app")
    with slow(board, "write", 10, board.apps_group / "cgroup.subtree_control", keeper=True):
        begun = time.monotonic()
        kill_loop(board)
        assert time.monotonic() - begun < 5
        login.sleep(True)
        login.wait_closed("sleep")
        assert time.monotonic() - begun < 5
        login.sleep(False)
        board.wait_active("app")


def test_a_loop_that_does_not_get_ready_holds_up_no_sleep(board):
    board.app("app")
    login = board.awake("app")
    # All that a loop does at its start comes after this.
    with slow(board, "mkdir", 10, board.run, keeper=True):
        loop = hold_loop(board)
        signalled = login.sleep(True)
        os.kill(loop, signal.SIGKILL)
        assert login.wait_closed("sleep")["t"] - signalled < 6
    wait_until(board.answers, board.log)
    login.sleep(False)
    board.wait_active("app")
