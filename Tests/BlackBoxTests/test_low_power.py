"""Low power mode by hand: `curfew low-power`, and what apps hear of it."""

import json
import os
import subprocess

import board as boards
import pytest

AUTOMATIC = {"lowPowerMode": None}


def curfew(board, *arguments, code=0):
    ended = subprocess.run(
        [boards.CURFEW, "--root", board.root, *arguments], capture_output=True, text=True, timeout=30)
    assert ended.returncode == code, ended.stdout + ended.stderr
    return ended.stderr if code else ended.stdout


def preferences(board):
    return json.loads((board.state / "preferences.json").read_text())


@pytest.fixture
def quiet(board):
    """A board without conditions of its own: low power mode is the user's alone."""
    board.app("app")
    board.start()
    board.wait_active("app")
    return board


def test_on_off_and_automatic(quiet):
    assert curfew(quiet, "low-power", "on").startswith("low power mode is on, until you say otherwise")
    note = quiet.wait_call("app", "PowerStateDidChange")
    assert note["parameters"]["lowPowerMode"] is True
    assert quiet.device_state()["lowPowerMode"] is True
    assert "low power mode" in curfew(quiet, "status")
    assert preferences(quiet) == {"lowPowerMode": True}
    # What was changed a moment ago turns back after `debounce`.
    out = json.loads(curfew(quiet, "low-power", "off", "--json"))
    assert out["setting"] == "off"
    assert quiet.wait_call("app", "PowerStateDidChange", 2)["parameters"]["lowPowerMode"] is False
    assert preferences(quiet) == {"lowPowerMode": False}
    assert curfew(quiet, "low-power", "auto") == "low power mode is automatic, and off now\n"
    assert preferences(quiet) == AUTOMATIC


def test_it_lasts_over_a_restart(quiet):
    curfew(quiet, "low-power", "on")
    quiet.stop()
    quiet.start()
    quiet.wait_active("app")
    assert quiet.device_state()["lowPowerMode"] is True
    assert "low power mode" in curfew(quiet, "status")


def test_what_cannot_be_kept_is_refused(quiet):
    # In place of the file.
    (quiet.state / "preferences.json").mkdir(parents=True)
    (quiet.state / "preferences.json" / "x").touch()
    error = curfew(quiet, "low-power", "on", code=1)
    assert error.startswith("curfew: the device was not set to low power mode 'on': ") and error.count("\n") == 1
    assert quiet.device_state()["lowPowerMode"] is False


def test_without_a_daemon_it_is_4(board):
    assert not os.path.exists(board.control_socket)
    assert "curfewd is not running" in curfew(board, "low-power", "on", code=4)


def test_wrong_usage_is_2(board):
    curfew(board, "low-power", code=2)
    curfew(board, "low-power", "maybe", code=2)
