"""The board's heat, its voltage and its lid, played by umockdev: what apps hear of them, and what becomes of them."""

import hardware
import pytest
from hardware import LID
from loops import kill_loop
from memory import skip
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


def test_heat_its_hysteresis_and_its_end(board, zone):
    board.device(policy={"debounce": "100ms"})
    board.app("game", priority_band=10, restart="always")
    board.app("camera", "lend", priority_band=100)
    board.start()
    board.wait_active("game", "camera")
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
    zone.wait_heard()
    holds_for(0.2, lambda: board.device_state()["thermalState"] == "serious", "it is left only below its hysteresis")
    assert states(board, "camera") == ["fair", "serious"]
    # Critical heat ends the lowest band.
    zone.set(zone.zone, temp=106000)
    report = board.wait_termination("game")
    assert (report["namespace"], report["code"]) == ("thermal", "0xc00010ff")
    holds_for(0.2, lambda: board.describe("game")["launches"] == 1, "it stays down while it is hot")
    zone.set(zone.zone, temp=45000)
    wait_states(board, "camera", "fair", "serious", "critical", "nominal")
    # It was in front, and is there again.
    board.wait_app("game", launches=2, scenePhase="active")
    assert board.describe("camera")["launches"] == 1


def test_heat_is_looked_at_while_it_is_hot(board, zone):
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start("--trial")
    board.wait_active("camera")
    # Where the kernel does not announce heat, it is looked at all the time.
    cool = board.device_state()["polled"]
    assert cool in ([], ["cpu-thermal (the kernel does not announce heat)"])
    zone.set(zone.zone, temp=80000)
    wait_until(lambda: board.device_state()["polled"] == (cool or ["cpu-thermal (hot)"]), "it is looked at from here")
    wait_states(board, "camera", "serious")
    zone.set(zone.zone, announce=False, temp=60000)
    skip(board, 11)
    wait_states(board, "camera", "serious", "nominal")
    wait_until(lambda: board.device_state()["polled"] == cool, "the kernel will say when it is hot again")


def test_what_is_not_announced_is_looked_at_now_and_then(board):
    """A zone without trip points, and limits from a profile."""
    played = board.with_hardware()
    zone = played.add("thermal", "thermal_zone0", type="soc", mode="enabled", temp=40000)
    board.profile("test-board", "[[thermal]]\nzone = 'soc'\nfair = 60\nserious = 70\ncritical = 90\n")
    board.device(profile="test-board", policy={"debounce": "100ms", "thermal_serious": "low-power"})
    board.app("camera", "lend")
    board.start("--trial")
    board.wait_active("camera")
    [polled] = board.device_state()["polled"]
    assert polled.startswith("soc (")
    played.set(zone, announce=False, temp=75000)
    skip(board, 10)
    assert board.wait_call("camera", "ThermalStateDidChange")["parameters"]["state"] == "serious"
    assert board.device_state()["thermalState"] == "serious"
    # By this policy discretionary work waits.
    wait_until(lambda: board.device_state()["lowPowerMode"], "low power mode by policy")
    with board.borrow("camera") as wire:
        state = wire.ask("GetState")["state"]
        assert (state["thermalState"], state["backgroundRefreshStatus"]) == ("serious", "restricted")


def test_a_temperature_that_is_nonsense_says_nothing(board, zone):
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start("--trial")
    board.wait_active("camera")
    zone.set(zone.zone, temp="4 2")
    zone.set(zone.zone, temp=81000)
    wait_states(board, "camera", "serious")
    # Nor does a sensor that is silent or gone: what it said last holds on.
    zone.set(zone.zone, temp="4 2")
    zone.remove(zone.zone)
    skip(board, 60)
    assert board.device_state()["thermalState"] == "serious"
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


def test_an_under_voltage_sensor_that_cannot_be_read_is_looked_at_again(board):
    played = board.with_hardware()
    chip = played.add("hwmon", "hwmon0", name="rpi_volt", in0_lcrit_alarm=0)
    board.profile("test-board", "[power]\nunder-voltage = { chip = 'rpi_volt', attribute = 'in0_lcrit_alarm' }\n")
    board.device(profile="test-board")
    board.start("--trial")
    assert board.device_state()["polled"] == []
    played.overwrite(chip, "in0_lcrit_alarm", "x")
    wait_until(lambda: board.device_state()["polled"] == ["under-voltage"], board.log)
    assert board.device_state()["underVoltage"] is False
    # As a driver does that announces nothing.
    played.set(chip, announce=False, in0_lcrit_alarm=1)
    skip(board, 10)
    wait_until(lambda: board.device_state()["underVoltage"], board.log)
    wait_until(lambda: board.device_state()["polled"] == [], board.log)


def test_under_voltage_of_a_sensor_that_a_reload_takes_away_is_over(board):
    played = board.with_hardware()
    chip = played.add("hwmon", "hwmon0", name="rpi_volt", in0_lcrit_alarm=1)
    sensor = "[power]\nunder-voltage = {{ chip = '{}', attribute = 'in0_lcrit_alarm' }}\n"

    def is_low():
        return board.device_state()["underVoltage"]

    board.profile("test-board", sensor.format("rpi_volt"))
    board.device(profile="test-board", policy={"debounce": "100ms"})
    board.start()
    wait_until(is_low, board.log)
    # A chip that has gone by itself says nothing: it may be back.
    played.remove(chip)
    board.call("Reload")
    holds_for(0.3, is_low, "what it said last holds on")
    # Nor does one that has never been there take its word back, but that of another.
    board.profile("test-board", sensor.format("other_volt"))
    board.call("Reload")
    wait_until(lambda: not is_low(), board.log)
    played.add("hwmon", "hwmon1", name="other_volt", in0_lcrit_alarm=1)
    wait_until(is_low, board.log)
    board.profile("test-board", "")
    board.call("Reload")
    wait_until(lambda: not is_low(), board.log)


def test_a_lid_that_opens_and_closes(board):
    lid = board.with_hardware()
    lid.node = lid.add_input(0, switches=LID, lid_closed=True)
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_app("camera", taskState="suspended", scenePhase="background")
    close_lid(lid, False)
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


def test_a_lid_that_comes_later_and_goes_away(board):
    """Of a keyboard that is put on and taken off."""
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
    close_lid(played)
    board.wait_app("camera", taskState="suspended")
    # It is closed no more.
    played.call("hang_up", played.node)
    board.wait_active("camera")


def test_what_becomes_due_between_two_loops_is_asked_of_the_apps_once(board):
    """It is the first that the next loop decides: the call is its own, and not one that it goes on with."""
    played = board.with_hardware()
    played.node = played.add_input(0, switches=LID)
    board.device(policy={"debounce": "1500ms"})
    board.app("app", allowances={"did_become_active": "3s"})
    board.start()
    board.wait_active("app")
    # The next loop comes after 1 s, the one after that 2 s later.
    for _ in range(2):
        kill_loop(board)
    close_lid(played)
    board.wait_app("app", scenePhase="background")
    # Which counts in a while.
    close_lid(played, False)
    played.wait_heard()
    kill_loop(board)
    board.wait_active("app")
    assert board.terminations("app") == [], board.log()
    calls = ["WillResignActive", "DidEnterBackground", "WillEnterForeground", "DidBecomeActive"]
    assert phase_calls(board, "app")[-4:] == calls
