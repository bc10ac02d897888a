"""Background tasks: time in background, asked for, paid for, and over."""

import os
import time

import pytest
from waiting import holds_for, wait_until
from wire import VarlinkError, Wire

APPLICATION = "io.curfew.Application"


def held(board, name):
    return board.call("Describe", app=name)["tasks"]


def in_front(board, *behaviours, **background):
    """The connection of an app with `lend`, in front."""
    board.app("camera", "lend", *behaviours, background=background)
    board.start()
    board.wait_active("camera")
    return board.borrow("camera")


def in_background(board, **background):
    """One that holds a task, in background; its connection and the task."""
    wire = in_front(board, **background)
    task = wire.begin()
    board.call("Background", app="camera")
    return wire, task


def test_a_task_has_no_limit_in_front_and_keeps_its_app_running_behind(board):
    wire = in_front(board)
    answer = wire.ask("BeginBackgroundTask", name="upload", keepAwake=None, processIdentifier=None, timeAllowed=None)
    assert answer["identifier"] > 0
    assert answer["timeRemaining"] is None
    state = wire.ask("GetState")
    assert state["state"]["backgroundTimeRemaining"] is None
    [task] = state["tasks"]
    assert task["identifier"] == answer["identifier"]
    assert task["name"] == "upload"
    assert task["keepAwake"] is False
    [described] = held(board, "camera")
    assert described["app"] == "camera"
    assert described["timeRemaining"] is None
    assert described["ended"] is None
    wire.end(answer["identifier"])
    assert wire.ask("GetState")["tasks"] == []
    assert wire.remaining() is None
    tasks = [wire.begin("one"), wire.begin("other")]
    board.call("Background", app="camera")
    assert 595 < wire.remaining() <= 600
    for task in tasks:
        assert not board.is_frozen("camera")
        wire.end(task)
    board.wait_app("camera", taskState="suspended")


def test_new_tasks_are_denied_when_time_runs_out(board):
    wire = in_front(board, "slow:BackgroundTaskWillExpire:0.1", task_budget="4s")
    tasks = [wire.begin("old"), wire.begin("new")]
    board.call("Background", app="camera")
    first = board.wait_call("camera", "BackgroundTaskWillExpire")
    assert first["parameters"]["name"] == "new"
    refusal = wire.begin_refused("late")
    assert refusal.name == f"{APPLICATION}.BackgroundTimeDenied"
    assert "budget" in refusal.parameters["reason"]
    second = board.wait_call("camera", "BackgroundTaskWillExpire", 2)
    assert second["parameters"]["name"] == "old"
    for task in tasks:
        wire.end(task)
    board.wait_app("camera", taskState="suspended")


def test_who_holds_a_task_too_long_is_asked_and_then_killed(board):
    _, task = in_background(board, task_budget="1500ms")
    begun = time.monotonic()
    call = board.wait_call("camera", "BackgroundTaskWillExpire")
    assert (call["parameters"]["identifier"], call["parameters"]["name"]) == (task, "upload")
    # A tenth of a short budget.
    assert 0.1 < call["parameters"]["deadline"] <= 0.15
    assert call["t"] - begun > 1.2
    end = board.wait_termination("camera")
    assert (end["namespace"], end["code"]) == ("backgroundTask", "0x2182bad2")
    assert (end["timeAllowance"], end["wallSeconds"]) == (1.5, 1.5)
    assert end["cpuSeconds"] > 0
    assert '"upload"' in end["explanation"]
    # It is started again when an operator wants to see it.
    holds_for(0.3, lambda: board.describe("camera")["taskState"] == "notRunning", "it stays down")
    board.call("Activate", app="camera")
    board.wait_app("camera", scenePhase="active")


def test_more_tells_when_time_runs_out(board):
    board.app("camera", "lend")
    board.start()
    board.wait_active("camera")
    wire, other = board.borrow("camera"), board.borrow("camera")
    wish = {"name": "run", "keepAwake": None, "processIdentifier": None, "timeAllowed": 0.3}
    first = wire.call(f"{APPLICATION}.BeginBackgroundTask", wish, more=True)
    assert first["timeRemaining"] == 0.3
    last = wire.reply()
    assert last["identifier"] == first["identifier"]
    assert last["timeRemaining"] == 0
    # Ended by the app: told as well.
    second = wire.call(f"{APPLICATION}.BeginBackgroundTask", {**wish, "timeAllowed": None}, more=True)
    other.end(second["identifier"])
    assert wire.reply() == {"identifier": second["identifier"], "timeRemaining": 0}


