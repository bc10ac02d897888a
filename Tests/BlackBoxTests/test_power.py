"""The board's power, played by umockdev: what apps hear of it, and what becomes of them."""

import time

import hardware
import pytest
from confinement import without_netlink
from memory import skip
from uevents import kernel_message, udev_message
from waiting import holds_for, wait_until

pytestmark = pytest.mark.skipif(hardware.missing() is not None, reason=hardware.missing() or "")
CHANGE = "PowerStateDidChange"


@pytest.fixture
def supplies(board):
    """A charger that delivers, and a battery at 80 %."""
    played = board.with_hardware()
    played.charger = played.add("power_supply", "AC", type="Mains", online=1)
    played.battery = played.add("power_supply", "BAT0", type="Battery", present=1, capacity=80, status="Charging")
    return played


def heard(board, name):
    return [note["parameters"] for note in board.notes(name, "call") if note["handler"] == CHANGE]


def word(external, level, low_power=False):
    return {"externalPower": external, "batteryLevel": level, "lowPowerMode": low_power}


def forgets(board, **wanted):
    """What is said no more counts for five minutes: lets them pass."""
    skip(board, 301)
    state = board.device_state()
    return all(state[key] == value for key, value in wanted.items())


def wait_heard(board, name, *words):
    """Exactly these."""
    wait_until(
        lambda: len(heard(board, name)) >= len(words),
        lambda: f"{name} hears {words}: {heard(board, name)}\n{board.log()}")
    assert heard(board, name) == list(words)


def wait_device(board, **expected):
    def matches():
        device = board.device_state()
        return all(device[key] == value for key, value in expected.items())

    wait_until(matches, lambda: f"the device is {expected}: {board.device_state()}\n{board.log()}")


def wait_told(board, name, **expected):
    """What GetState tells the app."""
    with board.borrow(name) as wire:
        def matches():
            state = wire.ask("GetState")["state"]
            return all(state[key] == value for key, value in expected.items())
        wait_until(matches, lambda: f"{name} is told {expected}: {wire.ask('GetState')}")


def test_charger_off_and_on(board, supplies):
    board.device(policy={"debounce": "200ms"})
    board.app("camera")
    board.app("deaf", delegate="none")
    board.start()
    board.wait_active("camera", "deaf")
    wait_device(board, externalPower=True, batteryLevel=0.8, lowPowerMode=False)
    supplies.set(supplies.charger, online=0)
    wait_heard(board, "camera", word(False, 0.8))
    supplies.set(supplies.charger, online=1)
    wait_heard(board, "camera", word(False, 0.8), word(True, 0.8))
    # The present is no news to who comes later.
    board.app("late")
    board.call("Reload")
    board.call("Launch", app="late", background=None)
    board.wait_active("late")
    assert heard(board, "late") == []


def test_a_suspended_app_hears_the_last_word_when_it_thaws(board, supplies):
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    board.call("Background", app="camera")
    board.wait_app("camera", taskState="suspended")
    supplies.set(supplies.charger, online=0)
    wait_device(board, externalPower=False)
    supplies.set(supplies.battery, capacity=60, status="Discharging")
    wait_device(board, batteryLevel=0.6)
    assert heard(board, "camera") == []
    board.call("Activate", app="camera")
    wait_heard(board, "camera", word(False, 0.6))


