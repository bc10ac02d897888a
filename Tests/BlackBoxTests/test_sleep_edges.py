"""Where the edges of a sleep come from beside logind's signals, and what is not done while one lasts."""

import time

import cgroups
from waiting import holds_for, wait_until

LAUNCH = ["DidFinishLaunching", "DidBecomeActive"]


def test_a_logical_sleep_needs_no_logind(board):
    board.device(sleep={"margin": "300ms", "allowance_without_logind": "2s"})
    board.app("prompt", allowances={"did_enter_background": "20s"})
    board.app("hanging", "hang:DidEnterBackground", allowances={"did_enter_background": "400ms"})
    board.start()
    board.wait_active("prompt", "hanging")
    answer = board.call("PrepareForSleep", start=True, kind=None)
    assert answer == {"sleepId": 1, "killed": ["hanging"]}
    assert board.device_state()["sleepState"] == "asleep"
    assert board.is_frozen("prompt")
    assert board.describe("prompt")["taskState"] == "suspended"
    # The allowance is the device's own, but for its margin.
    assert 0.5 < board.wait_call("prompt", "DidEnterBackground")["parameters"]["deadline"] <= 1.7
    # A second start joins it.
    assert board.call("PrepareForSleep", start=True, kind=None)["sleepId"] == 1
    assert board.call("PrepareForSleep", start=False, kind=None)["sleepId"] == 1
    board.wait_active("prompt", "hanging")
    assert board.calls("prompt") == LAUNCH + [
        "WillResignActive", "DidEnterBackground", "WillEnterForeground", "DidBecomeActive"]
    assert board.call("PrepareForSleep", start=True, kind=None)["sleepId"] == 2


def test_logind_joins_the_sleep_that_the_hook_began(board):
    board.app("slow", "slow:DidEnterBackground:0.7")
    board.app("hanging", "hang:DidEnterBackground", allowances={"did_enter_background": "900ms"})
    login = board.awake("slow", "hanging", delay=4)
    with board.wire() as hook:
        hook.send("io.curfew.Control.PrepareForSleep", {"start": True, "kind": "suspend"})
        board.wait_call("slow", "DidEnterBackground")
        signalled = login.sleep(True)
        assert hook.reply() == {"sleepId": 1, "killed": ["hanging"]}
    assert login.wait_closed("sleep")["t"] - signalled < 4
    assert board.calls("slow").count("DidEnterBackground") == 1
    login.sleep(False)
    board.wait_active("slow", "hanging")
    login.wait_held("sleep", 2)


def test_killed_while_frozen_it_comes_back_after(board):
    board.app("app", restart_delay="1ms")
    board.start()
    board.wait_active("app")
    board.call("PrepareForSleep", start=True, kind=None)
    assert board.is_frozen("app")
    board.signal("app", 9)
    assert board.wait_termination("app")["namespace"] == "crash"
    holds_for(0.2, lambda: board.describe("app")["launches"] == 1, "it is not launched in the sleep")
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_active("app")
    assert not board.is_frozen("app")
    assert board.describe("app")["launches"] == 2


def test_logind_restarts_during_a_sleep(board):
    board.app("app")
    login = board.awake("app")
    login.sleep(True)
    login.wait_closed("sleep")
    board.wait_sleep("asleep")
    login.kill_manager()
    board.wait_log("no logind")
    login.start_manager(sleeping=True)
    # logind has it from before: a lock for the shutdown, none for the sleep under way.
    login.wait_held("shutdown", 2)
    holds_for(0.2, lambda: board.device_state()["sleepState"] == "asleep", "it sleeps on")
    assert login.held("sleep") == 0
    login.sleep(False)
    board.wait_active("app")
    login.wait_held("sleep", 2)


def test_the_bus_vanishes_while_a_sleep_is_prepared(board):
    board.app("slow", "slow:DidEnterBackground:0.8")
    board.app("prompt")
    login = board.awake("slow", "prompt")
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


def test_logind_that_refuses_for_ever_is_asked_every_half_minute_and_named_once(board):
    board.app("app")
    login = board.with_login(refuse=["sleep"])
    board.start("--trial")
    board.wait_active("app")
    # At once a second time: what it was refused for may be over.
    board.wait_log("logind refused", 2)
    for number in range(3, 6):
        holds_for(0.3, lambda: len(login.events("refused")) == number - 1, login.events)
        with board.wire() as wire:
            wire.call("io.curfew.Trial.Skip", {"seconds": 31})
        board.wait_log("logind refused", number)
    assert refusals(board) == ["warning", *["debug"] * 4]
    # A refusal after a grant is news.
    login.refuse()
    with board.wire() as wire:
        wire.call("io.curfew.Trial.Skip", {"seconds": 31})
    login.wait_held("sleep")
    login.refuse("sleep")
    login.sleep(True)
    login.wait_closed("sleep")
    login.sleep(False)
    board.wait_log("logind refused", 6)
    assert refusals(board)[5] == "warning"


def refusals(board):
    return [line.split(":")[0] for line in board.log().splitlines() if "logind refused" in line]


def test_a_refusal_that_is_to_be_expected_is_no_warning(board):
    """The board is awake again by the hook's word, and logind has still to say so."""
    board.app("app")
    login = board.awake("app", arguments=["--trial"])
    login.sleep(True)
    login.wait_closed("sleep")
    board.call("PrepareForSleep", start=False, kind="suspend")
    board.wait_active("app")
    # When logind says nothing for half a minute, it is asked for the lock.
    with board.wire() as wire:
        wire.call("io.curfew.Trial.Skip", {"seconds": 31})
    board.wait_log("debug: logind refused a sleep lock")
    login.sleep(False)
    login.wait_held("sleep", 2)
    assert not [line for line in board.log().splitlines() if line.startswith("warning") and "logind" in line]


def slept():
    """How long this machine has, in nanoseconds."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def test_a_successor_takes_the_note_of_a_sleep(board):
    note = board.run / "announced"
    note.parent.mkdir(parents=True)
    note.write_text("x\n")
    board.app("app")
    login = board.awake("app")
    # What is no note is none, and nothing is said of it.
    assert not note.exists()
    assert not [line for line in board.log().splitlines() if "announced" in line and not line.startswith("debug")]
    login.sleep(True)
    login.wait_closed("sleep")
    assert abs(int(note.read_text()) - slept()) < 100_000_000
    board.kill()
    login.set_sleeping(False)
    assert note.exists()
    board.start()
    board.wait_active("app")
    assert not note.exists()
    login.wait_held("sleep", 2)
    login.sleep(True)
    login.wait_closed("sleep", 2)
    assert note.exists()
    login.sleep(False)
    board.wait_active("app")
    wait_until(lambda: not note.exists(), "it is gone with the sleep")
