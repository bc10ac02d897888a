"""Where the edges of a sleep come from beside logind's signals, and what is not done while one lasts."""

import threading

import cgroups
import pytest
from waiting import holds_for, wait_until

LAUNCH = ["DidFinishLaunching", "DidBecomeActive"]


class Background(threading.Thread):
    """A call that takes its time, made beside the test."""

    def __init__(self, act):
        super().__init__(daemon=True)
        self.act = act
        self.answer = None
        self.start()

    def run(self):
        try:
            self.answer = self.act()
        except Exception as error:  # It is the test that judges it.
            self.answer = error

    def result(self):
        self.join(30)
        assert not self.is_alive(), "the call was not answered"
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_a_logical_sleep_needs_no_logind(board):
    board.app("prompt")
    board.app("hanging", "hang:DidEnterBackground", allowances={"did_enter_background": "400ms"})
    board.start()
    board.wait_active("prompt", "hanging")
    answer = board.call("PrepareForSleep", start=True, kind=None)
    assert answer == {"sleepId": 1, "killed": ["hanging"]}
    assert board.device_state()["sleepState"] == "asleep"
    assert board.is_frozen("prompt")
    assert board.describe("prompt")["taskState"] == "suspended"
    # A second start joins it.
    assert board.call("PrepareForSleep", start=True, kind=None)["sleepId"] == 1
    assert board.call("PrepareForSleep", start=False, kind=None)["sleepId"] == 1
    board.wait_active("prompt", "hanging")
    assert board.calls("prompt") == LAUNCH + [
        "WillResignActive", "DidEnterBackground", "WillEnterForeground", "DidBecomeActive"]
    assert board.call("PrepareForSleep", start=True, kind=None)["sleepId"] == 2


def test_the_allowance_without_logind_is_the_device_s_own(board):
    board.device(sleep={"margin": "300ms", "allowance_without_logind": "2s"})
    board.app("app", allowances={"did_enter_background": "20s"})
    board.start()
    board.wait_active("app")
    board.call("PrepareForSleep", start=True, kind=None)
    assert 0.5 < board.wait_call("app", "DidEnterBackground")["parameters"]["deadline"] <= 1.7


def test_the_hook_joins_the_sleep_that_logind_announced(board):
    board.app("slow", "slow:DidEnterBackground:0.6")
    login = board.with_login()
    board.start()
    board.wait_active("slow")
    login.wait_held("sleep")
    login.sleep(True)
    board.wait_call("slow", "DidEnterBackground")
    assert board.call("PrepareForSleep", start=True, kind="suspend") == {"sleepId": 1, "killed": []}
    closing = login.wait_closed("sleep")
    assert closing["groups"] == {"slow.1": True}
    assert board.calls("slow").count("DidEnterBackground") == 1


def test_logind_joins_the_sleep_that_the_hook_began(board):
    board.app("slow", "slow:DidEnterBackground:0.7")
    board.app("hanging", "hang:DidEnterBackground", allowances={"did_enter_background": "900ms"})
    login = board.with_login(delay=4)
    board.start()
    board.wait_active("slow", "hanging")
    login.wait_held("sleep")
    hook = Background(lambda: board.call("PrepareForSleep", start=True, kind="suspend"))
    board.wait_call("slow", "DidEnterBackground")
    signalled = login.sleep(True)
    assert hook.result() == {"sleepId": 1, "killed": ["hanging"]}
    assert login.wait_closed("sleep")["t"] - signalled < 4
    assert board.calls("slow").count("DidEnterBackground") == 1
    login.sleep(False)
    board.wait_active("slow", "hanging")
    login.wait_held("sleep", 2)


def test_a_logical_sleep_gives_way_to_a_real_one(board):
    board.app("app")
    login = board.with_login()
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    board.call("PrepareForSleep", start=True, kind=None)
    holds_for(0.2, lambda: login.held("sleep") == 1, "a logical sleep keeps logind's lock")
    signalled = login.sleep(True)
    assert login.wait_closed("sleep")["t"] - signalled < 2
    login.sleep(False)
    board.wait_active("app")
    login.wait_held("sleep", 2)


def test_nothing_is_launched_while_asleep(board):
    board.app("running")
    board.app("other", launch="manual")
    board.start()
    board.wait_active("running")
    board.call("PrepareForSleep", start=True, kind=None)
    for method, parameters in (("Launch", {"background": None}), ("Launch", {"background": True}), ("Activate", {})):
        error = board.error(method, app="other", **parameters)
        assert error.name == "io.curfew.Control.Denied"
        assert error.parameters == {"reason": "sleeping", "kind": "sleeping"}
    assert board.error("Activate", app="running").parameters == {"reason": "sleeping", "kind": "sleeping"}
    assert board.is_frozen("running")
    assert board.describe("other")["launches"] == 0
    # Ending one is no launch.
    board.call("Terminate", app="running", force=None)
    assert board.describe("running")["taskState"] == "notRunning"
    board.call("PrepareForSleep", start=False, kind=None)
    board.call("Launch", app="other", background=None)
    assert board.describe("other")["taskState"] == "running"
    # Terminated by an operator: it stays down.
    assert board.describe("running")["taskState"] == "notRunning"
    assert not [note for note in board.notes("running", "call") if note["handler"] == "WillTerminate"]


