"""The board's heat, its voltage and its lid, played by umockdev: what apps hear of them, and what becomes of them."""

import hardware
import pytest
from hardware import LID
from waiting import holds_for, wait_until

pytestmark = pytest.mark.skipif(hardware.missing() is not None, reason=hardware.missing() or "")


@pytest.fixture
def zone(board):
    """45 °C on a board that slows itself down at 80 °C, and switches itself off at 110 °C."""
    played = board.with_hardware()
    played.zone = played.add(
        "thermal", "thermal_zone0", type="cpu-thermal", mode="enabled", temp=45000, trip_point_0_type="passive",
        trip_point_0_temp=80000, trip_point_0_hyst=2000, trip_point_1_type="critical", trip_point_1_temp=110000,
        trip_point_1_hyst=0)
    return played


@pytest.fixture
def lid(board):
    """An open lid."""
    played = board.with_hardware()
    played.node = played.add_input(0, switches=LID, lid_closed=False)
    return played


def states(board, name):
    return [note["parameters"]["state"] for note in board.notes(name, "call")
            if note["handler"] == "ThermalStateDidChange"]


def wait_states(board, name, *expected):
    wait_until(
        lambda: len(states(board, name)) >= len(expected),
        lambda: f"{name} hears {expected}: {states(board, name)}\n{board.log()}")
    assert states(board, name) == list(expected)


def phase_calls(board, name):
    return [call for call in board.calls(name) if not call.endswith("DidChange")]


def close_lid(played, closed=True):
    played.move_lid(played.node, closed)


def test_heat_and_its_hysteresis(board, zone):
    board.device(policy={"debounce": "100ms"})
    board.app("camera", "lend")
    board.start()
    board.wait_active("camera")
    zone.set(zone.zone, temp=72000)
    wait_states(board, "camera", "fair")
    zone.set(zone.zone, temp=80000)
    wait_states(board, "camera", "fair", "serious")
    with board.borrow("camera") as wire:
        assert wire.ask("GetState")["state"]["thermalState"] == "serious"
    # Around the limit; it is left 3 °C below.
    for number in range(100):
        zone.set(zone.zone, temp=80500 - number % 2 * 3000)
    zone.set(zone.zone, temp=77001)
    holds_for(0.5, lambda: board.device_state()["thermalState"] == "serious", "it is left only below its hysteresis")
    assert states(board, "camera") == ["fair", "serious"]
    zone.set(zone.zone, temp=45000)
    wait_states(board, "camera", "fair", "serious", "nominal")


def test_heat_is_looked_at_only_while_it_is_hot(board, zone):
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    if board.device_state()["polled"] == ["cpu-thermal (the kernel does not announce heat)"]:
        pytest.skip("this kernel does not announce heat, so it is looked at all the time")
    assert board.device_state()["polled"] == []
    zone.set(zone.zone, temp=80000)
    wait_until(lambda: board.device_state()["polled"] == ["cpu-thermal (hot)"], "it is looked at from here")
    zone.set(zone.zone, announce=False, temp=60000)
    wait_states(board, "camera", "serious", "nominal")
    wait_until(lambda: board.device_state()["polled"] == [], "the kernel will say when it is hot again")


