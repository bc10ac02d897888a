"""The board's watchdog where there is none that works, and how the boot before ended."""

import os
import signal
from pathlib import Path

import hardware
import pytest
from memory import skip
from test_resources import fill
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


def begin_boot(board, played, number, *arguments):
    played.play_proc("sys/kernel/random/boot_id", BOOTS[number])
    board.start(*arguments)
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
    device = played.add_watchdog(0)
    login = board.with_login()
    board.profile("test-board", '[watchdog]\nin-sleep = "counts"\nstoppable = true\n')
    keys = {"profile": "test-board"}
    board.device(**keys, watchdog={"device": device, "timeout": "30s"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    login.wait_held("sleep")
    login.sleep(True)
    login.wait_closed("sleep")
    before = kinds(played, device)
    board.device(**keys, watchdog={"device": device, "timeout": "20s"})
    assert board.call("Reload")["changed"] == ["curfew.toml"]
    assert kinds(played, device) == before
    login.sleep(False)
    wait_until(lambda: (board.device_state()["hardwareWatchdog"] or "").endswith(", 20 s"), board.device_state)
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


def test_it_rests_in_a_sleep_in_which_it_counts(board, played):
    device = played.add_watchdog(0)
    login = board.with_login()
    board.profile("test-board", '[watchdog]\nin-sleep = "counts"\nstoppable = true\n')
    board.device(profile="test-board", watchdog={"device": device, "timeout": "30s"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    login.wait_held("sleep")
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


def test_nothing_is_written_to_what_may_be_anything(board, played):
    os.mkfifo(node(played))
    reader = os.open(node(played), os.O_RDONLY | os.O_NONBLOCK)
    start(board, "/dev/watchdog7", "30s")
    problem = board.device_state()["hardwareWatchdogProblem"]
    assert problem and board.device_state()["hardwareWatchdog"] == f"none: {problem}"
    assert "warning: no hardware watchdog: /dev/watchdog7 is no watchdog" in board.log()
    assert os.read(reader, 100) == b""
    os.close(reader)


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
    board.kill()
    # By its watchdog this time.
    played.add_watchdog(0, boot_status=0x20)
    begin_boot(board, played, 3)
    assert cause(board).startswith("reset by the hardware watchdog")
    assert [report["namespace"] for report in board.terminations("(board)")] == ["unknown"] * 2 + ["watchdog"]


def test_a_board_that_went_down_in_good_order(board, played):
    battery = played.add("power_supply", "BAT0", type="Battery", present=1, capacity=90, status="Charging")
    board.app("camera")
    login = board.with_login()

    def shut_down(number):
        login.wait_held("shutdown", number)
        login.shutdown(True)
        login.wait_closed("shutdown", number)
        assert board.stop() == 0
        login.kill_manager()
        login.start_manager()

    begin_boot(board, played, 0)
    shut_down(1)
    begin_boot(board, played, 1, "--trial")
    assert cause(board) == "shut down or restarted in good order"
    assert board.device_state()["bootWasOrderly"] is True
    assert board.terminations("(board)") == []
    played.set(battery, capacity=3, status="Discharging")
    wait_until(lambda: board.device_state()["batteryLevel"] == 0.03, "the battery is critical")
    skip(board, 5)
    wait_until(login.power_offs, "the board is switched off")
    shut_down(2)
    played.set(battery, announce=False, capacity=90, status="Charging")
    begin_boot(board, played, 2)
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


def test_a_battery_that_is_polled_is_low_at_once_and_is_not_full_when_it_cannot_be_read(board, played):
    """Of a reading that announces nothing the word does not wait for the next one."""
    battery = played.add("power_supply", "BAT0", type="Battery", present=1, capacity=80, status="Discharging")
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    words = board.state / "last-words"
    begin_boot(board, played, 0, "--trial")
    full = words.read_bytes()
    wait_until(lambda: "battery level" in board.device_state()["polled"], "it is polled")
    played.set(battery, announce=False, capacity=15)
    skip(board, 61)
    wait_until(lambda: words.read_bytes() != full, "it is written down")
    low = words.read_bytes()
    played.set(battery, announce=False, capacity="?")
    skip(board, 61)
    skip(board, 301)
    wait_until(lambda: board.device_state()["batteryLevel"] is None, board.device_state)
    assert words.read_bytes() == low
    board.kill()
    begin_boot(board, played, 1)
    assert cause(board) == "went down without a word while the battery was low: most likely it ran out"


def test_last_words_that_are_nonsense_are_none(board, played):
    board.app("camera")
    board.state.mkdir(parents=True)
    (board.state / "last-words").write_bytes(b"\xff" * 4096)
    # Nor is a watchdog wanted.
    node(played).write_bytes(b"")
    board.device(watchdog={"device": "none"})
    begin_boot(board, played, 0)
    assert cause(board) == "no last words of the boot before"
    assert board.device_state()["hardwareWatchdog"] is None
    assert "watchdog" not in board.log()


def test_a_full_disk_is_no_power_loss(board, played):
    """What the next boot is to know is written all the same."""
    board.tmpfs(f"{board.root}/var/lib", "32k")
    board.app("camera")
    begin_boot(board, played, 0)
    wait_until((board.state / "last-words").exists, board.log)
    fill(f"{board.root}/var/lib")
    assert board.stop() == 0
    assert "cannot be written" not in board.log()
    os.unlink(f"{board.root}/var/lib/filler")
    begin_boot(board, played, 1)
    assert cause(board) != "went down without a word: power loss"
    assert "went down without a word" not in cause(board)


def test_on_a_full_disk_the_last_word_is_the_last(board, played):
    battery = played.add("power_supply", "BAT0", type="Battery", present=1, capacity=90, status="Discharging")
    board.device(policy={"debounce": "100ms"})
    board.tmpfs(f"{board.root}/var/lib", "32k")
    board.app("camera")
    begin_boot(board, played, 0)
    words = board.state / "last-words"
    wait_until(words.exists, board.log)
    before = words.read_bytes()
    fill(f"{board.root}/var/lib")
    played.set(battery, capacity=8, status="Discharging")
    wait_until(lambda: words.read_bytes() != before, "it is low")
    played.set(battery, capacity=90, status="Charging")
    wait_until(lambda: words.read_bytes() == before, "it is not")
