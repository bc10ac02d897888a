"""What people see of a board that umockdev plays: curfew status, monitor and report."""

import os
import subprocess

import board as boards
import hardware
import pytest
from waiting import wait_until

pytestmark = pytest.mark.skipif(hardware.missing() is not None, reason=hardware.missing() or "")


def curfew(board, *arguments):
    return subprocess.run(
        [boards.CURFEW, "--root", board.root, *arguments], capture_output=True, text=True, timeout=30,
        check=True).stdout


@pytest.fixture
def played(board):
    """A board on external power, with a battery."""
    played = board.with_hardware()
    played.charger = played.add("power_supply", "AC", type="Mains", online=1)
    played.battery = played.add("power_supply", "BAT0", type="Battery", present=1, capacity=42, status="Discharging")
    board.device(policy={"debounce": "100ms"})
    board.app("camera")
    board.start()
    board.wait_active("camera")
    return played


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


def test_status_and_monitor_tell_of_power(board, played):
    status = curfew(board, "status").splitlines()
    assert status[1] == "  Power   external power, battery 42 %"
    assert [line.split()[0] for line in status[:4]] == ["Device", "Power", "Board", "Limits"] and status[4] == ""
    assert "polled: battery level" in status[2]
    monitor = Monitor(board)
    monitor.wait("device    external power, battery 42 %")
    played.set(played.charger, online=0)
    monitor.wait("device    on battery")
    played.set(played.battery, capacity=19)
    monitor.wait("device    battery 19 %")
    monitor.wait("device    low power mode")
    assert curfew(board, "status").splitlines()[1] == "  Power   on battery, battery 19 %, low power mode"
    played.set(played.charger, online=1)
    monitor.wait("device    external power")
    monitor.wait("device    low power mode is over")
    # Each once, and nothing else of the device.
    told = [line.split("    ", 1)[1] for line in monitor.lines() if line.startswith("device")]
    assert told == [
        "awake", "external power, battery 42 %", "on battery", "battery 19 %", "low power mode", "external power",
        "low power mode is over"]


def test_an_app_that_ends_with_the_battery_has_a_report_that_says_so(board, played):
    played.set(played.charger, online=0)
    played.set(played.battery, capacity=3)
    end = board.wait_termination("camera")
    assert end["namespace"] == "lowBattery"
    account = curfew(board, "report", "--last")
    assert "camera was ended: the battery was critical, and the board was switched off" in account
    assert "the battery is at 3 %" in account and "battery-critical" in account
