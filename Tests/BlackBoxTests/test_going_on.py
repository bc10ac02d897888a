"""A signal ends the loop: the one after it goes on where that was, and what runs runs on."""

import json
import os
import signal
import subprocess

import family
import pytest
from loops import (
    end_held, hold_loop, kept_state, kill_loop, replace_in_a_call, replace_in_a_hang, replace_in_a_hook)
from waiting import holds_for, wait_until


def written(board, name):
    """The last lines of its last end."""
    lines = (board.state / "reports.jsonl").read_text().splitlines()
    return [end["output"] for end in map(json.loads, lines) if end.get("app") == name][-1]


def start_two(board):
    """One of the boot, and one that only its state tells of."""
    board.app("boot")
    board.app("hand", launch="manual")
    board.start()
    board.wait_active("boot")
    board.call("Launch", app="hand", background=None)
    board.wait_active("hand")


def test_what_runs_runs_on(board):
    board.app("boot", restart="never")
    board.app("hand", launch="manual")
    board.app("back")
    board.app("ended")
    board.app("never", launch="manual")
    board.start()
    board.wait_active("boot", "back", "ended")
    board.call("Launch", app="hand", background=None)
    board.wait_active("hand")
    board.call("Background", app="back")
    board.call("Terminate", app="ended")
    board.call("SetLowPowerMode", enabled=True)
    before = board.describe("ended")["lastTermination"]
    running = ("boot", "hand", "back")
    pids = [board.describe(name)["mainPID"] for name in running]
    wait_until(lambda: board.is_frozen("back"), "it is suspended")
    for _ in range(2):
        kill_loop(board)
        # At once: they are not looked for.
        apps = board.list()
        assert [apps[name]["mainPID"] for name in running] == pids
        assert [apps[name]["taskState"] for name in running] == ["running", "running", "suspended"]
    assert board.is_frozen("back")
    for name in running:
        app = board.describe(name)
        assert (app["launches"], app["lastTermination"]) == (1, None), app
        assert not board.terminations(name)
        assert len(board.notes(name, "start")) == 1
    ended = board.describe("ended")
    assert (ended["taskState"], ended["launches"], ended["lastTermination"]) == ("notRunning", 1, before)
    assert board.describe("never")["launches"] == 0
    assert board.device_state()["lowPowerMode"] is True
    assert len(board.instances()) == 3
    # They hear and are heard as before.
    board.call("Background", app="hand")
    board.call("Activate", app="back")
    assert board.calls("hand")[-2:] == ["WillResignActive", "DidEnterBackground"]
    assert [call for call in board.calls("back") if call != "PowerStateDidChange"][-2:] == [
        "WillEnterForeground", "DidBecomeActive"]
    board.call("Terminate", app="boot")
    assert board.calls("boot")[-1] == "WillTerminate"
    assert board.terminations("boot")[0]["namespace"] == "user"


def test_an_end_that_no_loop_saw_is_told_as_it_was(board):
    board.app("crashed", restart_delay="1ms")
    board.app("orderly")
    board.app("stays")
    board.start()
    board.wait_active("crashed", "orderly", "stays")
    loop = hold_loop(board)
    pids = [board.notes(name, "running")[0]["pid"] for name in ("crashed", "orderly")]
    with family.ends(pids[:1]):
        os.kill(pids[0], signal.SIGSEGV)
    with family.ends(pids[1:]):
        os.kill(pids[1], signal.SIGTERM)
    end_held(board, loop)
    assert board.wait_termination("crashed")["explanation"] == "killed by signal 11"
    orderly = board.wait_termination("orderly")
    assert (orderly["namespace"], orderly["code"]) == ("exit", "0x0"), orderly
    board.wait_app("crashed", launches=2, scenePhase="active")
    assert board.describe("orderly")["launches"] == 1
    assert board.describe("stays")["launches"] == 1


def test_ends_are_counted_on(board):
    board.app("app", restart_limit=2, restart_delay="1ms", restart_reset="1h")
    board.start()
    board.wait_active("app")
    board.signal("app", signal.SIGKILL)
    board.wait_app("app", launches=2, scenePhase="active")
    kill_loop(board)
    board.wait_app("app", launches=2, scenePhase="active")
    board.signal("app", signal.SIGKILL)
    wait_until(lambda: board.describe("app")["leftDown"], board.log)
    kill_loop(board)
    holds_for(0.2, lambda: board.describe("app")["taskState"] == "notRunning", "it is left down")