def test_a_temperature_that_jumps(board, zone):
    board.device(policy={"debounce": "500ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    for number in range(200):
        zone.set(zone.zone, temp=82000 - number % 2 * 40000)
    zone.set(zone.zone, temp=82000)
    wait_until(lambda: board.device_state()["thermalState"] == "serious", "the last word is in force")
    wait_until(lambda: states(board, "camera")[-1:] == ["serious"], "the app has the last word")
    times = [note["t"] for note in board.notes("camera", "call") if note["handler"] == "ThermalStateDidChange"]
    assert all(later - earlier > 0.45 for earlier, later in zip(times, times[1:])), times


def test_critical_heat_ends_the_lowest_band(board, zone):
    board.device(policy={"debounce": "100ms"})
    board.app("game", priority_band=10, restart="always")
    board.app("camera", priority_band=100)
    board.start()
    board.wait_active("game", "camera")
    zone.set(zone.zone, temp=106000)
    report = board.wait_termination("game")
    assert (report["namespace"], report["code"]) == ("thermal", "0xc00010ff")
    holds_for(0.5, lambda: board.describe("game")["launches"] == 1, "it stays down while it is hot")
    zone.set(zone.zone, temp=60000)
    wait_states(board, "camera", "critical", "nominal")
    # It was in front, and is there again.
    board.wait_active("game")
    assert (board.describe("camera")["launches"], board.describe("game")["launches"]) == (1, 2)


@pytest.mark.parametrize("nonsense", ["", "hot", "-300000", "999999", "4 2"])
def test_a_temperature_that_is_nonsense_says_nothing(board, zone, nonsense):
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    zone.set(zone.zone, temp=nonsense)
    zone.set(zone.zone, temp=81000)
    wait_states(board, "camera", "serious")
    # Nor does a sensor that is silent or gone: what it said last holds on.
    zone.set(zone.zone, temp=nonsense)
    zone.remove(zone.zone)
    holds_for(0.5, lambda: board.device_state()["thermalState"] == "serious", "silence is no cold")
    assert states(board, "camera") == ["serious"]


def test_under_voltage(board):
    played = board.with_hardware()
    chip = played.add("hwmon", "hwmon0", name="rpi_volt", in0_lcrit_alarm=0)
    board.profile("test-board", "[power]\nunder-voltage = { chip = 'rpi_volt', attribute = 'in0_lcrit_alarm' }\n")
    board.device(profile="test-board", policy={"under_voltage": "low-power", "debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    assert board.device_state()["profile"] == "test-board"
    played.overwrite(chip, "in0_lcrit_alarm", "1")
    call = board.wait_call("camera", "PowerStateDidChange")
    assert call["parameters"]["lowPowerMode"] is True
    assert board.device_state()["underVoltage"] is True
    assert board.log().count("under-voltage: the supply or its cable is too weak") == 1
    played.overwrite(chip, "in0_lcrit_alarm", "0")
    board.wait_call("camera", "PowerStateDidChange", 2)
    assert board.device_state()["underVoltage"] is False


def test_a_lid_that_closes_and_opens(board, lid):
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    close_lid(lid)
    board.wait_app("camera", taskState="suspended", scenePhase="background")
    assert board.device_state()["limit"] == "the lid is closed"
    assert phase_calls(board, "camera")[-2:] == ["WillResignActive", "DidEnterBackground"]
    error = board.error("Activate", app="camera")
    assert error.name.endswith("Denied") and "lid" in error.parameters["reason"]
    assert error.parameters["kind"] == "condition"
    close_lid(lid, False)
    board.wait_active("camera")
    assert phase_calls(board, "camera")[-2:] == ["WillEnterForeground", "DidBecomeActive"]
    assert board.device_state()["limit"] is None


def test_a_lid_that_is_closed_at_the_start(board):
    played = board.with_hardware()
    played.node = played.add_input(0, switches=LID, lid_closed=True)
    board.app("camera")
    board.start()
    board.wait_app("camera", taskState="suspended", scenePhase="background")
    close_lid(played, False)
    board.wait_active("camera")


def test_a_lid_that_bounces(board, lid):
    board.device(policy={"debounce": "500ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    for number in range(200):
        close_lid(lid, number % 2 == 0)
    close_lid(lid)
    wait_until(lambda: board.device_state()["limit"] == "the lid is closed", "the last word is in force")
    board.wait_app("camera", taskState="suspended", scenePhase="background")
    holds_for(1, lambda: board.describe("camera")["scenePhase"] == "background", "it stays")
    times = [note["t"] for note in board.notes("camera", "call")
             if note["handler"] in ("DidEnterBackground", "WillEnterForeground")]
    assert all(later - earlier > 0.45 for earlier, later in zip(times, times[1:])), times


def test_a_lid_that_comes_later_closed(board):
    played = board.with_hardware()
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    played.node = played.add_input(0, switches=LID, lid_closed=True)
    played.announce("/sys/devices/platform/played0/input/input0/event0", "add")
    board.wait_app("camera", taskState="suspended")
    close_lid(played, False)
    board.wait_active("camera")


def test_a_lid_that_goes_away_is_closed_no_more(board, lid):
    """Of a keyboard that is taken off."""
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    close_lid(lid)
    board.wait_app("camera", taskState="suspended")
    lid.call("hang_up", lid.node)
    board.wait_active("camera")


def test_one_front_app_comes_back_alone(board, lid):
    board.device(front="one", policy={"debounce": "100ms"})
    board.app("camera")
    board.app("notes", start="background")
    board.start()
    board.wait_active("camera")
    board.call("Activate", app="notes")
    board.wait_active("notes")
    board.wait_app("camera", scenePhase="background", taskState="suspended")
    close_lid(lid)
    board.wait_app("notes", scenePhase="background", taskState="suspended")
    close_lid(lid, False)
    board.wait_active("notes")
    holds_for(0.3, lambda: board.describe("camera")["scenePhase"] == "background", "one is in front")
    assert board.calls("camera").count("DidBecomeActive") == 1
