"""The board's watchdog where there is none that works, and how the boot before ended."""

import os
import signal
from pathlib import Path

import hardware
import pytest
from waiting import holds_for, wait_until

pytestmark = pytest.mark.skipif(hardware.missing() is not None, reason=hardware.missing() or "")
BOOTS = [f"{number}0000000-0000-4000-8000-000000000000\n" for number in range(4)]


@pytest.fixture
def played(board):
    return board.with_hardware()


def node(played):
    """Where /dev/watchdog7 shows."""
    path = Path(played.root) / "dev/watchdog7"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def begin_boot(board, played, number):
    played.play_proc("sys/kernel/random/boot_id", BOOTS[number])
    board.start()
    board.wait_active("camera")


def cause(board):
    return board.device_state()["bootCause"]


def start(board, device, timeout, **essential):
    board.device(watchdog={"device": device, "timeout": timeout})
    board.app("camera", **essential)
    board.start()
    board.wait_active("camera")


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
    wait_until(lambda: len(played.watchdog_events(device, "feed")) >= 4, lambda: played.watchdog_events(device))
    times = [event["t"] for event in played.watchdog_events(device, "feed")]
    # The first is part of opening it.
    gaps = [later - earlier for earlier, later in zip(times, times[1:])]
    assert all(0.95 < gap < 2 for gap in gaps), gaps
    assert board.stop() == 0
    assert is_stopped(played, device)
    assert "cannot be stopped" not in board.log()


def test_a_daemon_that_dies_leaves_it_running(board, played):
    device = played.add_watchdog(0)
    start(board, device, "30s")
    board.kill()
    assert not is_stopped(played, device)


def test_a_timeout_that_the_driver_does_not_take(board, played):
    device = played.add_watchdog(0, maximum=60)
    start(board, device, "3600s")
    assert board.device_state()["hardwareWatchdog"].endswith(", 60 s")
    board.device(watchdog={"device": device, "timeout": "20s"})
    board.call("Reload")
    assert board.device_state()["hardwareWatchdog"].endswith(", 20 s")
    board.device(watchdog={"device": "none"})
    board.call("Reload")
    assert is_stopped(played, device)
    assert board.device_state()["hardwareWatchdog"] is None


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
    holds_for(2.5, lambda: len(played.watchdog_events(device, "feed")) == number, "it is not fed")
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


