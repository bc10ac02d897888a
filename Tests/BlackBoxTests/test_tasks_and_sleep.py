"""Background tasks and sleep: what keeps the board awake, and what is frozen with it."""

import os
import subprocess
import time

import family
import pytest
from waiting import holds_for, wait_until
from wire import VarlinkError

BLOCK = "idle:sleep"


def start(board, weak=True, **background):
    """An app in front with `lend`; its connection, and the login manager. weak: one that knows such locks."""
    board.app("camera", "lend", background=background)
    login = board.awake("camera", weak=weak)
    return board.borrow("camera"), login


@pytest.mark.parametrize("weak, mode", [(True, "block-weak"), (False, "block")])
def test_keep_awake_holds_the_block_lock_while_a_task_is_held(board, weak, mode):
    """Root may put the board to sleep all the same: by the mode, or by what `block` meant before there was another."""
    wire, login = start(board, weak, task_policy="keep-awake")
    assert login.held(BLOCK) == 0
    first = wire.begin("first")
    login.wait_held(BLOCK)
    [lock] = login.events("inhibit", what=BLOCK)
    assert lock["mode"] == mode
    second = wire.begin("second", keepAwake=True)
    wire.end(first)
    # In background as in front.
    board.call("Background", app="camera")
    assert login.held(BLOCK) == 1
    wire.end(second)
    login.wait_closed(BLOCK)
    assert len(login.events("inhibit", what=BLOCK)) == 1


def test_keep_awake_drops_the_lock_with_its_budget(board):
    wire, login = start(board, task_policy="keep-awake", task_budget="1s")
    begun = time.monotonic()
    task = wire.begin()
    closing = login.wait_closed(BLOCK)
    assert 0.9 < closing["t"] - begun < 5
    # The task goes on, in front, and another one cannot keep the board awake.
    assert len(board.call("Describe", app="camera")["tasks"]) == 1
    assert "until it has slept" in wire.begin_refused(keepAwake=True).parameters["reason"]
    wire.end(task)
    assert board.terminations() == []
    board.wait_log("have kept the board awake for 1 s")


def test_opportunistic_is_frozen_over_a_sleep_and_goes_on_with_the_same_budget(board):
    board.device(sleep={"task_grace": "300ms"})
    wire, login = start(board)
    task = wire.begin()
    board.call("Background", app="camera")
    signalled = login.sleep(True)
    closing = login.wait_closed("sleep")
    board.wait_sleep("asleep")
    # The release was put off by the grace, and by no more.
    assert 0.3 <= closing["t"] - signalled < 2
    assert list(closing["groups"].values()) == [True]
    left = board.describe("camera")["backgroundTimeRemaining"]
    assert 590 < left < 600
    holds_for(0.2, lambda: board.describe("camera")["backgroundTimeRemaining"] == left, "the budget stands still")
    login.sleep(False)
    board.wait_app("camera", taskState="running", scenePhase="background")
    assert left - 0.5 < wire.remaining() <= left
    wire.end(task)
    board.wait_app("camera", taskState="suspended")


def pidfds(board):
    return sum("pidfd" in name for name in family.descriptors(board.loop()))


def test_nothing_is_kept_of_the_tasks_of_an_app_that_was_removed(board):
    board.app("camera", "lend", "child")
    board.start()
    board.wait_active("camera")
    child = board.wait_note("camera", "child")["pid"]
    wire = board.borrow("camera")
    for _ in range(5):
        wire.begin(processIdentifier=child)
    assert pidfds(board) >= 5
    os.unlink(board.apps_folder / "camera.toml")
    board.call("Reload")
    wait_until(lambda: "camera" not in board.list(), "the app is gone")
    wire.close()
    wait_until(lambda: pidfds(board) == 0, lambda: f"nothing is held: {pidfds(board)} processes")


def trial(board, method, **parameters):
    with board.wire() as wire:
        return wire.call(f"io.curfew.Trial.{method}", parameters)


def adopt_error(board, name, pid):
    return board.error("AdoptTask", name=name, processIdentifier=pid, keepAwake=None, budget=None)


def test_what_is_not_the_callers_is_not_taken_over(board):
    board.app("camera", "child")
    board.start()
    board.wait_active("camera")
    stranger = board.wait_note("camera", "child")["pid"]
    for pid in (1, stranger):
        error = adopt_error(board, "x", pid)
        assert error.short == "Denied"
        assert error.parameters == {"reason": "not your process", "kind": "notYourProcess"}
    for name in ("", "A", "x" * 60, "../x", "a b"):
        assert adopt_error(board, name, 1).parameters == {"parameter": "name"}
    child = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL)
    board.others.append(child)
    task = board.call("AdoptTask", name="sync", processIdentifier=child.pid, keepAwake=None, budget=None)
    [held] = board.call("Describe", app="task-sync")["tasks"]
    assert (held["identifier"], held["name"]) == (task["identifier"], "sync")
    app = board.describe("task-sync")
    assert (app["mainPID"], app["taskState"], app["scenePhase"]) == (child.pid, "running", "background")
    assert adopt_error(board, "sync", child.pid).short == "Denied"
    # This is no trial.
    with pytest.raises(VarlinkError) as error:
        trial(board, "Skip", seconds=1)
    assert error.value.name == "org.varlink.service.InterfaceNotFound"


