"""An upgrade in the middle of something: what is under way goes on, and is neither lost nor repeated."""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import cgroups
import family
import pytest
from loops import replace_in_a_call
from test_forking_daemons import DAEMON, named
from test_service_manager import Manager
from upgrades import install, installed, upgrade
from waiting import wait_until
from wire import Closed

assert installed  # a fixture


@pytest.mark.parametrize("handler", ["DidFinishLaunching", "DidEnterBackground", "WillTerminate"])
def test_a_call_under_way_is_neither_lost_nor_repeated(board, handler):
    replace_in_a_call(board, handler, upgrade)


def test_an_end_that_the_version_before_was_told_of_is_heard(board):
    """The keeper knows that something has ended, and becomes another program before it has looked."""
    board.app("app", restart_delay="1ms")
    board.start()
    board.wait_active("app")
    pid = board.describe("app")["mainPID"]
    install(board)
    with tempfile.TemporaryFile() as words:
        # After it has killed its loop, and before it reads that it has ended: the app's end is one signal with that.
        tracer = subprocess.Popen(
            ["strace", "-qq", "-e", "trace=kill", "-e", "inject=kill:delay_exit=1000000", "-o", "/dev/null", "-p",
             str(board.daemon.pid)], stderr=words)
        board.others.append(tracer)
        wait_until(lambda: f"TracerPid:\t{tracer.pid}" in Path(f"/proc/{board.daemon.pid}/status").read_text(),
                   "it is traced")
        loop = board.loop()
        with board.wire() as wire:
            wire.send("io.curfew.Control.Upgrade")
            wait_until(lambda: family.state(loop) == "Z", "its loop has ended")
            os.kill(pid, signal.SIGKILL)
            assert "error" not in wire.receive()
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
    assert board.wait_termination("app")["explanation"] == "killed by signal 9"
    board.wait_app("app", launches=2, scenePhase="active")


def test_a_task_goes_on(board):
    board.app("app", "lend")
    board.start()
    board.wait_active("app")
    task = board.borrow("app").begin()
    board.call("Background", app="app")
    [before] = board.call("Describe", app="app")["tasks"]
    upgrade(board)
    [after] = board.call("Describe", app="app")["tasks"]
    assert (after["identifier"], after["name"]) == (task, before["name"])
    assert 0 < after["timeRemaining"] <= before["timeRemaining"]
    assert board.describe("app")["taskState"] == "running"


def test_an_expiration_under_way_goes_on(board):
    board.app("app", "lend", "stop:BackgroundTaskWillExpire", background={"task_budget": "4s"})
    board.start()
    board.wait_active("app")
    board.borrow("app").begin()
    board.call("Background", app="app")
    board.wait_call("app", "BackgroundTaskWillExpire")
    pid = board.describe("app")["mainPID"]
    wait_until(lambda: family.state(pid) == "T", "the handler stands still")
    upgrade(board)
    os.kill(pid, signal.SIGCONT)
    # It does not end its task, and has no more than its budget.
    end = board.wait_termination("app")
    assert end["code"] == "0x2182bad2", end
    assert board.calls("app").count("BackgroundTaskWillExpire") == 1


def test_a_start_under_way_goes_on(board):
    gate = f"{board.root}/gate"
    os.mkfifo(gate)
    board.app_file(
        "app",
        f'exec = ["/bin/sh", "-c", "read line < {gate}; exec sleep 1000"]\nlaunch = "boot"\nsandbox = "off"\n')
    board.start()
    board.wait_app("app", taskState="running")
    pid = board.describe("app")["mainPID"]
    upgrade(board)
    Path(gate).write_text("go\n")
    wait_until(lambda: Path(f"/proc/{pid}/comm").read_text() == "sleep\n", "it has gone on")
    os.kill(pid, signal.SIGTERM)
    assert board.wait_termination("app")["explanation"] == "killed by signal 15"