@pytest.mark.parametrize("handler", ["DidFinishLaunching", "DidEnterBackground", "WillTerminate"])
def test_an_answer_that_comes_to_the_next_loop_counts(board, handler):
    replace_in_a_call(board, handler, kill_loop)


def test_a_handler_that_hangs_is_killed_by_the_next_loop(board):
    replace_in_a_hang(board, board.start, lambda: kill_loop(board))


def test_a_hook_under_way_is_waited_for(board):
    replace_in_a_hook(board, board.start, lambda _: kill_loop(board))
    assert "exited with status 3" in board.describe("app")["statusText"]
    board.call("Terminate", app="app", force=True)
    # What the dead loop had read is gone with it.
    assert written(board, "app") in (["over"], ["begun", "over"])


def test_what_it_says_is_heard_and_what_it_writes_is_kept(board):
    board.plain("app", "usr1:notify=STATUS=all is well")
    board.app_file("writer", f"""
exec = ["/bin/sh", "-c", "trap 'echo after; exit 5' USR1; echo before; while :; do sleep 0.02; done"]
delegate = "none"
restart = "never"
""")
    board.start()
    board.wait_active("app", "writer")
    path = board.describe("app")["mainPID"]
    kill_loop(board)
    board.signal("app", signal.SIGUSR1)
    board.wait_app("app", statusText="all is well", mainPID=path)
    kill_loop(board)
    board.wait_app("app", statusText="all is well")
    board.signal("writer", signal.SIGUSR1)
    board.wait_termination("writer")
    assert written(board, "writer")[-1] == "after"


def test_tasks_and_their_budgets_go_on(board):
    board.app("app", "lend")
    board.start()
    board.wait_active("app")
    with board.borrow("app") as wire:
        task = wire.call("io.curfew.Application.BeginBackgroundTask", {"name": "upload"})["identifier"]
    board.call("Background", app="app")
    before = board.describe("app")["backgroundTimeRemaining"]
    kill_loop(board)
    app = board.describe("app")
    assert [held["identifier"] for held in board.call("Describe", app="app")["tasks"]] == [task]
    assert 0 < app["backgroundTimeRemaining"] <= before
    assert app["taskState"] == "running"
    with board.borrow("app") as wire:
        wire.call("io.curfew.Application.EndBackgroundTask", {"identifier": task})
    board.wait_app("app", taskState="suspended")


def test_a_task_ends_with_a_process_of_which_nothing_is_left(board):
    """It has been reaped when the next loop looks for it."""
    board.app("app", "lend", sandbox="off")
    board.start()
    board.wait_active("app")
    child = subprocess.Popen(["/bin/sleep", "1000"])
    board.others.append(child)
    (board.instance("app") / "cgroup.procs").write_text(str(child.pid))
    with board.borrow("app") as wire:
        wire.call("io.curfew.Application.BeginBackgroundTask", {"name": "child", "processIdentifier": child.pid})
    board.call("Background", app="app")
    loop = hold_loop(board)
    child.kill()
    child.wait()
    end_held(board, loop)
    board.wait_app("app", taskState="suspended")


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_task_ends_with_the_process_that_it_has_named(board, moment):
    board.app("app", "lend", "child")
    board.start()
    board.wait_active("app")
    child = board.wait_note("app", "child")["pid"]
    with board.borrow("app") as wire:
        wire.call("io.curfew.Application.BeginBackgroundTask", {"name": "child", "processIdentifier": child})
    board.call("Background", app="app")
    if moment == "before":
        loop = hold_loop(board)
        os.kill(child, signal.SIGKILL)
        end_held(board, loop)
    else:
        kill_loop(board)
        assert len(board.call("Describe", app="app")["tasks"]) == 1
        os.kill(child, signal.SIGKILL)
    board.wait_app("app", taskState="suspended")


def test_a_main_process_of_another_number_is_followed_on(board):
    board.plain("app", "main-is-child", restart="never")
    board.start()
    pid = wait_until(lambda: [note["pid"] for note in board.notes("app", "child")], "it has a child")[0]
    board.wait_app("app", mainPID=pid)
    kill_loop(board)
    board.wait_app("app", mainPID=pid, taskState="running")
    os.kill(pid, signal.SIGKILL)
    board.wait_termination("app")