def test_a_task_ends_with_the_process_it_names(board):
    wire = in_front(board, "child")
    child = board.wait_note("camera", "child")["pid"]
    wire.begin(processIdentifier=child)
    assert len(held(board, "camera")) == 1
    os.kill(child, 9)
    wait_until(lambda: held(board, "camera") == [], "its task has ended")
    # Nor can one be begun for a process that is gone, or that is not the app's own.
    assert wire.begin_refused(processIdentifier=child).short == "InvalidParameter"
    assert wire.begin_refused(processIdentifier=os.getpid()).short == "InvalidParameter"
    assert wire.begin_refused(processIdentifier=0).short == "InvalidParameter"


def test_tasks_are_the_apps_own(board):
    board.app("camera", "lend")
    board.app("radio", "lend")
    board.start()
    board.wait_active("camera", "radio")
    camera, radio = board.borrow("camera"), board.borrow("radio")
    task = camera.begin()
    error = radio.refused("EndBackgroundTask", identifier=task)
    assert error.name == f"{APPLICATION}.NoSuchBackgroundTask"
    assert error.parameters["identifier"] == task
    assert len(held(board, "camera")) == 1
    camera.end(task)
    assert camera.refused("EndBackgroundTask", identifier=task).short == "NoSuchBackgroundTask"
    with Wire(board.application_socket) as stranger:
        with pytest.raises(VarlinkError) as refusal:
            stranger.call(f"{APPLICATION}.EndBackgroundTask", {"identifier": task})
    assert refusal.value.short == "NotAnApp"
    # One whose client was gone before the answer is the app's all the same: it can look it up.
    wish = {"name": "lost", "keepAwake": None, "processIdentifier": None, "timeAllowed": None}
    with board.borrow("camera") as dying:
        dying.send(f"{APPLICATION}.BeginBackgroundTask", wish)
    wait_until(lambda: len(held(board, "camera")) == 1, "it has begun, though its answer is not read")
    [lost] = camera.ask("GetState")["tasks"]
    camera.end(lost["identifier"])
    assert held(board, "camera") == []


def test_strange_wishes_are_refused(board):
    wire = in_front(board)
    for name in ("x" * 256, "line\nfeed", "bell\x07", "nul\x00", "del\x7f", "csi\x9b2J"):
        error = wire.begin_refused(name)
        assert (error.short, error.parameters["parameter"]) == ("InvalidParameter", "name")
    for time_allowed in (0, -1, -1e300):
        assert wire.begin_refused(timeAllowed=time_allowed).parameters["parameter"] == "timeAllowed"
    assert "task-policy" in wire.begin_refused(keepAwake=True).parameters["reason"]
    tasks = [wire.begin(str(number)) for number in range(64)]
    assert len(set(tasks)) == 64
    error = wire.begin_refused("65")
    assert (error.short, error.parameters["limit"]) == ("TooManyBackgroundTasks", 64)
    wire.end(tasks[0])
    wire.begin("x" * 255, timeAllowed=1e300)
    # What is no message at all ends the connection, and nothing else.
    for raw in (b'{"method":"io.curfew.Application.BeginBackgroundTask","parameters":{"name":"\xff"}}\0',
                b'{"method":"' + b"x" * (2 << 20)):
        bad = board.borrow("camera")
        try:
            bad.send_raw(raw)
        except OSError:
            pass
        assert bad.is_closed()
    assert len(held(board, "camera")) == 64


def test_the_clock_is_set_by_hours(board):
    wire, task = in_background(board, task_budget="60s")
    real, start = time.time(), time.monotonic()
    try:
        for hours in (5, -7, 12):
            time.clock_settime(time.CLOCK_REALTIME, real + hours * 3600)
    except PermissionError:
        pytest.skip("the clock cannot be set here")
    finally:
        time.clock_settime(time.CLOCK_REALTIME, real + time.monotonic() - start)
    assert 58 < wire.remaining() <= 60
    assert board.terminations() == []
    wire.end(task)


def told_until(monitor, is_last, most=50):
    """What is told, up to what is looked for."""
    told = []
    while not told or not is_last(told[-1]):
        assert len(told) < most, told
        told.append(monitor.reply())
    return told


def test_monitor_follows_tasks(board):
    wire = in_front(board)
    first = wire.begin("first")
    with board.wire() as monitor:
        monitor.send("io.curfew.Control.Monitor", {}, more=True)
        seen = told_until(monitor, lambda entry: entry["kind"] == "synchronized")
        assert [entry["detail"]["identifier"] for entry in seen if entry["kind"] == "task"] == [first]
        second = wire.begin("second")
        began = monitor.reply()
        assert (began["kind"], began["app"]) == ("task", "camera")
        assert began["detail"]["identifier"] == second
        assert began["detail"]["ended"] is None
        wire.end(second)
        ended = monitor.reply()
        assert (ended["detail"]["identifier"], ended["detail"]["ended"]) == (second, "ended")
        os.kill(board.describe("camera")["mainPID"], 9)
        last = told_until(monitor, lambda entry: entry["kind"] == "task")[-1]
        assert (last["detail"]["identifier"], last["detail"]["ended"]) == (first, "died")


