"""How the boot before ended: by its last words, and by what the board's watchdog says."""

import os
import signal

import hardware
import pytest
from memory import skip
from test_board_watchdog import node
from test_resources import fill
from waiting import wait_until

pytestmark = pytest.mark.skipif(hardware.missing() is not None, reason=hardware.missing() or "")
BOOTS = [f"{number}0000000-0000-4000-8000-000000000000\n" for number in range(4)]


@pytest.fixture
def played(board):
    return board.with_hardware()


def begin_boot(board, played, number, *arguments):
    played.play_proc("sys/kernel/random/boot_id", BOOTS[number])
    board.start(*arguments)
    board.wait_active("camera")


def cause(board):
    return board.device_state()["bootCause"]


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