def test_restarts_wait_for_the_end_of_the_sleep(board):
    board.app("crashing", "crash:DidEnterBackground", restart="always", restart_delay="1ms")
    board.app("leaving", "exit:WillResignActive:3", restart_delay="1ms")
    board.start()
    board.wait_active("crashing", "leaving")
    answer = board.call("PrepareForSleep", start=True, kind=None)
    assert answer["sleepId"] == 1
    assert board.wait_termination("crashing")["namespace"] == "crash"
    assert board.wait_termination("leaving")["namespace"] == "exit"
    holds_for(0.5, lambda: board.describe("crashing")["launches"] == 1, "it is not launched in the sleep")
    assert board.describe("leaving")["launches"] == 1
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_app("crashing", launches=2, taskState="running")
    board.wait_app("leaving", launches=2, taskState="running")


def test_killed_while_frozen_it_comes_back_after(board):
    board.app("app", restart_delay="1ms")
    board.start()
    board.wait_active("app")
    board.call("PrepareForSleep", start=True, kind=None)
    assert board.is_frozen("app")
    board.signal("app", 9)
    assert board.wait_termination("app")["namespace"] == "crash"
    holds_for(0.3, lambda: board.describe("app")["launches"] == 1, "it is not launched in the sleep")
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_active("app")
    assert not board.is_frozen("app")
    assert board.describe("app")["launches"] == 2


@pytest.mark.parametrize("is_still_sleeping", [True, False])
def test_logind_restarts_during_a_sleep(board, is_still_sleeping):
    board.app("app")
    login = board.with_login()
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    login.sleep(True)
    login.wait_closed("sleep")
    board.wait_sleep("asleep")
    login.kill_manager()
    board.wait_log("logind")
    login.start_manager(sleeping=is_still_sleeping)
    if is_still_sleeping:
        # logind has it from before: a lock for the shutdown, none for the sleep under way.
        login.wait_held("shutdown", 2)
        holds_for(0.3, lambda: board.device_state()["sleepState"] == "asleep", "it sleeps on")
        assert login.held("sleep") == 0
        login.sleep(False)
    board.wait_active("app")
    login.wait_held("sleep", 2)


def test_the_bus_vanishes_while_a_sleep_is_prepared(board):
    board.app("slow", "slow:DidEnterBackground:0.8")
    board.app("prompt")
    login = board.with_login()
    board.start()
    board.wait_active("slow", "prompt")
    login.wait_held("sleep")
    login.sleep(True)
    board.wait_call("slow", "DidEnterBackground")
    login.kill_bus()
    board.wait_sleep("asleep")
    assert board.is_frozen("slow") and board.is_frozen("prompt")
    login.start_bus()
    login.start_manager(sleeping=False)
    board.wait_active("slow", "prompt")
    login.wait_held("sleep", 2)
    assert not board.terminations()


def test_the_bus_vanishes_while_asleep_and_everything_else_goes_on(board):
    board.app("app")
    login = board.with_login()
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    login.sleep(True)
    login.wait_closed("sleep")
    board.wait_sleep("asleep")
    login.kill_bus()
    board.wait_log("no logind")
    assert board.describe("app")["taskState"] == "suspended"
    # An operator can wake the board by hand.
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_active("app")


def test_the_daemon_starts_while_a_sleep_is_prepared(board):
    board.app("app")
    board.app("manual", launch="manual")
    login = board.with_login(sleeping=True)
    board.start()
    board.wait_sleep("asleep")
    login.wait_held("shutdown")
    assert login.held("sleep") == 0
    assert board.error("Launch", app="manual", background=None).parameters == {"reason": "sleeping", "kind": "sleeping"}
    # It may be the end of a sleep that is over: no app is frozen for that.
    running = cgroups.instances(board.apps_group)
    assert not any(cgroups.events(group)["frozen"] for group in running.values())
    login.sleep(False)
    board.wait_active("app")
    login.wait_held("sleep")
    login.sleep(True)
    login.wait_closed("sleep")


def test_logind_that_refuses_the_lock_is_named_and_followed(board):
    board.app("app")
    login = board.with_login(refuse=["sleep"])
    board.start()
    board.wait_active("app")
    wait_until(lambda: login.events("refused"), "a lock was asked for")
    board.wait_log("logind refused")
    login.sleep(True)
    board.wait_sleep("asleep")
    assert board.is_frozen("app")
    login.sleep(False)
    board.wait_active("app")


def test_a_lost_beginning_is_found_when_the_lock_is_taken(board):
    """Between a reading of the property and the lock an edge can be missed: the property is read again."""
    board.app("app")
    login = board.with_login()
    login.set_sleeping(False)
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    login.kill_manager()
    login.start_manager(sleeping=True)
    board.wait_sleep("asleep")
    assert board.is_frozen("app")
    login.sleep(False)
    board.wait_active("app")


def test_a_refusal_that_is_to_be_expected_is_no_warning(board):
    """The board is awake again by the clocks' word, and logind has still to say so."""
    board.app("app")
    login = board.with_login()
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    login.sleep(True)
    login.wait_closed("sleep")
    board.call("PrepareForSleep", start=False, kind="suspend")
    board.wait_active("app")
    login.sleep(False)
    login.wait_held("sleep", 2)
    assert not [line for line in board.log().splitlines() if line.startswith("warning") and "logind" in line]