def test_a_hook_hears_that_time_runs_out(board):
    out = board.journals / "hook.txt"
    board.app(
        "hooked", "lend", delegate="hooks", background={"task_budget": "1s"},
        hooks={"background_task_will_expire": ["/bin/sh", "-c", f"echo $CURFEW_EVENT $CURFEW_TASK_NAME > {out}"]})
    board.start()
    board.wait_active("hooked")
    wire = board.borrow("hooked")
    task = wire.begin()
    board.call("Background", app="hooked")
    wait_until(lambda: out.exists() and out.read_text() == "BackgroundTaskWillExpire upload\n", "the hook has run")
    wire.end(task)
    board.wait_app("hooked", taskState="suspended")


def test_the_fetch_interval_is_never_short(board):
    board.app("camera", "lend", background={"fetch_interval": "1h"})
    board.app("radio", "lend")
    board.start()
    board.wait_active("camera", "radio")
    camera, radio = board.borrow("camera"), board.borrow("radio")
    assert camera.ask("SetMinimumBackgroundFetchInterval", seconds=60)["effective"] == 3600
    assert camera.ask("SetMinimumBackgroundFetchInterval", seconds=7200)["effective"] == 7200
    assert camera.ask("SetMinimumBackgroundFetchInterval", seconds=None)["effective"] is None
    assert radio.ask("SetMinimumBackgroundFetchInterval", seconds=0)["effective"] == 900
    assert radio.refused("SetMinimumBackgroundFetchInterval", seconds=-1).short == "InvalidParameter"


@pytest.mark.parametrize("delegate", ["varlink", "none"])
def test_whether_one_may_be_attached_is_said_by_what_the_app_was_started_with(board, delegate):
    """A reload is for the next instance."""
    board.app("camera", "lend", delegate=delegate)
    board.start()
    board.wait_active("camera")
    board.app("camera", "lend", delegate="none" if delegate == "varlink" else "varlink")
    assert board.call("Reload")["changed"] == ["camera"]
    wire = board.borrow("camera")
    if delegate == "none":
        assert wire.refused("AttachDelegate").short == "DelegateDenied"
        return
    wire.call(f"{APPLICATION}.AttachDelegate", {}, upgrade=True)
    with board.wire() as control:
        control.send("io.curfew.Control.Background", {"app": "camera"})
        for handler in ("WillResignActive", "DidEnterBackground"):
            assert wire.receive()["method"] == f"io.curfew.Delegate.{handler}"
            wire.send_raw(b'{"parameters":{}}\0')
        control.reply()


def test_an_app_whose_file_is_gone_is_one_until_its_end(board):
    board.app("camera", "lend", "hang:WillTerminate")
    board.start()
    board.wait_active("camera")
    wire = board.borrow("camera")
    os.unlink(board.apps_folder / "camera.toml")
    board.call("Reload")
    board.wait_call("camera", "WillTerminate")
    assert wire.ask("GetState")["state"]["app"] == "camera"
    assert wire.refused("BeginBackgroundTask", name="late", keepAwake=None, timeAllowed=None).short != "NotAnApp"


def test_a_delegate_is_attached_in_place_of_the_inherited_one(board):
    board.app("camera", "lend", "close:WillResignActive", "hang:DidEnterBackground")
    board.plain("plain", "lend")
    board.start()
    board.wait_active("camera", "plain")
    refusal = board.borrow("plain").refused("AttachDelegate")
    assert refusal.short == "DelegateDenied"
    wire = board.borrow("camera")
    with board.wire() as control:
        control.send("io.curfew.Control.Background", {"app": "camera"})
        board.wait_call("camera", "WillResignActive")
        # It has closed its delegate with the call unanswered: the call comes again over the new one.
        wire.call(f"{APPLICATION}.AttachDelegate", {}, upgrade=True)
        call = wire.receive()
        assert call["method"] == "io.curfew.Delegate.WillResignActive"
        assert 0 < call["parameters"]["deadline"] < 10
        wire.send_raw(b'{"parameters":{}}\0')
        call = wire.receive()
        assert call["method"] == "io.curfew.Delegate.DidEnterBackground"
        wire.send_raw(b'{"parameters":{}}\0')
        control.reply()
    assert board.describe("camera")["scenePhase"] == "background"
