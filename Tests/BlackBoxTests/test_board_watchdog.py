"""The board's watchdog where there is none that works."""

import os
import signal
from pathlib import Path

import hardware
import pytest
from memory import skip
from waiting import holds_for, wait_until

pytestmark = pytest.mark.skipif(hardware.missing() is not None, reason=hardware.missing() or "")


@pytest.fixture
def played(board):
    return board.with_hardware()


def node(played):
    """Where /dev/watchdog7 shows."""
    path = Path(played.root) / "dev/watchdog7"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def start(board, device, timeout, **essential):
    board.device(watchdog={"device": device, "timeout": timeout})
    board.app("camera", **essential)
    board.start()
    board.wait_active("camera")


def start_counting(board, played, *arguments):
    """One whose timer runs on in a sleep, so that it is stopped for that; its node, and logind."""
    device = played.add_watchdog(0)
    login = board.with_login()
    board.profile("test-board", '[watchdog]\nin-sleep = "counts"\nstoppable = true\n')
    board.device(profile="test-board", watchdog={"device": device, "timeout": "30s"})
    board.app("camera")
    board.start(*arguments)
    board.wait_active("camera")
    login.wait_held("sleep")
    return device, login


def wait_armed(board, timeout):
    wait_until(lambda: (board.device_state()["hardwareWatchdog"] or "").endswith(f", {timeout} s"), board.log)


def is_stopped(played, node):
    """By the magic close."""
    last = played.watchdog_events(node)[-1]
    return (last["event"], last.get("data")) == ("write", "V")


def kinds(played, node):
    return [event["event"] for event in played.watchdog_events(node)]


def test_a_watchdog_is_fed_three_times_in_its_timeout_and_stopped(board, played):
    device = played.add_watchdog(0)
    start(board, device, "3s")
    assert board.device_state()["hardwareWatchdog"] == "/dev/watchdog0 (Played Watchdog), 3 s"
    assert board.device_state()["hardwareWatchdogProblem"] is None
    wait_until(lambda: len(played.watchdog_events(device, "feed")) >= 3, lambda: played.watchdog_events(device))
    times = [event["t"] for event in played.watchdog_events(device, "feed")]
    # The first is part of opening it.
    gaps = [later - earlier for earlier, later in zip(times, times[1:])]
    assert all(0.95 < gap < 2 for gap in gaps), gaps
    assert board.stop() == 0
    assert is_stopped(played, device)
    assert "cannot be stopped" not in board.log()


def test_a_reload_tries_what_is_configured(board, played):
    device = played.add_watchdog(0, maximum=60)
    # The driver does not take this timeout.
    start(board, device, "3600s")
    assert board.device_state()["hardwareWatchdog"].endswith(", 60 s")

    def state(name, timeout="20s"):
        board.device(watchdog={"device": name, "timeout": timeout})
        board.call("Reload")
        return board.device_state()["hardwareWatchdog"]

    assert state(device).endswith(", 20 s")
    missing = "/dev/watchdog7: there is no such watchdog; is its driver loaded?"
    assert state("/dev/watchdog7") == f"none: {missing}"
    assert board.device_state()["hardwareWatchdogProblem"] == missing
    assert f"warning: no hardware watchdog: {missing}" in board.log()
    assert is_stopped(played, device)
    node(played).write_bytes(b"as it was")
    assert "/dev/watchdog7 is no watchdog" in state("/dev/watchdog7")
    assert "warning: no hardware watchdog: /dev/watchdog7 is no watchdog" in board.log()
    assert node(played).read_bytes() == b"as it was"
    opened = len(played.watchdog_events(device, "open"))
    assert state(device).endswith(", 20 s")
    assert len(played.watchdog_events(device, "open")) == opened + 1
    assert state("none") is None
    assert is_stopped(played, device)


def test_it_is_fed_only_while_essential_apps_live(board, played):
    device = played.add_watchdog(0)
    board.app("game", restart="never")
    start(board, device, "3s", essential=True, restart="never")
    board.wait_active("game")
    board.signal("game", signal.SIGKILL)
    board.wait_termination("game")
    number = len(played.watchdog_events(device, "feed"))
    wait_until(lambda: len(played.watchdog_events(device, "feed")) > number + 1, "it is fed without the game")
    board.signal("camera", signal.SIGKILL)
    board.wait_log("the hardware watchdog is not fed any more, the board resets in ")
    number = len(played.watchdog_events(device, "feed"))
    holds_for(1.5, lambda: len(played.watchdog_events(device, "feed")) == number, "it is not fed")
    # An operator was there in time.
    board.call("Launch", app="camera", background=None)
    wait_until(lambda: len(played.watchdog_events(device, "feed")) > number, "it is fed again")


