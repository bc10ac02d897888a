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
    told = Path(board.root) / "told"
    (folder / "curfew").write_text(f'#!/bin/sh\necho "$*" >>{told}\nexec {CURFEW} "$@"\n')
    (folder / "curfew").chmod(0o755)
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

    call.lines = lambda: (told.read_text(encoding="utf-8") if told.exists() else "").splitlines()
    call.told = lambda: [line.split()[2] for line in call.lines()]
    return call


def awake(board):
    """A board with an app, and a logind whose lock is held; the login manager."""
    board.app("app")
    login = board.with_login()
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    return login


def is_marked(board):
    return (Path(board.root) / "run/curfew/asleep").exists()


def test_apps_are_walked_where_the_sleep_was_not_announced(board, hook):
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
    """And nothing is told of it: the tool is 16 MB, and the board waits."""
    login = awake(board)
    assert not is_marked(board)
    for number in range(1, 3):
        login.sleep(True)
        login.wait_closed("sleep", number)
        # The hook may run as soon as the lock is closed.
        assert is_marked(board)
        hook("pre", "suspend")
        assert board.device_state()["sleepId"] == number
        assert board.is_frozen("app")
        hook("post", "suspend")
        login.sleep(False)
        login.wait_held("sleep", number + 1)
        board.wait_active("app")
        assert not is_marked(board)
    assert board.calls("app") == LAUNCH + (SLEEP + WAKE) * 2
    assert hook.told() == []


def test_its_end_is_not_told_when_it_was_seen_before(board, hook):
    login = awake(board)
    login.sleep(True)
    login.wait_closed("sleep")
    hook("pre", "suspend")
    login.sleep(False)
    board.wait_active("app")
    hook("post", "suspend")
    assert hook.told() == []
    # The next one is another one.
    hook("pre", "hibernate")
    hook("post", "hibernate")
    board.wait_active("app")
    assert hook.told() == ["sleep", "wake"]
    assert board.calls("app") == LAUNCH + (SLEEP + WAKE) * 2


def test_a_sleep_of_an_operator_s_does_not_stand_for_a_real_one(board, hook):
    """Only a wake source ends it, but of a real one the clocks tell too."""
    board.app("app")
    board.start()
    board.wait_active("app")
    board.call("PrepareForSleep", start=True, kind=None)
    board.wait_sleep("asleep")
    assert not is_marked(board)
    hook("pre", "suspend")
    assert is_marked(board)
    hook("post", "suspend")
    board.wait_active("app")
    assert hook.told() == ["sleep", "wake"]
    assert not is_marked(board)


@pytest.mark.parametrize("leaves", [False, True])
def test_a_daemon_that_ends_in_a_sleep_leaves_no_mark_to_the_next(board, hook, leaves):
    login = awake(board)
    login.sleep(True)
    login.wait_closed("sleep")
    assert is_marked(board)
    if leaves:
        assert board.stop() == 0
        assert not is_marked(board)
    else:
        board.kill()
    login.set_sleeping(False)
    board.start()
    board.wait_active("app")
    assert not is_marked(board)
    hook("pre", "suspend")
    assert hook.told() == ["sleep"]
    assert board.is_frozen("app")
    hook("post", "suspend")
    board.wait_active("app")


@pytest.mark.parametrize("name", ["asleep", "asleep.new", "untold", "announced", "announced.new", "announced-by-hook"])
def test_a_mark_that_cannot_be_made_costs_time_only(board, hook, name):
    login = awake(board)
    (Path(board.root) / "run/curfew" / name / "full").mkdir(parents=True)
    login.sleep(True)
    login.wait_closed("sleep")
    hook("pre", "suspend")
    assert board.is_frozen("app")
    hook("post", "suspend")
    login.sleep(False)
    board.wait_active("app")
    assert board.calls("app") == LAUNCH + SLEEP + WAKE


def test_logind_s_end_counts_where_the_hook_s_own_is_lost(board, hook):
    """suspend-then-hibernate: the second sleep of the two is announced by the hook alone."""
    login = awake(board)
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
    # A socket whose server is gone.
    board.app("app")
    board.start()
    board.kill()
    assert hook("pre", "suspend") < 5


def about(hook):
    """The sleeps that ends were about, "" where that was not said."""
    ends = [line.split() for line in hook.lines() if line.split()[2] == "wake"]
    return [words[words.index("--sleep") + 1] if "--sleep" in words else "" for words in ends]


def test_an_end_is_about_its_own_beginning(board, hook):
    board.app("app")
    board.start()
    board.wait_active("app")
    for number in (1, 2):
        hook("pre", "suspend")
        assert board.device_state()["sleepId"] == number
        hook("post", "suspend")
        board.wait_active("app")
    assert about(hook) == ["1", "2"]
    # Without a beginning it is about none that is known.
    hook("post", "suspend")
    assert about(hook) == ["1", "2", ""]


def test_a_late_end_ends_no_newer_sleep(board, hook):
    board.app("app")
    board.start()
    board.wait_active("app")
    hook("pre", "suspend")
    board.call("PrepareForSleep", start=False, kind="suspend", sleepId=1)
    board.wait_active("app")
    board.call("PrepareForSleep", start=True, kind=None)
    board.wait_sleep("asleep")
    assert board.device_state()["sleepId"] == 2
    hook("post", "suspend")
    assert about(hook) == ["1"]
    assert board.device_state()["sleepState"] == "asleep"
    assert board.is_frozen("app")
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_active("app")


@pytest.mark.parametrize("text", ["", "x", "-1", "1 2", "1;exit 1", "$(exit 1)", "9" * 400])
def test_a_number_that_is_none(board, hook, text):
    board.app("app")
    board.start()
    board.wait_active("app")
    hook("pre", "suspend")
    (Path(board.root) / "run/curfew/announced-by-hook").write_text(text)
    hook("post", "suspend")
    # At worst the clocks have to tell of the end.
    assert about(hook) in ([""], ["9" * 400])
    if about(hook) == [""]:
        board.wait_active("app")


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
    # Both words are read now, in either order: no app is left asleep.
    board.wait_log("a sleep is not prepared for: the client that announced it has hung up")
    board.wait_active("app")
    assert board.calls("app") == LAUNCH
