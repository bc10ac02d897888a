"""The board's power, played by umockdev: what apps and people hear of it, and what becomes of them."""

import json
import os
import random
import subprocess
import time

import board as boards
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


def curfew(board, *arguments):
    return subprocess.run(
        [boards.CURFEW, "--root", board.root, *arguments], capture_output=True, text=True, timeout=30,
        check=True).stdout


def is_device(board, **expected):
    device = board.device_state()
    return all(device[key] == value for key, value in expected.items())


def wait_device(board, **expected):
    wait_until(lambda: is_device(board, **expected),
               lambda: f"the device is {expected}: {board.device_state()}\n{board.log()}")


def wait_last_word(board, name, *words):
    """The last that the app hears is this."""
    wait_until(
        lambda: heard(board, name)[-1:] == [word(*words)],
        lambda: f"{name} hears {word(*words)} at last: {heard(board, name)}\n{board.log()}")


def test_a_storm_of_events_is_told_in_a_few_words(board, supplies):
    debounce = 0.2
    board.device(policy={"debounce": "200ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    wait_device(board, externalPower=True, batteryLevel=0.8, lowPowerMode=False)
    begun = time.monotonic()
    for number in range(200):
        supplies.set(supplies.charger, online=number % 2)
    supplies.set(supplies.charger, online=0)
    supplies.wait_heard()
    # Told after all that.
    supplies.set(supplies.battery, capacity=60)
    wait_last_word(board, "camera", False, 0.6)
    elapsed = time.monotonic() - begun
    notes = [note for note in board.notes("camera", "call") if note["handler"] == CHANGE]
    powers = [True] + [note["parameters"]["externalPower"] for note in notes]
    times = [note["t"] for number, note in enumerate(notes) if powers[number] != powers[number + 1]]
    assert 1 <= len(times) <= 2 + elapsed / debounce, notes
    assert all(later - earlier > debounce * 0.9 for earlier, later in zip(times, times[1:])), notes
    # What is malformed tells no app of anything, and keeps nothing from being heard.
    for bad in [
            b"", b"libudev\0", b"\0" * 40, udev_message("power_supply", {}), udev_message("power_supply")[:40],
            udev_message("power_supply")[:-1], kernel_message("power_supply"), b"x" * 0x10000,
            random.Random(1).randbytes(512),
            udev_message("power_supply", {"ACTION": "change", "X" * 0x10000: "y"}),
            udev_message("power_supply", {"DEVPATH": "/" * 0xF000, "SUBSYSTEM": "power_supply", "ACTION": "remove"})]:
        for _ in range(20):
            supplies.send(bad)
    supplies.set(supplies.charger, online=1)
    wait_last_word(board, "camera", True, 0.6)
    assert len(heard(board, "camera")) == len(notes) + 1


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
    # Around the limit; low power mode is left 5 % above.
    for number in range(100):
        supplies.set(supplies.battery, capacity=21 - number % 2, status="Discharging")
    wait_device(board, batteryLevel=0.2, lowPowerMode=True, externalPower=False)
    wait_last_word(board, "camera", False, 0.2, True)
    supplies.set(supplies.battery, capacity=24)
    wait_device(board, batteryLevel=0.24)
    assert [entry["lowPowerMode"] for entry in heard(board, "camera")].count(True) == 1
    assert (board.log().count("low power mode is on"), board.log().count("low power mode is off")) == (1, 0)
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
    account = curfew(board, "report", "--last")
    assert "storage was ended: the battery was critical, and the board was switched off" in account
    assert "the battery is at 4 %" in account and "battery-critical" in account


def test_external_power_in_the_last_moment_brings_the_apps_back(board, supplies):
    board.device(policy={"debounce": "100ms"})
    supplies.set(supplies.charger, announce=False, online=0)
    supplies.set(supplies.battery, announce=False, status="Discharging")
    board.app("camera", "slow:WillTerminate:1")
    login = board.with_login(refuse=["power-off"])
    board.start("--trial")
    board.wait_active("camera")
    login.wait_held("sleep")
    supplies.set(supplies.battery, capacity=3)
    wait_device(board, batteryLevel=0.03)
    skip(board, 5)
    assert board.wait_call("camera", "WillTerminate")["parameters"]["reason"] == "lowBattery"
    wait_until(login.power_offs, "the board is asked to switch off")
    board.wait_log("the board cannot be switched off")
    supplies.set(supplies.charger, online=1)
    board.wait_app("camera", launches=2, scenePhase="active")
    # Apps have saved what they have, and it is said what is wrong.
    login.kill_manager()
    board.wait_log("no logind")
    supplies.set(supplies.charger, online=0)
    wait_device(board, externalPower=False)
    skip(board, 5)
    board.wait_log("the board cannot be switched off: logind is not available; apps stay ended")
    assert board.calls("camera").count("WillTerminate") == 2
    assert board.describe("camera")["taskState"] == "notRunning"
    supplies.set(supplies.charger, online=1)
    board.wait_app("camera", launches=3, scenePhase="active")


def preferences(board):
    return json.loads((board.state / "preferences.json").read_text())


def test_low_power_mode_by_hand_and_over_a_restart(board, supplies):
    board.device(policy={"debounce": "100ms"})
    board.app("camera", "lend")
    board.start()
    board.wait_active("camera")
    wire = board.borrow("camera")
    task = wire.begin()
    assert curfew(board, "low-power", "on").startswith("low power mode is on, until you say otherwise")
    assert preferences(board) == {"lowPowerMode": True}
    wait_last_word(board, "camera", True, 0.8, True)
    told = wire.ask("GetState")["state"]
    assert (told["lowPowerMode"], told["backgroundRefreshStatus"], told["thermalState"]) == (
        True, "restricted", "nominal")
    board.call("Background", app="camera")
    assert 20 < wire.remaining() <= 30
    wire.end(task)
    wire.close()
    assert board.stop() == 0
    board.start()
    assert board.device_state()["lowPowerMode"] is True
    assert "low power mode" in curfew(board, "status")
    assert json.loads(curfew(board, "low-power", "off", "--json"))["setting"] == "off"
    assert preferences(board) == {"lowPowerMode": False}
    wait_device(board, lowPowerMode=False)
    # The user's word counts for more than the battery's.
    supplies.set(supplies.charger, online=0)
    supplies.set(supplies.battery, capacity=15, status="Discharging")
    wait_device(board, externalPower=False, batteryLevel=0.15)
    holds_for(0.2, lambda: board.device_state()["lowPowerMode"] is False, "it stays off")
    assert curfew(board, "low-power", "auto").startswith("low power mode is automatic, and on now")
    assert preferences(board) == {"lowPowerMode": None}
    wait_device(board, lowPowerMode=True)
    assert board.stop() == 0
    supplies.set(supplies.battery, announce=False, capacity=70)
    board.start()
    assert board.device_state()["lowPowerMode"] is False


def test_a_word_that_cannot_be_kept_changes_nothing(board):
    # No file can take the place of a folder.
    (board.state / "preferences.json").mkdir(parents=True)
    (board.state / "preferences.json" / "x").touch()
    board.app("camera")
    board.start()
    error = board.error("SetLowPowerMode", enabled=True)
    assert error.name.endswith("Denied") and "preferences.json" in error.parameters["reason"]
    assert error.parameters["kind"] == "notSaved"
    assert board.device_state()["lowPowerMode"] is False


def test_a_level_that_is_nonsense_is_unknown_after_a_while(board, supplies):
    """What was counts for five minutes: one bad reading is neither an empty battery nor a full one."""
    board.device(policy={"debounce": "100ms"})
    supplies.set(supplies.charger, announce=False, online=0)
    supplies.set(supplies.battery, announce=False, status="Discharging")
    board.app("camera")
    login = board.with_login()
    board.start("--trial")
    board.wait_active("camera")
    wait_device(board, batteryLevel=0.8, polled=["battery level"])
    supplies.set(supplies.battery, capacity="5" * 300)
    # Read after it, so that is read by then.
    supplies.set(supplies.charger, online=1)
    wait_device(board, externalPower=True)
    supplies.set(supplies.charger, online=0)
    wait_device(board, batteryLevel=0.8, lowPowerMode=False, externalPower=False)
    skip(board, 301)
    wait_device(board, batteryLevel=None, lowPowerMode=False, externalPower=False)
    wait_last_word(board, "camera", False, None)
    supplies.set(supplies.charger, online="nonsense")
    # A battery that is full does not change by itself.
    supplies.set(supplies.battery, capacity=100, status="Full")
    wait_device(board, batteryLevel=1.0, polled=[])
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

    def is_forgotten():
        # What is said no more counts for five minutes.
        skip(board, 301)
        return is_device(board, batteryLevel=None, externalPower=None)

    wait_until(is_forgotten, "both are unknown after a while")


def test_a_board_without_device_events_goes_on(board, supplies):
    board.app("camera")
    board.start(prepare=without_netlink)
    board.wait_active("camera")
    assert "no device events: udev_monitor_new_from_netlink: Address family not supported by protocol" in board.log()
    device = board.device_state()
    assert (device["externalPower"], device["batteryLevel"]) == (True, 0.8)


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
    holds_for(0.3, lambda: board.device_state() == device, "nothing is heard")
    assert board.describe("camera")["scenePhase"] == "active" and heard(board, "camera") == []
    assert not login.held("handle-power-key") and not login.power_offs()


class Monitor:
    """curfew monitor, as it writes."""

    def __init__(self, board):
        self.path = os.path.join(board.root, "monitor.txt")
        with open(self.path, "wb") as file:
            self.process = subprocess.Popen([boards.CURFEW, "--root", board.root, "monitor"], stdout=file)
        board.others.append(self.process)

    def lines(self):
        """Without their times."""
        with open(self.path, encoding="utf-8") as file:
            return [line.split(maxsplit=1)[1].rstrip("\n") for line in file.read().splitlines() if line.strip()]

    def wait(self, line):
        wait_until(lambda: line in self.lines(), lambda: f"it tells '{line}': {self.lines()}")


def test_status_and_monitor_tell_of_power(board, supplies):
    board.device(policy={"debounce": "100ms"})
    supplies.set(supplies.battery, announce=False, capacity=42, status="Discharging")
    board.app("camera")
    board.start()
    board.wait_active("camera")
    status = curfew(board, "status").splitlines()
    assert status[1] == "  Power   external power, battery 42 %"
    assert [line.split()[0] for line in status[:4]] == ["Device", "Power", "Board", "Limits"] and status[4] == ""
    assert "polled: battery level" in status[2]
    monitor = Monitor(board)
    monitor.wait("device    external power, battery 42 %")
    supplies.set(supplies.charger, online=0)
    monitor.wait("device    on battery")
    supplies.set(supplies.battery, capacity=19)
    monitor.wait("device    battery 19 %")
    monitor.wait("device    low power mode")
    assert curfew(board, "status").splitlines()[1] == "  Power   on battery, battery 19 %, low power mode"
    supplies.set(supplies.charger, online=1)
    monitor.wait("device    external power")
    monitor.wait("device    low power mode is over")
    # Each once, and nothing else of the device.
    told = [line.split("    ", 1)[1] for line in monitor.lines() if line.startswith("device")]
    assert told == [
        "awake", "external power, battery 42 %", "on battery", "battery 19 %", "low power mode", "external power",
        "low power mode is over"]