def test_time_can_be_skipped_in_a_trial(board):
    board.app("camera", "lend", "slow:DidEnterBackground:0.3", "slow:BackgroundTaskWillExpire:0.2",
              background={"task_budget": "10s"})
    board.start("--trial")
    board.wait_active("camera")
    trial(board, "WarnOfMemory", app="camera", level="critical")
    assert board.wait_call("camera", "DidReceiveMemoryWarning")["parameters"] == {"level": "critical"}
    wire = board.borrow("camera")
    task = wire.begin()
    with board.wire() as control, board.wire() as first, board.wire() as second, board.wire() as watch:
        watch.send("io.curfew.Trial.Watch", {}, more=True)
        # No reply was awaited to the warning, and the next call finds its way.
        control.send("io.curfew.Control.Background", {"app": "camera"})
        board.wait_call("camera", "DidEnterBackground")
        # Skips add up, and the handler took its time of the first.
        first.send("io.curfew.Trial.Skip", {"seconds": 4})
        second.send("io.curfew.Trial.Skip", {"seconds": 2})
        assert (first.reply()["skipped"], second.reply()["skipped"]) == (4, 2)
        control.reply()
        assert 3.5 < wire.remaining() < 4.5
        assert board.terminations() == []
        begun = time.monotonic()
        trial(board, "Skip", seconds=3.5)
        # The handler that was called on the way had its time.
        assert time.monotonic() - begun >= 0.2
        watched = [watch.reply()["handled"] for _ in range(3)]
        assert {(handled["app"], handled["outcome"]) for handled in watched} == {("camera", "returned")}
        assert [handled["handler"] for handled in watched] == [
            "WillResignActive", "DidEnterBackground", "BackgroundTaskWillExpire"]
        assert 0.8 < watched[-1]["timeAllowance"] <= 1
        assert watched[-1]["seconds"] >= 0.2
        trial(board, "Skip", seconds=60)
    assert board.wait_termination("camera")["code"] == "0x2182bad2"
    # A process that still has its connection belongs to no app any more.
    assert wire.refused("EndBackgroundTask", identifier=task).short == "NotAnApp"


def test_a_dark_wake_runs_the_work_alone_and_asks_logind_to_sleep_again(board):
    board.device(sleep={"task_grace": "100ms", "dark_wake": "60s", "dark_wake_allowance": "1s"})
    board.app("camera", "lend")
    board.app("front")
    login = board.awake("camera", "front", arguments=["--trial"])
    board.borrow("camera").begin()
    board.call("Background", app="camera")
    login.sleep(True)
    board.wait_sleep("asleep")
    trial(board, "Skip", seconds=58)
    assert board.device_state()["sleepState"] == "asleep"
    trial(board, "Skip", seconds=3)
    # logind, too, says that the board is awake, and grants the lock for the next sleep.
    login.sleep(False)
    board.wait_sleep("darkWake")
    login.wait_held("sleep", 2)
    board.wait_app("camera", taskState="running", scenePhase="background")
    assert board.is_frozen("front")
    # The time is over before the work is.
    wait_until(lambda: login.events("suspend"), "logind is asked for the next sleep")
    login.sleep(True)
    board.wait_sleep("asleep")
    assert board.is_frozen("camera")
    login.sleep(False)
    board.wait_app("camera", taskState="running", scenePhase="background")
    board.wait_active("front")
    assert board.calls("front").count("DidBecomeActive") == 2
    assert board.device_state()["sleepState"] == "awake"


def test_a_played_board_takes_no_nonsense(board):
    board.start("--trial")
    for name, value in [
        ("batteryLevel", 1.5), ("batteryLevel", -0.1), ("batteryLevel", 1e300), ("thermalState", "hot"),
    ]:
        with board.wire() as wire, pytest.raises(VarlinkError) as error:
            wire.call("io.curfew.Trial.SetCondition", {name: value})
        assert error.value.parameters == {"parameter": name}
    state = board.device_state()
    assert (state["batteryLevel"], state["thermalState"]) == (None, "nominal")
    trial(board, "SetCondition", batteryLevel=0.04, locked=True, lidClosed=True)
    state = board.device_state()
    assert (state["batteryLevel"], state["externalPower"], state["lowPowerMode"]) == (0.04, False, True)
    assert state["limit"] == "the lid is closed"
