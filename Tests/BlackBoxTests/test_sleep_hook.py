"""The sleep hook (deploy/sleep-hook/curfew), called as systemd-sleep calls it, on a daemon of the test's own."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from board import CURFEW, REPOSITORY
from waiting import holds_for

HOOK = REPOSITORY / "deploy/sleep-hook/curfew"
LAUNCH = ["DidFinishLaunching", "DidBecomeActive"]
SLEEP = ["WillResignActive", "DidEnterBackground"]
WAKE = ["WillEnterForeground", "DidBecomeActive"]


@pytest.fixture
def hook(board):
    """Calls it, with the tool under test in front of its PATH; it says nothing and fails never. Returns its time."""
    folder = Path(board.root) / "bin"
    folder.mkdir()
    (folder / "curfew").symlink_to(CURFEW)
    text = HOOK.read_text().replace("PATH=/usr/local/sbin", f"PATH={folder}:/usr/local/sbin")
    assert str(folder) in text
    script = folder / "hook"
    script.write_text(text)
    script.chmod(0o755)

    def call(*arguments):
        begun = time.monotonic()
        outcome = subprocess.run(
            [script, *arguments], env={"CURFEW_ROOT": board.root}, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=60, check=False)
        assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, b"", b""), outcome
        return time.monotonic() - begun

    return call


def test_apps_are_walked_where_nobody_announced_the_sleep(board, hook):
    board.app("prompt")
    board.app("hanging", "hang:DidEnterBackground", allowances={"did_enter_background": "400ms"})
    board.start()
    board.wait_active("prompt", "hanging")
    hook("pre", "suspend")
    assert board.device_state()["sleepState"] == "asleep"
    assert board.is_frozen("prompt")
    assert board.wait_termination("hanging")["code"] == "0x8badf00d"
    hook("post", "suspend")
    board.wait_active("prompt", "hanging")
    assert board.calls("prompt") == LAUNCH + SLEEP + WAKE


def test_a_sleep_that_logind_announced_is_walked_once(board, hook):
    board.app("app")
    login = board.with_login()
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    login.sleep(True)
    login.wait_closed("sleep")
    board.wait_sleep("asleep")
    hook("pre", "suspend")
    assert board.device_state()["sleepId"] == 1
    hook("post", "suspend")
    board.wait_active("app")
    login.sleep(False)
    login.wait_held("sleep", 2)
    board.wait_active("app")
    assert board.calls("app") == LAUNCH + SLEEP + WAKE
    assert board.device_state()["sleepId"] == 1


def test_logind_s_end_counts_where_the_hook_s_own_is_lost(board, hook):
    """suspend-then-hibernate: the second sleep of the two is announced by the hook alone."""
    board.app("app")
    login = board.with_login()
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    login.sleep(True)
    login.wait_closed("sleep")
    hook("pre", "suspend-then-hibernate")
    hook("post", "suspend-then-hibernate")
    board.wait_active("app")
    hook("pre", "suspend-then-hibernate")
    assert board.is_frozen("app")
    login.sleep(False)
    board.wait_active("app")
    login.wait_held("sleep", 2)
    assert board.calls("app") == LAUNCH + SLEEP + WAKE + SLEEP + WAKE


def test_a_wake_without_a_sleep_changes_nothing(board, hook):
    board.app("app")
    board.start()
    board.wait_active("app")
    hook("post", "hibernate")
    hook("post")
    hook()
    hook("neither", "suspend")
    holds_for(0.2, lambda: board.calls("app") == LAUNCH, lambda: board.calls("app"))


def test_it_is_silent_where_there_is_no_daemon(board, hook):
    assert hook("pre", "suspend") < 5
    assert hook("post", "suspend") < 5
    # A socket that nobody serves any more.
    board.app("app")
    board.start()
    board.kill()
    assert hook("pre", "suspend") < 5


def test_a_daemon_that_does_not_answer_is_not_waited_for_long(board, hook):
    board.app("app")
    board.start()
    board.wait_active("app")
    os.kill(board.daemon.pid, signal.SIGSTOP)
    try:
        assert hook("pre", "suspend") < 15
        assert hook("post", "suspend") < 10
    finally:
        os.kill(board.daemon.pid, signal.SIGCONT)
    # Both words are read now, one after the other; whatever they come to, nobody is left asleep.
    board.wait_active("app")
