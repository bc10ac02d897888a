"""A command waits for what it asked for, and another loop comes meanwhile: it is answered by that one."""

import os
import signal
import subprocess

import board as boards
import family
import pytest
from loops import kill_loop
from upgrades import installed, upgrade
from waiting import wait_until

assert installed  # a fixture

COMMANDS = {
    "launch": ("DidFinishLaunching", "launch", "camera"),
    "background": ("DidEnterBackground", "background", "camera"),
    "terminate": ("WillTerminate", "terminate", "camera"),
    "sleep": ("DidEnterBackground", "sleep"),
}


def begin(board, *arguments):
    return subprocess.Popen([boards.CURFEW, "--root", board.root, *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def end_in(board, tool):
    answer, _ = tool.communicate(timeout=boards.PATIENCE)
    return tool.returncode, answer


def stands_in(board, handler):
    board.wait_call("camera", handler)
    pid = board.describe("camera")["mainPID"]
    wait_until(lambda: family.state(pid) == "T", "the handler stands still")
    return pid


@pytest.mark.parametrize("replaced", [kill_loop, upgrade], ids=["dies", "upgraded"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_under_way(board, command, replaced):
    handler, *arguments = COMMANDS[command]
    board.app("camera", f"stop:{handler}", launch="manual" if command == "launch" else "boot")
    board.start()
    if command != "launch":
        board.wait_active("camera")
    tool = begin(board, *arguments)
    pid = stands_in(board, handler)
    replaced(board)
    os.kill(pid, signal.SIGCONT)
    assert end_in(board, tool)[0] == 0
    assert board.calls("camera").count(handler) == 1
    if command == "sleep":
        board.wait_sleep("asleep")


def test_an_app_that_ended_as_it_was_to_before_the_next_loop_was_asked(board):
    board.app("camera", "stop:WillTerminate")
    board.start()
    board.wait_active("camera")
    tool = begin(board, "terminate", "camera")
    pid = stands_in(board, "WillTerminate")
    os.kill(tool.pid, signal.SIGSTOP)
    kill_loop(board)
    os.kill(pid, signal.SIGCONT)
    board.wait_termination("camera")
    os.kill(tool.pid, signal.SIGCONT)
    assert end_in(board, tool) == (0, "camera has ended\n")


def test_a_daemon_that_has_ended(board):
    board.app("camera", "stop:DidEnterBackground")
    board.start()
    board.wait_active("camera")
    tool = begin(board, "background", "camera")
    stands_in(board, "DidEnterBackground")
    board.kill()
    code, answer = end_in(board, tool)
    assert code == 4 and "curfewd ended" in answer
