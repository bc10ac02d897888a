"""A signal ends the loop: the one after it goes on where that was, and starts what ran again."""

import os
import signal
import struct

import family
import pytest
from waiting import holds_for, wait_until


def kill_loop(board):
    """Returns when there is another."""
    loop = board.loop()
    with family.ends([loop]):
        os.kill(loop, signal.SIGKILL)
    wait_until(lambda: board.answers() and board.loop() != loop, board.log)


def test_what_ran_goes_on_where_it_was(board):
    board.app("boot", restart="never")
    board.app("hand", launch="manual")
    board.app("back")
    board.app("ended")
    board.app("never", launch="manual")
    board.start()
    board.wait_active("boot", "back", "ended")
    board.call("Launch", app="hand", background=None)
    board.call("Background", app="back")
    board.call("Terminate", app="ended")
    board.call("SetLowPowerMode", enabled=True)
    before = board.describe("ended")["lastTermination"]
    kill_loop(board)
    board.wait_active("boot", "hand")
    board.wait_app("back", scenePhase="background")
    for name in ("boot", "hand", "back"):
        app = board.describe(name)
        assert (app["launches"], app["lastTermination"]["reason"]) == (2, "daemonDied"), app
        assert len(board.terminations(name)) == 1
        assert len(board.notes(name, "start")) == 2
    ended = board.describe("ended")
    assert (ended["taskState"], ended["launches"], ended["lastTermination"]) == ("notRunning", 1, before)
    assert board.describe("never")["launches"] == 0
    assert board.device_state()["lowPowerMode"] is True
    assert len(board.instances()) == 3


def test_ends_are_counted_on_and_that_of_the_loop_is_none(board):
    board.app("app", restart_limit=2, restart_delay="1ms", restart_reset="1h")
    board.start()
    board.wait_active("app")
    board.signal("app", signal.SIGKILL)
    board.wait_app("app", launches=2, scenePhase="active")
    kill_loop(board)
    board.wait_app("app", launches=3, scenePhase="active")
    assert not board.describe("app")["leftDown"]
    board.signal("app", signal.SIGKILL)
    wait_until(lambda: board.describe("app")["leftDown"], board.log)
    kill_loop(board)
    holds_for(0.2, lambda: board.describe("app")["taskState"] == "notRunning", "it is left down")


def test_a_loop_that_dies_a_fourth_time_in_a_row_is_followed_by_one_that_begins_anew(board):
    board.app("boot")
    board.app("hand", launch="manual")
    board.start()
    board.wait_active("boot")
    board.call("Launch", app="hand", background=None)
    for launches in (2, 3, 4):
        kill_loop(board)
        board.wait_app("hand", scenePhase="active", launches=launches)
    kill_loop(board)
    board.wait_app("boot", scenePhase="active", launches=1)
    assert board.describe("hand")["taskState"] == "notRunning"
    board.wait_log("so do the apps of the boot")
    assert board.log().count("so do the apps that ran") == 3
    assert board.terminations("hand")[-1]["reason"] == "daemonDied"
    board.call("Launch", app="hand", background=None)
    kill_loop(board)
    board.wait_app("hand", scenePhase="active", launches=2)


def kept_state(board):
    """The memory of the state, for writing; where the last write lies, and its length."""
    folder = f"/proc/{board.daemon.pid}/fd"
    [name] = [name for name in os.listdir(folder) if os.readlink(f"{folder}/{name}").startswith("/memfd:curfewd")]
    memory = open(f"{folder}/{name}", "r+b", buffering=0)
    _, number, length = struct.unpack("<3Q", os.pread(memory.fileno(), 24, 0))
    return memory, 4096 + number % 2 * (32 << 20), length


@pytest.mark.parametrize("place, byte, is_read", [
    (0, 255, True), (23, 255, False), (40, None, False), (-1, None, False)])
def test_a_state_that_is_damaged_is_not_read(board, place, byte, is_read):
    """The count of the loops that read it a minute ago and more; that of last ends, the core's."""
    board.app("boot")
    board.app("hand", launch="manual")
    board.start()
    board.wait_active("boot")
    board.call("Launch", app="hand", background=None)
    board.wait_active("hand")
    loop = board.loop()
    os.kill(loop, signal.SIGSTOP)
    memory, begin, length = kept_state(board)
    with memory, family.ends([loop]):
        at = begin + place % length
        wrong = [byte if byte is not None else os.pread(memory.fileno(), 1, at)[0] ^ 1]
        os.pwrite(memory.fileno(), bytes(wrong), at)
        os.kill(loop, signal.SIGKILL)
    wait_until(lambda: board.answers() and board.loop() != loop, board.log)
    board.wait_app("boot", scenePhase="active", launches=2 if is_read else 1)
    assert board.describe("hand")["taskState"] == ("running" if is_read else "notRunning")
    kill_loop(board)
    board.wait_app("boot", scenePhase="active", launches=3 if is_read else 2)


def test_a_sleep_goes_on_and_is_ended_by_logind(board):
    login = board.with_login()
    board.app("app")
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    login.sleep(True)
    login.wait_closed("sleep")
    number = board.device_state()["sleepId"]
    kill_loop(board)
    wait_until(lambda: board.device_state()["sleepState"] == "asleep", board.device_state)
    assert board.device_state()["sleepId"] == number
    assert board.describe("app")["scenePhase"] != "active"
    login.sleep(False)
    login.wait_held("sleep", 2)
    board.wait_app("app", scenePhase="active", launches=2)
    login.sleep(True)
    login.wait_closed("sleep", 2)
    assert board.device_state()["sleepId"] == number + 1
    login.sleep(False)


def test_an_app_that_was_taken_out_meanwhile_is_gone(board):
    board.app("stays")
    board.app("goes")
    board.start()
    board.wait_active("stays", "goes")
    (board.apps_folder / "goes.toml").unlink()
    board.app("new")
    kill_loop(board)
    board.wait_active("stays", "new")
    assert [app["name"] for app in board.call("List")["apps"]] == ["new", "stays"]
    assert board.describe("new")["launches"] == 1
    holds_for(0.2, lambda: len(board.instances()) == 2, "it does not run")


def test_who_waits_for_an_answer_hears_that_the_loop_has_gone_and_the_wish_stands(board):
    board.app("app", "hang:DidEnterBackground", allowances={"did_enter_background": "10s"})
    board.start()
    board.wait_active("app")
    with board.wire() as wire:
        wire.send("io.curfew.Control.Background", {"app": "app"})
        board.wait_call("app", "DidEnterBackground")
        kill_loop(board)
        assert wire.is_closed()
    board.wait_app("app", scenePhase="background", launches=2)
