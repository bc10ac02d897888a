"""Background tasks and sleep: what keeps the board awake, and what is frozen with it."""

import os
import subprocess
import sys
import time

import pytest
from waiting import holds_for, wait_until
from wire import VarlinkError

BLOCK = "idle:sleep"


def start(board, weak=True, **background):
    """An app in background with `lend`; its connection, and the login manager. weak: one that knows such locks."""
    board.app("camera", "lend", background=background)
    login = board.with_login(weak=weak)
    board.start()
    board.wait_active("camera")
    login.wait_held("sleep")
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


def test_opportunistic_takes_no_lock(board):
    wire, login = start(board)
    wire.begin()
    wire.begin(keepAwake=False)
    holds_for(0.3, lambda: login.events("inhibit", what=BLOCK) == [], "no block lock is taken")


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
    holds_for(0.5, lambda: board.describe("camera")["backgroundTimeRemaining"] == left, "the budget stands still")
    login.sleep(False)
    board.wait_app("camera", taskState="running", scenePhase="background")
    assert left - 0.5 < wire.remaining() <= left
    wire.end(task)
    board.wait_app("camera", taskState="suspended")


def test_a_task_that_ends_in_time_lets_the_board_sleep_at_once(board):
    wire, login = start(board)
    task = wire.begin()
    board.call("Background", app="camera")
    signalled = login.sleep(True)
    wait_until(lambda: board.device_state()["sleepState"] == "preparing", "the sleep is being prepared")
    wire.end(task)
    assert login.wait_closed("sleep")["t"] - signalled < 1.5


def test_a_forced_sleep_treats_keep_awake_as_any_other(board):
    board.device(sleep={"task_grace": "200ms"})
    wire, login = start(board, task_policy="keep-awake")
    wire.begin()
    login.wait_held(BLOCK)
    login.sleep(True)
    board.wait_sleep("asleep")
    assert login.held(BLOCK) == 0
    assert board.is_frozen("camera")
    login.sleep(False)
    login.wait_held(BLOCK, 2)


def test_a_sleep_in_the_middle_of_an_expiration_handler(board):
    board.device(sleep={"task_grace": "100ms"})
    board.app(
        "camera", "lend", "slow:BackgroundTaskWillExpire:0.6", background={"task_budget": "10s"})
    login = board.with_login()
    board.start()
    board.wait_active("camera")
    login.wait_held("sleep")
    wire = board.borrow("camera")
    task = wire.begin()
    board.call("Background", app="camera")
    call = board.wait_call("camera", "BackgroundTaskWillExpire")
    login.sleep(True)
    board.wait_sleep("asleep")
    assert board.is_frozen("camera")
    holds_for(call["parameters"]["deadline"] + 0.3, lambda: not board.terminations(), "no app is killed asleep")
    login.sleep(False)
    wire.end(task)
    board.wait_app("camera", taskState="suspended")
    assert board.terminations() == []


def pidfds(board):
    folder, found = f"/proc/{board.daemon.pid}/fd", 0
    for name in os.listdir(folder):
        try:
            found += "pidfd" in os.readlink(f"{folder}/{name}")
        except FileNotFoundError:
            pass  # closed meanwhile
    return found


def test_nothing_is_kept_of_the_tasks_of_an_app_that_was_removed(board):
    board.app("camera", "lend", "child")
    board.start()
    board.wait_active("camera")
    child = board.wait_note("camera", "child")["pid"]
    wire = board.borrow("camera")
    for _ in range(5):
        wire.begin(processIdentifier=child)
    with board.wire() as monitor:
        monitor.send("io.curfew.Control.Monitor", {}, more=True)
        os.unlink(board.apps_folder / "camera.toml")
        board.call("Reload")
        ends = 0
        while ends < 5:
            ends += monitor.reply()["detail"].get("ended") == "died"
    wire.close()
    wait_until(lambda: pidfds(board) == 0, lambda: f"nothing is held: {pidfds(board)} processes")