def test_a_watchdog_that_vanishes(board, played):
    device = played.add_watchdog(0)
    start(board, device, "3s")
    played.call("vanish", device)
    board.wait_log(f"{device} is gone: the board is not watched until it is back")
    assert board.device_state()["hardwareWatchdog"].startswith(f"none: {device} is gone")
    assert board.describe("camera")["scenePhase"] == "active"


def test_a_reload_in_a_sleep_arms_it_at_its_end(board, played):
    device, login = start_counting(board, played)
    login.sleep(True)
    login.wait_closed("sleep")
    before = kinds(played, device)
    board.device(profile="test-board", watchdog={"device": device, "timeout": "20s"})
    assert board.call("Reload")["changed"] == ["curfew.toml"]
    assert kinds(played, device) == before
    login.sleep(False)
    wait_armed(board, 20)
    # The kernel's own word.
    wait_until(lambda: kinds(played, device)[-1] == "feed", lambda: kinds(played, device))


def test_one_that_comes_in_a_sleep_is_armed_as_the_reload_in_it_says(board, played):
    login = board.with_login()
    board.device(watchdog={"device": "/dev/watchdog0", "timeout": "30s"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    login.wait_held("sleep")
    login.sleep(True)
    board.wait_sleep("asleep")
    board.device(watchdog={"device": "/dev/watchdog0", "timeout": "20s"})
    board.call("Reload")
    played.add_watchdog(0)
    played.announce("/sys/devices/platform/watchdog0", "add")
    played.wait_heard()
    assert board.device_state()["sleepState"] == "asleep"
    login.sleep(False)
    wait_until(
        lambda: (board.device_state()["hardwareWatchdog"] or "").startswith("/dev/watchdog0"), board.device_state)
    assert board.device_state()["hardwareWatchdog"].endswith(", 20 s")


def test_one_that_cannot_be_armed_after_a_sleep_is_tried_again(board, played):
    device, login = start_counting(board, played, "--trial")
    login.sleep(True)
    login.wait_closed("sleep")
    hidden = Path(f"{played.root}{device}")
    hidden.rename(f"{hidden}.away")
    login.sleep(False)
    wait_until(lambda: board.device_state()["hardwareWatchdogProblem"], board.log)
    skip(board, 1)
    skip(board, 2)
    assert board.log().count(f"{device}: ") + board.log().count("no hardware watchdog") <= 2
    Path(f"{hidden}.away").rename(hidden)
    skip(board, 4)
    wait_armed(board, 30)
    assert board.device_state()["hardwareWatchdogProblem"] is None


def test_one_that_a_loop_after_a_dead_one_cannot_open_is_tried_again(board, played):
    """It runs: the board would be reset."""
    device, _ = start_counting(board, played)
    hidden, loop = Path(f"{played.root}{device}"), board.loop()
    hidden.rename(f"{hidden}.away")
    os.kill(loop, signal.SIGKILL)
    wait_until(lambda: board.answers() and board.loop() != loop, board.log)
    wait_until(lambda: board.device_state()["hardwareWatchdogProblem"], board.log)
    Path(f"{hidden}.away").rename(hidden)
    wait_armed(board, 30)


def test_it_rests_in_a_sleep_in_which_it_counts(board, played):
    device, login = start_counting(board, played)
    login.sleep(True)
    released = login.wait_closed("sleep")["t"]
    [stopped] = [event for event in played.watchdog_events(device, "write") if event["data"] == "V"]
    # Before the kernel may sleep.
    assert stopped["t"] < released
    opened = len(played.watchdog_events(device, "open"))
    login.sleep(False)
    wait_until(lambda: len(played.watchdog_events(device, "open")) > opened, "it is armed anew")
    wait_until(lambda: kinds(played, device)[-1] == "feed", lambda: kinds(played, device))
    assert board.device_state()["hardwareWatchdog"].endswith(", 30 s")


def test_nothing_is_written_to_what_may_be_anything(board, played):
    os.mkfifo(node(played))
    reader = os.open(node(played), os.O_RDONLY | os.O_NONBLOCK)
    start(board, "/dev/watchdog7", "30s")
    problem = board.device_state()["hardwareWatchdogProblem"]
    assert problem and board.device_state()["hardwareWatchdog"] == f"none: {problem}"
    assert "warning: no hardware watchdog: /dev/watchdog7 is no watchdog" in board.log()
    assert os.read(reader, 100) == b""
    os.close(reader)