def test_an_app_that_is_asked_to_end_is_waited_for_and_killed(board):
    board.plain("app", "ignore-term", allowances={"will_terminate": "1s"})
    board.start()
    board.wait_active("app")
    with board.wire() as wire:
        wire.send("io.curfew.Control.Terminate", {"app": "app"})
        board.wait_note("app", "signal")
        # It answers when it has written down that it was sent.
        board.describe("app")
        kill_loop(board)
    board.wait_termination("app")
    assert len(board.notes("app", "signal")) == 1
    wait_until(lambda: not board.instances(), "nothing is left")


def test_a_loop_that_is_killed_again_and_again_has_its_apps_still(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    pid = board.describe("app")["mainPID"]
    for _ in range(5):
        kill_loop(board)
        board.wait_app("app", scenePhase="active", mainPID=pid, launches=1)


def test_a_loop_that_crashes_a_fourth_time_in_a_row_is_followed_by_one_that_begins_anew(board):
    start_two(board)
    pid = board.describe("boot")["mainPID"]
    for _ in range(3):
        kill_loop(board, signal.SIGSEGV)
        board.wait_app("hand", scenePhase="active", launches=1)
    with family.ends([pid]):
        kill_loop(board, signal.SIGSEGV)
    board.wait_app("boot", scenePhase="active", launches=1)
    assert board.describe("hand")["taskState"] == "notRunning"
    board.wait_log("so do the apps of the boot")
    assert board.log().count("another goes on with what it had in hand") == 3
    assert board.terminations("hand")[-1]["reason"] == "daemonDied"
    board.call("Launch", app="hand", background=None)
    kill_loop(board, signal.SIGSEGV)
    board.wait_app("hand", scenePhase="active", launches=1)


def test_a_loop_that_is_killed_a_fourth_time_before_it_is_ready_is_followed_by_one_that_begins_anew(board):
    """As one that hangs in what it reads is, by a watchdog."""
    start_two(board)
    pid = board.describe("hand")["mainPID"]
    loop = hold_loop(board)
    memory, _, _ = kept_state(board)
    with memory:
        # Three have read it, and were gone before they were ready.
        os.pwrite(memory.fileno(), (3).to_bytes(8, "little"), 80)
    with family.ends([pid]):
        end_held(board, loop)
    board.wait_active("boot")
    assert board.describe("hand")["taskState"] == "notRunning"
    # It counts anew.
    kill_loop(board)
    memory, _, _ = kept_state(board)
    with memory:
        assert os.pread(memory.fileno(), 8, 80) == bytes(8)


@pytest.mark.parametrize("place, byte, is_read", [
    (None, 255, True), (7, 255, False), (40, None, False), (-1, None, False)])
def test_a_state_that_is_damaged_is_not_read(board, place, byte, is_read):
    """The count of the loops that read it a minute ago and more; the length of the core's, that, the shell's."""
    start_two(board)
    pid = board.describe("boot")["mainPID"]
    loop = hold_loop(board)
    memory, begin, length = kept_state(board)
    with memory, family.ends([loop]):
        at = 64 if place is None else begin + place % length
        wrong = [byte if byte is not None else os.pread(memory.fileno(), 1, at)[0] ^ 1]
        os.pwrite(memory.fileno(), bytes(wrong), at)
        os.kill(loop, signal.SIGKILL)
    wait_until(lambda: board.answers() and board.loop() != loop, board.log)
    board.wait_app("boot", scenePhase="active", launches=1)
    assert (board.describe("boot")["mainPID"] == pid) == is_read
    assert board.describe("hand")["taskState"] == ("running" if is_read else "notRunning")
    pid = board.describe("boot")["mainPID"]
    kill_loop(board)
    board.wait_app("boot", scenePhase="active", mainPID=pid)


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
    board.wait_app("app", scenePhase="active", launches=1)
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


def test_an_app_that_a_reload_has_taken_out_ends_in_its_time(board):
    board.app("app", "stop:WillTerminate", allowances={"will_terminate": "10s"})
    board.app("stays")
    board.start()
    board.wait_active("app", "stays")
    pid = board.describe("app")["mainPID"]
    (board.apps_folder / "app.toml").unlink()
    board.call("Reload")
    board.wait_call("app", "WillTerminate")
    wait_until(lambda: family.state(pid) == "T", "the handler stands still")
    kill_loop(board)
    board.wait_active("stays")
    with family.ends([pid]):
        os.kill(pid, signal.SIGCONT)
    assert board.wait_termination("app")["reason"] != "daemonDied"
    assert board.calls("app").count("WillTerminate") == 1


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