def adopt(board, *command, budget=None, name="sync"):
    """A child that waits, is taken over, and becomes the command."""
    child = subprocess.Popen(
        [sys.executable, "-c", "import os, sys; sys.stdin.read(1); os.execv(sys.argv[1], sys.argv[1:])", *command],
        stdin=subprocess.PIPE)
    board.others.append(child)
    answer = board.call("AdoptTask", name=name, processIdentifier=child.pid, keepAwake=None, budget=budget)
    child.stdin.write(b"x")
    child.stdin.flush()
    return child, answer["identifier"]


def test_a_process_that_was_taken_over_is_an_app_of_its_own(board):
    board.start()
    child, task = adopt(board, "/bin/sleep", "1000")
    app = board.describe("task-sync")
    assert (app["mainPID"], app["taskState"], app["scenePhase"]) == (child.pid, "running", "background")
    [held] = board.call("Describe", app="task-sync")["tasks"]
    assert (held["identifier"], held["name"]) == (task, "sync")
    assert 590 < held["timeRemaining"] <= 600
    assert board.instances() == ["task-sync"]
    child.kill()
    wait_until(lambda: "task-sync" not in board.list(), "it is gone")
    [end] = board.terminations("task-sync")
    assert end["namespace"] == "exit"


def test_a_process_that_was_taken_over_ends_with_its_budget(board):
    board.start()
    child, _ = adopt(board, "/bin/sleep", "1000", budget=1.0)
    assert child.wait(20) == -15
    child, _ = adopt(board, "/bin/sh", "-c", "trap '' TERM; while :; do sleep 1; done", budget=1.0, name="deaf")
    assert child.wait(20) == -9
    end = board.wait_termination("task-deaf")
    assert (end["namespace"], end["code"], end["timeAllowance"]) == ("backgroundTask", "0x2182bad2", 1.0)


def test_what_is_not_the_callers_is_not_taken_over(board):
    board.app("camera", "child")
    board.start()
    board.wait_active("camera")
    stranger = board.wait_note("camera", "child")["pid"]
    for pid in (1, stranger):
        error = board.error("AdoptTask", name="x", processIdentifier=pid, keepAwake=None, budget=None)
        assert error.short == "Denied"
        assert error.parameters == {"reason": "not your process", "kind": "notYourProcess"}
    for name in ("", "A", "x" * 60, "../x", "a b"):
        assert board.error("AdoptTask", name=name, processIdentifier=1, keepAwake=None, budget=None).parameters == {
            "parameter": "name"}
    child, _ = adopt(board, "/bin/sleep", "1000")
    error = board.error("AdoptTask", name="sync", processIdentifier=child.pid, keepAwake=None, budget=None)
    assert error.short == "Denied"


def trial(board, method, **parameters):
    with board.wire() as wire:
        return wire.call(f"io.curfew.Trial.{method}", parameters)


def test_time_can_be_skipped_in_a_trial(board):
    board.app("camera", "lend", "slow:BackgroundTaskWillExpire:0.2")
    board.start("--trial")
    board.wait_active("camera")
    wire = board.borrow("camera")
    task = wire.begin()
    board.call("Background", app="camera")
    with board.wire() as watch:
        watch.send("io.curfew.Trial.Watch", {}, more=True)
        assert trial(board, "Skip", seconds=300)["skipped"] == 300
        assert 299 < wire.remaining() <= 300
        assert board.terminations() == []
        begun = time.monotonic()
        trial(board, "Skip", seconds=296)
        # The handler that was called on the way had its time.
        assert time.monotonic() - begun >= 0.2
        handled = watch.reply()["handled"]
        assert (handled["app"], handled["handler"], handled["outcome"]) == (
            "camera", "BackgroundTaskWillExpire", "returned")
        assert 4.5 < handled["timeAllowance"] <= 5
        assert handled["seconds"] >= 0.2
        trial(board, "Skip", seconds=60)
    assert board.wait_termination("camera")["code"] == "0x2182bad2"
    # A process that still has its connection belongs to no app any more.
    assert wire.refused("EndBackgroundTask", identifier=task).short == "NotAnApp"


