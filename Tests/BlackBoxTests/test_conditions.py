"""Conditions together: the strongest wins; what is not announced; what is kept of the user's word."""

import hardware
import pytest
from hardware import LID
from waiting import holds_for, wait_until

pytestmark = pytest.mark.skipif(hardware.missing() is not None, reason=hardware.missing() or "")


@pytest.fixture
def played(board):
    return board.with_hardware()


def phase_calls(board, name):
    return [call for call in board.calls(name) if not call.endswith("DidChange")]


def test_the_strongest_wins(board, played):
    lid = played.add_input(0, switches=LID)
    login = board.with_login()
    login.open_session()
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    login.wait_held("sleep")
    login.lock()
    board.wait_app("camera", scenePhase="inactive")
    played.move_lid(lid, True)
    board.wait_app("camera", taskState="suspended")
    played.move_lid(lid, False)
    # Locked still.
    board.wait_app("camera", scenePhase="inactive")
    login.unlock()
    board.wait_active("camera")
    assert phase_calls(board, "camera")[-4:] == [
        "WillResignActive", "DidEnterBackground", "WillEnterForeground", "DidBecomeActive"]


def test_a_sleep_with_a_closed_lid_ends_in_background(board, played):
    lid = played.add_input(0, switches=LID)
    login = board.with_login()
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    login.wait_held("sleep")
    played.move_lid(lid, True)
    board.wait_app("camera", taskState="suspended")
    login.sleep(True)
    login.wait_closed("sleep")
    login.sleep(False)
    login.wait_held("sleep", 2)
    holds_for(0.5, lambda: board.describe("camera")["taskState"] == "suspended", "the lid is closed still")
    played.move_lid(lid, False)
    board.wait_active("camera")
    assert board.describe("camera")["launches"] == 1


def test_a_lid_that_opens_as_the_board_wakes(board, played):
    lid = played.add_input(0, switches=LID)
    login = board.with_login()
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    login.wait_held("sleep")
    played.move_lid(lid, True)
    login.sleep(True)
    login.wait_closed("sleep")
    played.move_lid(lid, False)
    login.sleep(False)
    board.wait_active("camera")


def test_a_critical_battery_without_logind(board, played):
    """The board cannot be switched off: apps have saved what they have, and it is said what is wrong."""
    charger = played.add("power_supply", "AC", type="Mains", online=0)
    played.add("power_supply", "BAT0", type="Battery", present=1, capacity=2, status="Discharging")
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start()
    assert board.wait_call("camera", "WillTerminate")["parameters"]["reason"] == "lowBattery"
    board.wait_log("the board cannot be switched off: logind is not available; apps stay ended")
    assert board.describe("camera")["taskState"] == "notRunning"
    played.set(charger, online=1)
    board.wait_active("camera")


def test_what_is_not_announced_is_looked_at_now_and_then(board, played):
    """A zone without trip points, and limits from a profile."""
    zone = played.add("thermal", "thermal_zone0", type="soc", mode="enabled", temp=40000)
    board.profile("test-board", "[[thermal]]\nzone = 'soc'\nfair = 60\nserious = 70\ncritical = 90\n")
    board.device(profile="test-board", policy={"debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    [polled] = board.device_state()["polled"]
    assert polled.startswith("soc (")
    played.set(zone, announce=False, temp=75000)
    call = board.wait_call("camera", "ThermalStateDidChange")
    assert call["parameters"]["state"] == "serious"
    assert board.device_state()["thermalState"] == "serious"


def test_serious_heat_lets_discretionary_work_wait(board, played):
    zone = played.add("thermal", "thermal_zone0", type="soc", mode="enabled", temp=40000)
    board.profile("test-board", "[[thermal]]\nzone = 'soc'\nserious = 70\n")
    board.device(profile="test-board", policy={"debounce": "100ms", "thermal_serious": "low-power"})
    board.app("camera", "lend")
    board.start()
    board.wait_active("camera")
    played.set(zone, temp=70000)
    wait_until(lambda: board.device_state()["lowPowerMode"], "low power mode by policy")
    with board.borrow("camera") as wire:
        state = wire.ask("GetState")["state"]
        assert (state["thermalState"], state["backgroundRefreshStatus"]) == ("serious", "restricted")


def test_a_word_that_cannot_be_kept_changes_nothing(board, played):
    board.app("camera")
    board.start()
    board.wait_active("camera")
    # No file can take the place of a folder.
    (board.state / "preferences.json").mkdir(parents=True)
    (board.state / "preferences.json" / "x").touch()
    error = board.error("SetLowPowerMode", enabled=True)
    assert error.name.endswith("Denied") and "preferences.json" in error.parameters["reason"]
    assert error.parameters["kind"] == "notSaved"
    assert board.device_state()["lowPowerMode"] is False


@pytest.mark.parametrize("left", [b"", b"{", b"[]", b'{"lowPowerMode":"yes"}', b"\xff" * 100, b"{" * 4096])
def test_preferences_that_are_nonsense(board, played, left):
    board.state.mkdir(parents=True)
    (board.state / "preferences.json").write_bytes(left)
    board.app("camera")
    board.start()
    assert board.device_state()["lowPowerMode"] is False
    board.call("SetLowPowerMode", enabled=True)
    assert board.stop() == 0
    board.start()
    assert board.device_state()["lowPowerMode"] is True
    board.wait_active("camera")