def test_it_is_stopped_in_order_on_the_way(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    install(board)
    with contextlib.suppress(Closed, OSError), board.wire() as wire:
        wire.send("io.curfew.Control.Upgrade")
        assert board.stop() == 0
    assert board.calls("app")[-1] == "WillTerminate"


def test_a_daemon_that_forks_is_known_on(board, tmp_path):
    program = board.programs / "daemon.py"
    program.write_text(DAEMON)
    board.app_file("app", f'exec = ["/usr/bin/python3", "-S", "-E", "{program}", "{tmp_path}"]\nlaunch = "boot"\n'
                          'sandbox = "off"\nrestart = "never"\n')
    board.start()
    board.wait_active("app")
    main = wait_until(lambda: named(board), board.log)
    (tmp_path / "go").write_text("go")
    wait_until(lambda: main in family.children(board.daemon.pid), "it is an orphan")
    upgrade(board)
    assert board.describe("app")["mainPID"] == main
    (tmp_path / "end").write_text("signal")
    assert board.wait_termination("app")["explanation"] == "killed by signal 6"


def test_the_service_manager_hears_on(board):
    manager = Manager(f"{board.root}/service-manager")
    try:
        board.app("app")
        board.start(environment={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "600000"})
        board.wait_active("app")
        manager.hear("READY=1")
        for _ in range(2):
            upgrade(board)
            manager.forget()
            manager.hear("WATCHDOG=1")
        assert board.stop() == 0
        manager.hear("STOPPING=1")
    finally:
        manager.socket.close()


def test_a_logical_sleep_goes_on(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    board.call("PrepareForSleep", start=True, kind=None)
    wait_until(lambda: board.is_frozen("app"), board.log)
    upgrade(board)
    assert board.device_state()["sleepState"] == "asleep" and board.is_frozen("app")
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_app("app", scenePhase="active", launches=1)
    assert board.calls("app").count("DidEnterBackground") == 1


def test_a_dark_wake_goes_on(board):
    # A minute is the least; of skipped time no state is kept.
    board.device(sleep={"task_grace": "100ms", "dark_wake": "60s", "dark_wake_allowance": "1min"})
    board.app("camera", "lend")
    board.app("front")
    board.start()
    board.wait_active("camera", "front")
    task = board.borrow("camera").begin()
    board.call("Background", app="camera")
    board.call("PrepareForSleep", start=True, kind=None)
    wait_until(lambda: board.device_state()["sleepState"] == "darkWake", board.log, timeout=90)
    board.wait_app("camera", taskState="running")
    upgrade(board)
    assert board.device_state()["sleepState"] == "darkWake"
    assert not board.is_frozen("camera") and board.is_frozen("front")
    board.borrow("camera").end(task)
    board.wait_sleep("asleep")
    wait_until(lambda: board.is_frozen("camera"), board.log)
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_app("front", scenePhase="active", launches=1)
    assert board.calls("front").count("DidEnterBackground") == 1


def test_hooks_and_output_go_on(board):
    """Of a hook that runs, and of what an app has written before."""
    gate = f"{board.root}/gate"
    os.mkfifo(gate)
    board.app("app", delegate="hooks", sandbox="off", hooks={
        "did_enter_background": ["/bin/sh", "-c", f"read line < {gate}; exit 0"]})
    board.app_file("loud", 'exec = ["/bin/sh", "-c", "echo before; trap \'echo after; exit 5\' USR1; '
                           'while :; do sleep 0.02; done"]\nlaunch = "boot"\nsandbox = "off"\nrestart = "never"\n')
    board.start()
    board.wait_active("app", "loud")
    with board.wire() as wire:
        wire.send("io.curfew.Control.Background", {"app": "app"})
        wait_until(lambda: "background" in str(board.describe("app")["taskState"]) or len(
            cgroups.processes(board.instance("app"))) > 1, board.log)
        upgrade(board)
    Path(gate).write_text("go\n")
    board.wait_app("app", scenePhase="background", launches=1)
    board.signal("loud", signal.SIGUSR1)
    assert board.wait_termination("loud")["code"] == "0x5"
    lines = (board.state / "reports.jsonl").read_text().splitlines()
    assert [end["output"] for end in map(json.loads, lines) if end.get("app") == "loud"][-1] == ["before", "after"]