def test_skips_add_up(board):
    board.app("camera", "lend", "slow:DidEnterBackground:0.3")
    board.start("--trial")
    board.wait_active("camera")
    wire = board.borrow("camera")
    wire.begin()
    with board.wire() as control, board.wire() as first, board.wire() as second:
        control.send("io.curfew.Control.Background", {"app": "camera"})
        board.wait_call("camera", "DidEnterBackground")
        first.send("io.curfew.Trial.Skip", {"seconds": 300})
        second.send("io.curfew.Trial.Skip", {"seconds": 60})
        assert first.reply()["skipped"] == 300
        assert second.reply()["skipped"] == 60
        control.reply()
        # The handler took its time of the first.
        assert 239 < wire.remaining() < 241


def test_memory_warnings_in_a_trial(board):
    board.app("camera")
    board.start("--trial")
    board.wait_active("camera")
    trial(board, "WarnOfMemory", app="camera", level="critical")
    assert board.wait_call("camera", "DidReceiveMemoryWarning")["parameters"] == {"level": "critical"}
    # No reply is awaited, and the next call finds its way.
    board.call("Background", app="camera")


def test_there_is_no_trial_on_a_board(board):
    board.start()
    with board.wire() as wire:
        wire.send("io.curfew.Trial.Skip", {"seconds": 1})
        assert wire.receive()["error"] == "org.varlink.service.InterfaceNotFound"


def test_a_dark_wake_runs_the_work_and_nothing_else(board):
    board.device(sleep={"task_grace": "100ms", "dark_wake": "10min", "dark_wake_allowance": "20s"})
    board.app("camera", "lend")
    board.app("front")
    board.start("--trial")
    board.wait_active("camera", "front")
    wire = board.borrow("camera")
    task = wire.begin()
    board.call("Background", app="camera")
    board.call("PrepareForSleep", start=True, kind=None)
    assert board.is_frozen("camera")
    trial(board, "Skip", seconds=599)
    assert board.device_state()["sleepState"] == "asleep"
    trial(board, "Skip", seconds=1)
    board.wait_sleep("darkWake")
    board.wait_app("camera", taskState="running", scenePhase="background")
    assert board.is_frozen("front")
    # Its time is over before the work is: the board sleeps again, and the work goes on the next time.
    trial(board, "Skip", seconds=25)
    board.wait_sleep("asleep")
    assert board.is_frozen("camera")
    trial(board, "Skip", seconds=600)
    board.wait_sleep("darkWake")
    wire.end(task)
    board.wait_sleep("asleep")
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_active("front")
    assert board.calls("front").count("DidBecomeActive") == 2
    assert board.describe("camera")["scenePhase"] == "background"


def test_a_dark_wake_asks_logind_to_sleep_again(board):
    board.device(sleep={"task_grace": "100ms", "dark_wake": "60s", "dark_wake_allowance": "1s"})
    board.app("camera", "lend")
    login = board.with_login()
    board.start("--trial")
    board.wait_active("camera")
    login.wait_held("sleep")
    wire = board.borrow("camera")
    wire.begin()
    board.call("Background", app="camera")
    login.sleep(True)
    board.wait_sleep("asleep")
    trial(board, "Skip", seconds=61)
    # logind, too, says that the board is awake, and grants the lock for the next sleep.
    login.sleep(False)
    board.wait_sleep("darkWake")
    login.wait_held("sleep", 2)
    wait_until(lambda: login.events("suspend"), "logind is asked for the next sleep")
    login.sleep(True)
    board.wait_sleep("asleep")
    login.sleep(False)
    board.wait_app("camera", taskState="running")
    assert board.device_state()["sleepState"] == "awake"


def test_time_goes_on_after_an_alarm_for_work_that_is_gone(board):
    board.device(sleep={"task_grace": "100ms", "dark_wake": "10min"})
    board.app("camera", "lend", restart="never")
    board.start("--trial")
    board.wait_active("camera")
    board.borrow("camera").begin()
    board.call("Background", app="camera")
    board.call("PrepareForSleep", start=True, kind=None)
    board.call("Terminate", app="camera", force=True)
    assert trial(board, "Skip", seconds=900)["skipped"] == 900
    assert board.device_state()["sleepState"] == "asleep"


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
