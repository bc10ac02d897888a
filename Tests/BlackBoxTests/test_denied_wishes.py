"""What operators wish in the moment that the board goes to sleep or down: each answer is true, and what is denied is as
if it had never been asked for."""

import subprocess

import board as boards
import pytest
from waiting import wait_until

CONTROL = "io.curfew.Control."


def denial(wire):
    return wire.receive()["parameters"]["reason"]


@pytest.mark.parametrize("edge", ["sleep", "shutdown"])
def test_a_launch_that_has_begun_is_answered_at_its_end(board, edge):
    board.app("camera", "slow:DidFinishLaunching:1", launch="manual", start="background")
    login = board.with_login(delay=5)
    board.start()
    login.wait_held("sleep")
    login.wait_held("shutdown")
    tool = subprocess.Popen(
        [boards.CURFEW, "--root", board.root, "launch", "--background", "camera"], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True)
    board.wait_call("camera", "DidFinishLaunching")
    getattr(login, edge)(True)
    login.wait_closed(edge)
    getattr(login, edge)(False)
    answer, _ = tool.communicate(timeout=boards.PATIENCE)
    if edge == "sleep":
        assert (tool.returncode, answer) == (0, "camera is running\n")
        assert board.describe("camera")["launches"] == 1
    else:
        assert tool.returncode == 1
        assert "camera ended while it was being launched" in answer
        # It is back, as the shutdown was called off.
        wait_until(lambda: board.describe("camera")["launches"] == 2, "camera comes back")


def test_a_launch_that_waits_is_denied_and_never_comes(board):
    board.app("server", "slow:DidFinishLaunching:1", launch="manual")
    board.app("camera", launch="manual", after=["server"])
    login = board.with_login(delay=5)
    board.start()
    login.wait_held("sleep")
    with board.wire() as server, board.wire() as camera:
        server.send(CONTROL + "Launch", {"app": "server"})
        board.wait_call("server", "DidFinishLaunching")
        camera.send(CONTROL + "Launch", {"app": "camera"})
        login.sleep(True)
        assert denial(camera) == "sleeping"
        login.wait_closed("sleep")
        login.sleep(False)
        assert server.reply() == {}
    # It may have been answered on the way to sleep, in background.
    board.wait_active("server")
    assert board.describe("camera")["launches"] == 0


def test_an_app_stays_in_front_when_all_that_moved_it_is_denied(board):
    board.app("camera", "slow:WillResignActive:1")
    login = board.with_login(delay=5)
    board.start()
    board.wait_active("camera")
    login.wait_held("sleep")
    with board.wire() as back, board.wire() as front:
        back.send(CONTROL + "Background", {"app": "camera"})
        board.wait_call("camera", "WillResignActive")
        front.send(CONTROL + "Activate", {"app": "camera"})
        assert denial(back) == "another request changed its phase"
        login.sleep(True)
        assert denial(front) == "sleeping"
    login.wait_closed("sleep")
    login.sleep(False)
    board.wait_active("camera")


def test_a_sleep_that_is_called_off_is_not_told_as_slept(board):
    board.app("slow", "slow:DidEnterBackground:1")
    board.start()
    board.wait_active("slow")
    tool = subprocess.Popen(
        [boards.CURFEW, "--root", board.root, "sleep"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    board.wait_call("slow", "DidEnterBackground")
    board.call("PrepareForSleep", start=False, kind=None)
    answer, _ = tool.communicate(timeout=boards.PATIENCE)
    assert (tool.returncode, answer) == (1, "curfew: the device was not put to sleep: the sleep was called off\n")
    board.wait_active("slow")
