"""Our locks at logind outlive the loop: it dies, or another version of it goes on, and a sleep waits for the apps."""

import os
import signal

import family
import pytest
from loops import kill_loop
from upgrades import installed, upgrade
from waiting import PATIENCE, wait_until

assert installed  # a fixture


def replaced(board, how):
    if how == "dies":
        kill_loop(board)
    else:
        upgrade(board)


def lowest(login, what):
    """How many locks of a kind were held at the worst moment, from the first that was taken on."""
    held, least = 0, None
    for event in login.events():
        if event["event"] == "inhibit" and event["what"] == what:
            held += 1
            least = held if least is None else least
        if event["event"] == "closed" and event["what"] == what:
            held -= 1
            least = min(least, held)
    return least


@pytest.mark.parametrize("how", ["dies", "is upgraded"])
def test_no_lock_is_dropped(board, how):
    board.device(policy={"power_key": "sleep"})
    board.app("app")
    login = board.awake("app", arguments=("--no-board",))
    login.wait_held("shutdown")
    for count in (2, 3):
        replaced(board, how)
        login.wait_held("sleep", count)
        login.wait_held("shutdown", count)
        if how == "dies":
            # Two in a row let go of them: see below.
            break
    assert (lowest(login, "sleep"), lowest(login, "shutdown")) == (1, 1), login.events()
    # And the last one is let go of when it has to be.
    login.sleep(True)
    login.wait_closed("sleep", count)
    assert login.held("sleep") == 0


@pytest.mark.parametrize("how", ["dies", "is upgraded"])
def test_a_sleep_waits_for_its_apps(board, how):
    board.app("app", "stop:DidEnterBackground", allowances={"did_enter_background": "4s"})
    login = board.awake("app", delay=30.0)
    number = board.device_state()["sleepId"]
    login.sleep(True)
    board.wait_call("app", "DidEnterBackground")
    pid = board.describe("app")["mainPID"]
    wait_until(lambda: family.state(pid) == "T", "the handler stands still")
    replaced(board, how)
    wait_until(lambda: board.device_state()["sleepState"] == "preparing", board.log)
    assert login.held("sleep") == 1, login.events()
    os.kill(pid, signal.SIGCONT)
    login.wait_closed("sleep")
    assert board.device_state()["sleepId"] == number + 1
    wait_until(lambda: board.is_frozen("app"), board.log)
    assert board.calls("app").count("DidEnterBackground") == 1
    login.sleep(False)
    login.wait_held("sleep", 2)
    wait_until(lambda: board.calls("app")[-1] == "DidBecomeActive", board.log)
    assert board.describe("app")["launches"] == 1


def test_a_shutdown_waits_for_its_apps(board):
    board.app("app", "stop:WillTerminate", allowances={"will_terminate": "4s"})
    login = board.awake("app", delay=30.0)
    login.wait_held("shutdown")
    login.shutdown(True)
    board.wait_call("app", "WillTerminate")
    pid = board.describe("app")["mainPID"]
    wait_until(lambda: family.state(pid) == "T", "the handler stands still")
    kill_loop(board)
    board.answers()
    assert login.held("shutdown") == 1, login.events()
    os.kill(pid, signal.SIGCONT)
    login.wait_closed("shutdown")
    assert board.calls("app").count("WillTerminate") == 1


def test_where_loops_die_one_after_the_other_nothing_is_held_up(board):
    board.app("app")
    login = board.awake("app")
    kill_loop(board)
    login.wait_held("sleep", 2)
    loop = board.loop()
    with family.ends([loop]):
        os.kill(loop, signal.SIGKILL)
    # The next one comes in a second, which a sleep does not wait for.
    login.wait_closed("sleep", 2)
    wait_until(lambda: board.answers() and board.loop() != loop, board.log, PATIENCE)
    login.wait_held("sleep", 3)


def test_a_keeper_that_stands_still_holds_up_no_sleep(board):
    board.app("app")
    login = board.awake("app", delay=30.0)
    os.kill(board.daemon.pid, signal.SIGSTOP)
    try:
        login.sleep(True)
        login.wait_closed("sleep")
        assert login.held("sleep") == 0
    finally:
        os.kill(board.daemon.pid, signal.SIGCONT)