@pytest.mark.parametrize("in_sleep, rests", [("stops", False), ("counts", True), ("unknown", True)])
def test_what_becomes_of_it_in_a_sleep(board, played, in_sleep, rests):
    device = played.add_watchdog(0)
    login = board.with_login()
    board.profile("test-board", f'[watchdog]\nin-sleep = "{in_sleep}"\nstoppable = true\n')
    board.device(profile="test-board", watchdog={"device": device, "timeout": "30s"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    login.wait_held("sleep")
    login.sleep(True)
    released = login.wait_closed("sleep")["t"]
    stopped = [event for event in played.watchdog_events(device, "write") if event["data"] == "V"]
    assert bool(stopped) is rests
    # Before the kernel may sleep.
    assert all(event["t"] < released for event in stopped)
    opened = len(played.watchdog_events(device, "open"))
    login.sleep(False)
    wait_until(lambda: len(played.watchdog_events(device, "open")) > opened, "it is armed anew")
    wait_until(lambda: kinds(played, device)[-1] == "feed", lambda: kinds(played, device))
    assert board.device_state()["hardwareWatchdog"].endswith(", 30 s")


def test_a_board_that_its_watchdog_has_reset(board, played):
    board.app("camera")
    begin_boot(board, played, 0)
    board.kill()
    played.add_watchdog(0, boot_status=0x20)
    begin_boot(board, played, 1)
    assert cause(board).startswith("reset by the hardware watchdog")
    [report] = board.terminations("(board)")
    assert report["namespace"] == "watchdog"


@pytest.mark.parametrize("restarts", [False, True])
def test_a_watchdog_that_says_late_that_it_reset_the_board(board, played, restarts):
    """Its driver is loaded after the daemon was started: what was said before it came is put right."""
    board.device(watchdog={"device": "/dev/watchdog0"})
    board.app("camera", restart="never")
    begin_boot(board, played, 0)
    board.kill()
    begin_boot(board, played, 1)
    assert cause(board).startswith("went down without a word")
    [before] = board.terminations("(board)")
    board.signal("camera", signal.SIGKILL)
    board.wait_termination("camera")
    if restarts:
        board.kill()
    device = played.add_watchdog(0, boot_status=0x20)
    if restarts:
        begin_boot(board, played, 1)
    else:
        played.announce("/sys/devices/platform/watchdog0", "add")
    wait_until(lambda: cause(board).startswith("reset by the hardware watchdog"), lambda: cause(board))
    wait_until(lambda: played.watchdog_events(device, "feed"), "it is fed")
    # In the place of the first one, not beside it.
    [report] = board.terminations("(board)")
    assert report["report"] == before["report"] and report["namespace"] == "watchdog"
    assert report["explanation"] == cause(board)
    assert board.log().count("how the last boot ended") == 2, board.log()
    assert board.log().count("how the last boot ended, now that its watchdog is there: reset by") == 1
    # It is said once, however often it is asked for.
    board.call("Reload")
    board.kill()
    begin_boot(board, played, 1)
    assert cause(board).startswith("reset by the hardware watchdog")
    assert board.log().count("how the last boot ended") == 2, board.log()
    assert [each["report"] for each in board.terminations("(board)")] == [before["report"]]


@pytest.mark.parametrize("kind, words", [
    ("missing", "/dev/watchdog7: there is no such watchdog; is its driver loaded?"),
    ("file", "/dev/watchdog7 is no watchdog"), ("fifo", "/dev/watchdog7: there is no such watchdog"),
    ("folder", "/dev/watchdog7 cannot be opened: "), ("heard", "/dev/watchdog7 is no watchdog")])
def test_a_watchdog_that_is_none(board, played, kind, words):
    path = node(played)
    reader = None
    if kind == "file":
        path.write_bytes(b"as it was")
    elif kind == "folder":
        path.mkdir()
    elif kind in ("fifo", "heard"):
        os.mkfifo(path)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK) if kind == "heard" else None
    board.device(watchdog={"device": "/dev/watchdog7"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    assert words in board.device_state()["hardwareWatchdog"]
    problem = board.device_state()["hardwareWatchdogProblem"]
    assert problem and board.device_state()["hardwareWatchdog"] == f"none: {problem}"
    assert f"warning: no hardware watchdog: {words}" in board.log()
    # Nothing is ever written to what may be anything.
    assert kind != "file" or path.read_bytes() == b"as it was"
    assert reader is None or os.read(reader, 100) == b""
    if reader:
        os.close(reader)


def test_a_reload_tries_again(board, played):
    board.device(watchdog={"device": "/dev/watchdog7"})
    board.app("camera")
    board.start()
    assert "there is no such watchdog" in board.device_state()["hardwareWatchdog"]
    node(played).write_bytes(b"")
    board.call("Reload")
    assert "is no watchdog" in board.device_state()["hardwareWatchdog"]
    board.device(watchdog={"device": "none"})
    board.call("Reload")
    assert board.device_state()["hardwareWatchdog"] is None


def test_one_that_comes_later(board, played):
    """Its driver was loaded late, or its hardware is back."""
    board.device(watchdog={"device": "/dev/watchdog7"})
    board.app("camera")
    board.start()
    assert "there is no such watchdog" in board.device_state()["hardwareWatchdog"]
    node(played).write_bytes(b"")
    played.announce(played.add("watchdog", "watchdog7"), "add")
    wait_until(lambda: "is no watchdog" in board.device_state()["hardwareWatchdog"], "it was tried")


def test_none_is_wanted(board, played):
    node(played).write_bytes(b"")
    board.device(watchdog={"device": "none"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    assert board.device_state()["hardwareWatchdog"] is None
    assert "watchdog" not in board.log()


def test_a_board_that_went_down_without_a_word(board, played):
    board.app("camera")
    begin_boot(board, played, 0)
    assert cause(board) == "no last words of the boot before"
    assert board.device_state()["bootWasOrderly"] is None
    # The same boot: what was found then.
    board.kill()
    begin_boot(board, played, 0)
    assert cause(board) == "no last words of the boot before"
    assert board.terminations("(board)") == []
    board.kill()
    begin_boot(board, played, 1)
    assert cause(board).startswith("went down without a word: power loss, ")
    assert board.device_state()["bootWasOrderly"] is False
    [report] = board.terminations("(board)")
    assert report["namespace"] == "unknown" and report["explanation"] == cause(board)
    board.kill()
    # Said once a boot.
    begin_boot(board, played, 1)
    assert len(board.terminations("(board)")) == 1
    # Only the daemon was stopped.
    assert board.stop() == 0
    begin_boot(board, played, 2)
    assert cause(board).startswith("went down after curfewd had been stopped")


def test_a_board_that_went_down_in_good_order(board, played):
    board.app("camera")
    login = board.with_login()
    begin_boot(board, played, 0)
    login.wait_held("shutdown")
    login.shutdown(True)
    login.wait_closed("shutdown")
    assert board.stop() == 0
    login.kill_manager()
    login.start_manager()
    begin_boot(board, played, 1)
    assert cause(board) == "shut down or restarted in good order"
    assert board.device_state()["bootWasOrderly"] is True
    assert board.terminations("(board)") == []


def test_a_board_whose_battery_was_empty(board, played):
    battery = played.add("power_supply", "BAT0", type="Battery", present=1, capacity=3, status="Discharging")
    board.app("camera")
    login = board.with_login()
    begin_boot(board, played, 0)
    wait_until(login.power_offs, "the board is switched off")
    login.wait_held("shutdown")
    login.shutdown(True)
    login.wait_closed("shutdown")
    assert board.stop() == 0
    login.kill_manager()
    login.start_manager()
    played.set(battery, announce=False, capacity=90, status="Charging")
    begin_boot(board, played, 1)
    assert cause(board) == "powered off because the battery was critical"
    [report] = board.terminations("(board)")
    assert report["namespace"] == "lowBattery"


def test_a_board_whose_battery_ran_out_without_a_word(board, played):
    battery = played.add("power_supply", "BAT0", type="Battery", present=1, capacity=15, status="Discharging")
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    words = board.state / "last-words"
    begin_boot(board, played, 0)
    low = words.read_bytes()
    # Neither hovering nor a plug that is loose wears the flash.
    for number in range(50):
        played.set(battery, capacity=19 + number % 2 * 4, status=("Charging", "Discharging")[number // 2 % 2])
        assert words.read_bytes() == low
    board.kill()
    begin_boot(board, played, 1)
    assert cause(board) == "went down without a word while the battery was low: most likely it ran out"
    assert [report["namespace"] for report in board.terminations("(board)")] == ["lowBattery"]
    played.set(battery, capacity=80, status="Charging")
    wait_until(lambda: board.device_state()["batteryLevel"] == 0.8, "it is charged")
    played.announce(battery)
    wait_until(lambda: words.read_bytes()[2] != low[2], "it has recovered")
    board.kill()
    begin_boot(board, played, 2)
    assert cause(board).startswith("went down without a word: power loss, ")


@pytest.mark.parametrize("left", [b"", b"L1", b"L1aaaaa", b"\xff" * 4096, b"L1zzzzz\n\n", os.urandom(8192)],
                         ids=["empty", "short", "cut", "filled", "unknown", "random"])
def test_last_words_that_are_nonsense(board, played, left):
    board.app("camera")
    board.state.mkdir(parents=True)
    (board.state / "last-words").write_bytes(left)
    begin_boot(board, played, 0)
    assert cause(board) == "no last words of the boot before"
