"""The sleep hook (deploy/sleep-hook/curfew), called as systemd-sleep calls it, on a daemon of the test's own."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from board import CURFEW, REPOSITORY

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
    call.script = script
    call.told = lambda: [line.split()[2] for line in call.lines()]
    return call


def is_marked(board):
    return (Path(board.root) / "run/curfew/asleep").exists()


def test_apps_are_walked_where_the_sleep_was_not_announced(board, hook):
    board.app("prompt")
    board.app("hanging", "hang:DidEnterBackground", allowances={"did_enter_background": "400ms"})
    board.start()
    board.wait_active("prompt", "hanging")
    # A wake without a sleep, and what is neither, change nothing.
    for arguments in (("post", "hibernate"), ("post",), (), ("neither", "suspend")):
        hook(*arguments)
    hook("pre", "suspend")
    state = board.device_state()
    assert (state["sleepState"], state["sleepId"]) == ("asleep", 1)
    assert board.is_frozen("prompt")
    assert board.wait_termination("hanging")["code"] == "0x8badf00d"
    hook("post", "suspend")
    board.wait_active("prompt", "hanging")
    assert board.calls("prompt") == LAUNCH + SLEEP + WAKE


def test_a_sleep_that_logind_announced_is_walked_once(board, hook):
    """And nothing is told of it: the tool is 16 MB, and the board waits."""
    board.app("app")
    login = board.awake("app")
    assert not is_marked(board)
    for number, hook_is_first in ((1, True), (2, False)):
        login.sleep(True)
        login.wait_closed("sleep", number)
        # The hook may run as soon as the lock is closed.
        assert is_marked(board)
        hook("pre", "suspend")
        assert board.device_state()["sleepId"] == number
        assert board.is_frozen("app")
        if hook_is_first:
            hook("post", "suspend")
        login.sleep(False)
        login.wait_held("sleep", number + 1)
        board.wait_active("app")
        assert not is_marked(board)
        if not hook_is_first:
            hook("post", "suspend")
    assert hook.told() == []
    # The next one is another one, which logind does not announce.
    hook("pre", "hibernate")
    assert is_marked(board)
    hook("post", "hibernate")
    board.wait_active("app")
    assert not is_marked(board)
    assert hook.told() == ["sleep", "wake"]
    assert board.calls("app") == LAUNCH + (SLEEP + WAKE) * 3


def test_a_daemon_that_ends_in_a_sleep_leaves_no_mark_to_the_next(board, hook):
    board.app("app")
    login = board.awake("app")
    login.sleep(True)
    login.wait_closed("sleep")
    assert is_marked(board)
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
    # One that has the time takes its mark with it.
    login.wait_held("sleep", 2)
    login.sleep(True)
    login.wait_closed("sleep", 2)
    assert is_marked(board)
    assert board.stop() == 0
    assert not is_marked(board)


@pytest.mark.parametrize("names, told", [
    (["asleep", "untold", "announced"], []),
    (["asleep.new", "asleep.spare", "announced.new", "announced.spare", "announced-by-hook"], ["sleep", "wake"]),
])
def test_a_mark_that_cannot_be_made_costs_time_only(board, hook, names, told):
    for name in names:
        (board.run / name / "full").mkdir(parents=True)
    board.app("app")
    login = board.awake("app")
    login.sleep(True)
    login.wait_closed("sleep")
    hook("pre", "suspend")
    assert board.is_frozen("app")
    hook("post", "suspend")
    login.sleep(False)
    board.wait_active("app")
    assert board.calls("app") == LAUNCH + SLEEP + WAKE
    assert hook.told() == told
    assert all((board.run / name / "full").is_dir() for name in names)
    if "asleep.new" in names:
        # There was none to take away: that it was not made is said once.
        assert board.log().count("the sleep hook is not told of this sleep") == 1, board.log()


def test_logind_s_end_counts_where_the_hook_s_own_is_lost(board, hook):
    """suspend-then-hibernate: the second sleep of the two is announced by the hook alone."""
    board.app("app")
    login = board.awake("app")
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
    # Without a beginning it is about none that is known.
    hook("post", "suspend")
    assert about(hook) == ["1", "2", ""]
    # One that comes late ends no newer sleep.
    hook("pre", "suspend")
    board.call("PrepareForSleep", start=False, kind="suspend", sleepId=3)
    board.wait_active("app")
    board.call("PrepareForSleep", start=True, kind=None)
    # A logical one stands for no real one.
    assert not is_marked(board)
    hook("post", "suspend")
    assert about(hook) == ["1", "2", "", "3"]
    state = board.device_state()
    assert (state["sleepState"], state["sleepId"]) == ("asleep", 4)
    assert board.is_frozen("app")
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_active("app")


def test_a_number_that_is_none(board, hook):
    board.app("app")
    board.start()
    board.wait_active("app")
    for text in ("", "x", "-1", "1 2", "1;exit 1", "$(exit 1)"):
        hook("pre", "suspend")
        assert board.is_frozen("app")
        (board.run / "announced-by-hook").write_text(text)
        hook("post", "suspend")
        assert about(hook)[-1] == "", text
        board.wait_active("app")
    hook("pre", "suspend")
    (board.run / "announced-by-hook").write_text("9" * 400)
    hook("post", "suspend")
    assert about(hook)[-1] == "9" * 400
    # The clocks would have to tell of this end.
    assert board.is_frozen("app")
    board.call("PrepareForSleep", start=False, kind="suspend")
    board.wait_active("app")


def test_a_daemon_that_does_not_answer_is_not_waited_for_long(board, hook):
    text = hook.script.read_text()
    for limit, shorter in (("limit=8", "limit=2"), ("limit=3", "limit=1")):
        assert limit in text
        text = text.replace(limit, shorter)
    hook.script.write_text(text)
    board.app("app")
    board.start()
    board.wait_active("app")
    os.kill(board.loop(), signal.SIGSTOP)
    try:
        # What is no number counts for nothing.
        for text in ("", "1 2\n"):
            (board.run / "hook-limit").write_text(text)
            assert hook("pre", "suspend") < 7, text
        # And how long "post" waits is no matter of the apps'.
        (board.run / "hook-limit").write_text("20\n")
        assert hook("post", "suspend") < 7
    finally:
        os.kill(board.loop(), signal.SIGCONT)
    # Both words are read now, in either order: no app is left asleep.
    board.wait_log("a sleep is not prepared for: the client that announced it has hung up")
    board.wait_active("app")
    assert board.calls("app") == LAUNCH


def test_apps_that_are_given_longer_are_waited_for(board, hook):
    board.device(sleep={"allowance_without_logind": "20s"})
    board.app("slow", "hang:DidEnterBackground", allowances={"did_enter_background": "9s"})
    board.start()
    board.wait_active("slow")
    assert (board.run / "hook-limit").read_text() == "23\n"
    # No more than it takes.
    assert 8 < hook("pre", "suspend") < 20
    assert board.device_state()["sleepState"] == "asleep"
    assert hook.told() == ["sleep"] and is_marked(board)
    board.device(sleep={"allowance_without_logind": "5s"})
    board.call("Reload")
    assert not (board.run / "hook-limit").exists()
