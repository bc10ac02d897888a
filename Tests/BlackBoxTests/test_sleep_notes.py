"""What is said of a sleep that did not come about, and what is left of one to a daemon that is started in it."""

import time
from pathlib import Path

import pytest
from waiting import wait_until

LAUNCH = ["DidFinishLaunching", "DidBecomeActive"]
SLEEP = ["WillResignActive", "DidEnterBackground"]
WAKE = ["WillEnterForeground", "DidBecomeActive"]


def awake(board):
    board.app("app")
    login = board.with_login()
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    return login


def suspends(board, **values):
    """What the kernel counts of its sleeps."""
    folder = Path(board.root) / "sys/power/suspend_stats"
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in values.items():
        (folder / name).write_text(f"{value}\n")


def note(board):
    return Path(board.root) / "run/curfew/announced"


def slept():
    """How long this machine has, in nanoseconds."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def test_a_sleep_that_the_kernel_refused(board):
    suspends(board, success=4, fail=1, last_failed_dev="", last_failed_errno=0, last_failed_step="")
    login = awake(board)
    login.sleep(True)
    login.wait_closed("sleep")
    suspends(board, fail=2, last_failed_dev="usb1", last_failed_errno=-16, last_failed_step="suspend")
    login.sleep(False)
    board.wait_active("app")
    board.wait_log(
        "warning: sleep 1: the board did not sleep; the kernel refused (device usb1, step suspend: Device or resource "
        "busy)")
    # The next is another one, of which the kernel was not asked.
    login.wait_held("sleep", 2)
    login.sleep(True)
    login.wait_closed("sleep", 2)
    login.sleep(False)
    board.wait_active("app")
    board.wait_log("warning: sleep 2: the board did not sleep CURFEW")
    assert board.calls("app") == LAUNCH + (SLEEP + WAKE) * 2


def test_a_sleep_that_only_the_kernel_knows_of(board):
    """On some boards CLOCK_MONOTONIC runs on in s2idle."""
    suspends(board, success=4, fail=1)
    login = awake(board)
    login.sleep(True)
    login.wait_closed("sleep")
    suspends(board, success=5)
    login.sleep(False)
    board.wait_active("app")
    board.wait_log("info: sleep 1: awake")
    assert "did not sleep" not in board.log()


@pytest.mark.parametrize("count", ["", "many", "-", None])
def test_a_kernel_that_does_not_count(board, count):
    if count is not None:
        suspends(board, success=count, fail=count)
    else:
        suspends(board)
    login = awake(board)
    login.sleep(True)
    login.wait_closed("sleep")
    login.sleep(False)
    board.wait_log("sleep 1: the board did not sleep CURFEW")
    board.wait_active("app")


def test_a_note_is_left_from_the_announcement_to_the_end(board):
    login = awake(board)
    assert not note(board).exists()
    login.sleep(True)
    login.wait_closed("sleep")
    assert abs(int(note(board).read_text()) - slept()) < 100_000_000
    login.sleep(False)
    board.wait_active("app")
    wait_until(lambda: not note(board).exists(), "it is gone with the sleep")


def test_a_successor_takes_the_note(board):
    login = awake(board)
    login.sleep(True)
    login.wait_closed("sleep")
    board.kill()
    login.set_sleeping(False)
    assert note(board).exists()
    board.start()
    board.wait_active("app")
    assert not note(board).exists()
    login.sleep(True)
    board.wait_sleep("asleep")
    login.sleep(False)
    board.wait_active("app")


@pytest.mark.parametrize("text", ["", "x\n", "12", "-5\n", "9" * 100_000, f"{2**62}\n"])
def test_a_note_that_is_none_is_ignored(board, text):
    note(board).parent.mkdir(parents=True)
    note(board).write_text(text)
    awake(board)
    assert not note(board).exists()
    assert not [line for line in board.log().splitlines() if "announced" in line and not line.startswith("debug")]


def test_a_note_that_is_no_file_is_ignored(board):
    (note(board) / "full").mkdir(parents=True)
    login = awake(board)
    login.sleep(True)
    login.wait_closed("sleep")
    login.sleep(False)
    board.wait_active("app")
    assert board.calls("app") == LAUNCH + SLEEP + WAKE