def test_a_charger_that_bounces(board, supplies):
    debounce = 0.5
    board.device(policy={"debounce": "500ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    begun = time.monotonic()
    for number in range(200):
        supplies.set(supplies.charger, online=number % 2)
    supplies.set(supplies.charger, online=0)
    # Until the last word is in force.
    wait_device(board, externalPower=False)
    holds_for(2 * debounce, lambda: board.device_state()["externalPower"] is False, "the last word stays")
    elapsed = time.monotonic() - begun
    words = heard(board, "camera")
    assert 1 <= len(words) <= 2 + elapsed / debounce, words
    assert words[-1] == word(False, 0.8)
    times = [note["t"] for note in board.notes("camera", "call") if note["handler"] == CHANGE]
    assert all(later - earlier > debounce * 0.9 for earlier, later in zip(times, times[1:])), times


def test_a_battery_that_hovers_at_a_threshold(board, supplies):
    board.device(policy={"debounce": "100ms"})
    supplies.set(supplies.charger, announce=False, online=0)
    supplies.set(supplies.battery, announce=False, capacity=22, status="Discharging")
    board.app("camera", "lend")
    board.start()
    board.wait_active("camera")
    wait_device(board, externalPower=False, batteryLevel=0.22, lowPowerMode=False)
    for number in range(200):
        supplies.set(supplies.battery, capacity=21 - number % 2)
    wait_device(board, batteryLevel=0.2, lowPowerMode=True)
    supplies.set(supplies.battery, capacity=24)
    wait_device(board, batteryLevel=0.24)
    assert board.device_state()["lowPowerMode"] is True
    assert [entry["lowPowerMode"] for entry in heard(board, "camera")].count(True) == len(heard(board, "camera")) == 1
    wait_told(board, "camera", lowPowerMode=True, backgroundRefreshStatus="restricted", thermalState="nominal")
    supplies.set(supplies.battery, capacity=25)
    wait_device(board, lowPowerMode=False)
    wait_until(lambda: heard(board, "camera")[-1]["lowPowerMode"] is False, "low power mode is over")
    assert board.log().count("low power mode is on") == board.log().count("low power mode is off") == 1


def test_the_last_of_the_battery(board, supplies):
    board.device(policy={"debounce": "200ms"})
    board.app("storage", "slow:WillTerminate:0.3")
    board.app("camera", "slow:WillTerminate:0.3", after=["storage"])
    board.app("busy", "lend", start="background")
    board.app("sleepy", start="background")
    login = board.with_login()
    board.start()
    board.wait_active("storage", "camera")
    board.wait_app("sleepy", taskState="suspended")
    board.call("Activate", app="busy")
    board.wait_active("busy")
    busy = board.borrow("busy")
    busy.begin()
    board.call("Background", app="busy")
    login.wait_held("sleep")
    supplies.set(supplies.charger, online=0)
    supplies.set(supplies.battery, capacity=18, status="Discharging")
    wait_device(board, lowPowerMode=True, externalPower=False)
    wait_until(lambda: heard(board, "camera") and heard(board, "camera")[-1] == word(False, 0.18, True),
               lambda: f"camera hears of low power: {heard(board, 'camera')}")
    assert not login.power_offs()
    supplies.set(supplies.battery, capacity=4)
    told = [board.wait_call(name, "WillTerminate") for name in ("camera", "storage", "busy")]
    assert {note["parameters"]["reason"] for note in told} == {"lowBattery"}
    wait_until(login.power_offs, lambda: f"the board is switched off:\n{board.log()}")
    asked = login.power_offs()[0]["t"]
    answered = [note["t"] for name in ("camera", "storage", "busy") for note in board.notes(name, "answered")
                if note["handler"] == "WillTerminate"]
    assert len(answered) == 3 and max(answered) < asked
    assert board.instances() == []
    # Who is suspended has said all it had to say.
    assert "WillTerminate" not in board.calls("sleepy")
    busy.close()
    reports = board.terminations()
    assert len(reports) == 4 and {report["namespace"] for report in reports} == {"lowBattery"}
    assert "4 %" in reports[0]["explanation"]
    error = board.error("Launch", app="camera", background=None)
    assert error.name.endswith("Denied")


def test_a_moment_of_a_critical_battery_is_none(board, supplies):
    """One bad reading ends no app."""
    board.device(policy={"debounce": "100ms"})
    supplies.set(supplies.charger, announce=False, online=0)
    supplies.set(supplies.battery, announce=False, capacity=60, status="Discharging")
    board.app("camera")
    login = board.with_login()
    board.start()
    board.wait_active("camera")
    supplies.set(supplies.battery, capacity=1)
    wait_device(board, batteryLevel=0.01, lowPowerMode=True)
    supplies.set(supplies.battery, capacity=60)
    wait_device(board, batteryLevel=0.6, lowPowerMode=False)
    # It would have been confirmed by then.
    holds_for(5.5, lambda: not login.power_offs(), "the board stays on")
    assert board.describe("camera")["launches"] == 1


def test_external_power_in_the_last_moment_brings_the_apps_back(board, supplies):
    board.device(policy={"debounce": "100ms"})
    supplies.set(supplies.charger, announce=False, online=0)
    supplies.set(supplies.battery, announce=False, capacity=3, status="Discharging")
    board.app("camera", "slow:WillTerminate:1")
    login = board.with_login(refuse=["power-off"])
    board.start()
    board.wait_call("camera", "WillTerminate")
    wait_until(login.power_offs, "the board is asked to switch off")
    board.wait_log("the board cannot be switched off")
    supplies.set(supplies.charger, online=1)
    wait_until(lambda: board.describe("camera")["launches"] == 2, lambda: f"camera is back:\n{board.log()}")
    board.wait_active("camera")


def test_low_power_mode_by_hand_and_over_a_restart(board, supplies):
    board.device(policy={"debounce": "100ms"})
    board.app("camera", "lend")
    board.start()
    board.wait_active("camera")
    wire = board.borrow("camera")
    task = wire.begin()
    board.call("SetLowPowerMode", enabled=True)
    wait_heard(board, "camera", word(True, 0.8, True))
    wait_told(board, "camera", lowPowerMode=True, backgroundRefreshStatus="restricted")
    board.call("Background", app="camera")
    assert 20 < wire.remaining() <= 30
    wire.end(task)
    wire.close()
    assert board.stop() == 0
    board.start()
    assert board.device_state()["lowPowerMode"] is True
    board.call("SetLowPowerMode", enabled=False)
    wait_device(board, lowPowerMode=False)
    # The user's word counts for more than the battery's.
    supplies.set(supplies.charger, online=0)
    supplies.set(supplies.battery, capacity=15, status="Discharging")
    wait_device(board, externalPower=False, batteryLevel=0.15)
    holds_for(0.3, lambda: board.device_state()["lowPowerMode"] is False, "it stays off")
    board.call("SetLowPowerMode", enabled=None)
    wait_device(board, lowPowerMode=True)
    assert board.stop() == 0
    supplies.set(supplies.battery, announce=False, capacity=70)
    board.start()
    assert board.device_state()["lowPowerMode"] is False


@pytest.mark.parametrize("nonsense", ["-1", "101", "", "text", "99999999999999999999", "0x20", "7 7", "5" * 300])
def test_a_level_that_is_nonsense_is_unknown_after_a_while(board, supplies, nonsense):
    """What was counts for five minutes: one bad reading is neither an empty battery nor a full one."""
    board.device(policy={"debounce": "100ms"})
    supplies.set(supplies.charger, announce=False, online=0)
    supplies.set(supplies.battery, announce=False, status="Discharging")
    board.app("camera")
    login = board.with_login()
    board.start("--trial")
    board.wait_active("camera")
    wait_device(board, batteryLevel=0.8)
    supplies.set(supplies.battery, capacity=nonsense)
    # Read after it, so that is read by then.
    supplies.set(supplies.charger, online=1)
    wait_device(board, externalPower=True)
    supplies.set(supplies.charger, online=0)
    wait_device(board, batteryLevel=0.8, lowPowerMode=False, externalPower=False)
    skip(board, 301)
    wait_device(board, batteryLevel=None, lowPowerMode=False, externalPower=False)
    wait_until(lambda: heard(board, "camera") and heard(board, "camera")[-1] == word(False, None), "it is unknown")
    supplies.set(supplies.charger, online="nonsense")
    supplies.set(supplies.battery, capacity=70)
    wait_device(board, batteryLevel=0.7)
    assert not login.power_offs()


def test_supplies_that_go_while_they_are_read(board, supplies):
    """Directories come and go under the reader: the daemon stays, and knows the last of it."""
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start("--trial")
    board.wait_active("camera")
    for _ in range(60):
        supplies.remove(supplies.battery)
        supplies.announce(supplies.charger)
        # Announced as it comes, before it is whole.
        supplies.battery = supplies.add("power_supply", "BAT0", type="Battery")
        supplies.set(supplies.battery, present=1, capacity=55, status="Discharging")
    wait_device(board, batteryLevel=0.55, externalPower=True)
    supplies.remove(supplies.charger)
    supplies.remove(supplies.battery)
    wait_until(lambda: forgets(board, batteryLevel=None, externalPower=None), "both are unknown after a while")


def test_without_announcement_a_battery_is_looked_at_and_said_so(board, supplies):
    board.start()
    assert board.device_state()["polled"] == ["battery level"]
    supplies.set(supplies.battery, capacity=100, status="Full")
    wait_until(lambda: board.device_state()["polled"] == [], "a battery that is full does not change by itself")


def test_a_board_without_device_events_goes_on(board, supplies):
    board.app("camera")
    board.start(prepare=without_netlink)
    board.wait_active("camera")
    assert "no device events: " in board.log()
    device = board.device_state()
    assert (device["externalPower"], device["batteryLevel"]) == (True, 0.8)


@pytest.mark.parametrize("bad", [
    b"", b"libudev\0", b"\0" * 40, udev_message("power_supply", {}), udev_message("power_supply")[:40],
    udev_message("power_supply")[:-1], kernel_message("power_supply"), b"x" * 0x10000,
    udev_message("power_supply", {"ACTION": "change", "X" * 0x10000: "y"}),
    udev_message("power_supply", {"DEVPATH": "/" * 0xF000, "SUBSYSTEM": "power_supply", "ACTION": "remove"}),
], ids=lambda message: f"{len(message)}-bytes")
def test_events_that_are_malformed(board, supplies, bad):
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    for _ in range(20):
        supplies.send(bad)
    supplies.set(supplies.charger, online=0)
    wait_heard(board, "camera", word(False, 0.8))


def test_no_board_hears_nothing(board, supplies):
    board.app("camera")
    login = board.with_login()
    board.start(hears=False)
    board.wait_active("camera")
    login.wait_held("sleep")
    login.open_session()
    login.lock()
    supplies.set(supplies.charger, online=0)
    supplies.set(supplies.battery, capacity=3, status="Discharging")
    device = board.device_state()
    assert (device["externalPower"], device["batteryLevel"], device["profile"], device["hardwareWatchdog"]) == (
        None, None, "none", None)
    holds_for(0.5, lambda: board.device_state() == device, "nothing is heard")
    assert board.describe("camera")["scenePhase"] == "active" and heard(board, "camera") == []
    assert not login.held("handle-power-key") and not login.power_offs()
