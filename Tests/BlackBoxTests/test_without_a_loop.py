"""What happens while there is no loop, or with what one has left."""

import os
import signal
import subprocess
from pathlib import Path

import family
import pytest
from board import CURFEW
from loops import end_held, hold_loop, kill_loop, kill_loop_and_its_state
from waiting import PATIENCE, holds_for, wait_until


def test_monitor_goes_on_with_the_next_loop(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    said = board.journals / "said"
    with open(said, "wb") as out:
        monitor = subprocess.Popen(
            [CURFEW, "--root", board.root, "monitor"], stdout=out, stderr=subprocess.STDOUT,
            env={"PATH": os.environ["PATH"], "TERM": "dumb", "SWIFT_BACKTRACE": "enable=no"})
    board.others.append(monitor)
    wait_until(lambda: "active, pid" in said.read_text(), "it tells the state")
    kill_loop(board)
    wait_until(lambda: said.read_text().count("active, pid") == 2, "it tells the state again")
    board.call("Background", app="app")
    wait_until(lambda: "suspended" in said.read_text(), said.read_text)
    assert board.stop() == 0
    assert monitor.wait(PATIENCE) == 4
    assert "curfewd has ended, or closed the connection" in said.read_text()


def test_the_keeper_holds_nothing_for_what_is_gone(board):
    board.app("app")
    board.app("other")
    board.start()
    board.wait_active("app", "other")
    keeper = board.daemon.pid
    before = len(os.listdir(f"/proc/{keeper}/fd"))
    for _ in range(3):
        loop = hold_loop(board)
        pid = board.notes("app", "running")[-1]["pid"]
        with family.ends([pid]):
            os.kill(pid, signal.SIGKILL)
        end_held(board, loop)
        board.wait_active("app")
    kill_loop_and_its_state(board)
    board.wait_active("app", "other")
    wait_until(lambda: len(os.listdir(f"/proc/{keeper}/fd")) == before,
               lambda: family.descriptors(keeper))


def test_a_file_that_is_broken_by_then_ends_nothing(board):
    board.app("app")
    board.app("gone")
    board.start()
    board.wait_active("app", "gone")
    pid = board.describe("app")["mainPID"]
    text = (board.apps_folder / "app.toml").read_text()
    board.app_file("app", 'restart = "alw')
    (board.apps_folder / "gone.toml").unlink()
    kill_loop(board)
    board.wait_app("app", mainPID=pid, taskState="running")
    board.wait_app("gone", taskState="running")
    assert not board.terminations()
    board.app_file("app", text)
    board.call("Reload")
    board.wait_termination("gone")
    board.wait_app("app", mainPID=pid, scenePhase="active")


@pytest.mark.parametrize("number, namespace", [(signal.SIGSEGV, "crash"), (signal.SIGTERM, "exit")])
def test_the_end_of_a_followed_process_that_no_loop_saw_is_told_as_it_was(board, number, namespace):
    board.plain("app", "main-is-child", restart="on-failure", restart_delay="1ms")
    board.start()
    pid = wait_until(lambda: [note["pid"] for note in board.notes("app", "child")], "it has a child")[0]
    board.wait_app("app", mainPID=pid)
    # Its parent ends, and it is the keeper's.
    parent = board.wait_note("app", "start")["pid"]
    with family.ends([parent]):
        os.kill(parent, signal.SIGKILL)
    loop = hold_loop(board)
    with family.ends([pid]):
        os.kill(pid, number)
    end_held(board, loop)
    assert board.wait_termination("app")["namespace"] == namespace
    if namespace == "crash":
        board.wait_app("app", launches=2, scenePhase="active")


def test_what_pings_all_the_time_is_not_killed_for_want_of_a_loop(board):
    board.app("app", "ping", liveness="500ms")
    board.start()
    board.wait_active("app")
    kill_loop(board)
    board.wait_active("app")
    # The second time there is none for a second.
    kill_loop(board)
    board.wait_active("app")
    holds_for(1, lambda: not board.terminations(), "it lives")


@pytest.mark.parametrize("moment", ["before", "in the stop"])
def test_what_runs_is_stopped_in_order_though_there_is_no_loop(board, moment):
    board.app("app", "slow:WillTerminate:0.5", "child")
    board.start()
    board.wait_active("app")
    child = board.wait_note("app", "child")["pid"]
    loop = board.loop()
    with family.ends([child]):
        if moment == "before":
            kill_loop(board)
            loop = board.loop()
            # There is none for a second.
            with family.ends([loop]):
                os.kill(loop, signal.SIGKILL)
            board.wait_log("signal 9 has ended the loop", 2)
            board.daemon.send_signal(signal.SIGTERM)
        else:
            board.daemon.send_signal(signal.SIGTERM)
            board.wait_call("app", "WillTerminate")
            os.kill(loop, signal.SIGKILL)
        assert board.wait_end() == 0
    assert board.calls("app").count("WillTerminate") == 1
    assert not board.instances()


def test_a_stop_that_a_loop_has_not_heard_is_heard_by_the_next(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    loop = hold_loop(board)
    board.daemon.send_signal(signal.SIGTERM)
    # The keeper has passed it on: it waits to be read.
    wait_until(lambda: not pending(board.daemon.pid) & 1 << signal.SIGTERM - 1, "the keeper has taken it")
    with family.ends([loop]):
        os.kill(loop, signal.SIGKILL)
    assert board.wait_end() == 0
    assert board.calls("app")[-1] == "WillTerminate"


def pending(pid):
    """Signals that a process has been sent and has not taken."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        lines = dict(line.split(":", 1) for line in status)
    return int(lines["ShdPnd"], 16) | int(lines["SigPnd"], 16)


def test_a_command_that_was_a_task_is_reported_once(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    environment = {"PATH": os.environ["PATH"], "TERM": "dumb", "SWIFT_BACKTRACE": "enable=no"}
    command = [CURFEW, "--root", board.root, "run", "--name", "copy", "--"]
    assert subprocess.run([*command, "true"], env=environment, timeout=PATIENCE, check=False).returncode == 0
    wait_until(lambda: "task-copy" not in board.list(), "it is gone")
    # And one that runs on.
    runs = subprocess.Popen([*command[:5], "long", "--", "sh", "-c", "read line; exit 5"], env=environment,
                            stdin=subprocess.PIPE)
    board.others.append(runs)
    wait_until(lambda: board.list().get("task-long", {}).get("taskState") == "running", board.list)
    for _ in range(2):
        kill_loop(board)
        board.wait_active("app")
        assert board.describe("task-long")["taskState"] == "running"
    runs.communicate(b"go on\n", PATIENCE)
    assert runs.returncode == 5
    wait_until(lambda: "task-long" not in board.list(), "it is gone")
    assert [end["app"] for end in board.terminations()] == ["task-copy", "task-long"]
    assert len((board.state / "reports.jsonl").read_text().splitlines()) == 2


def test_what_a_slow_start_has_not_read_yet_is_not_judged(board):
    """More than the reprieve, and less than what is taken for a stall beyond that."""
    board.plain("app", "ignore-term", restart="never", allowances={"will_terminate": "1s"})
    board.start()
    board.wait_active("app")
    # After the next end there is no loop for a second.
    kill_loop(board)
    board.wait_active("app")
    pid = board.wait_running("app")
    with board.wire() as wire:
        wire.send("io.curfew.Control.Terminate", {"app": "app"})
        board.wait_note("app", "signal")
        loop = hold_loop(board)
    with family.ends([pid]):
        os.kill(pid, signal.SIGKILL)
    limit = board.run / "hook-limit"
    tracer = subprocess.Popen(
        ["strace", "-qq", "-f", "-P", str(limit), "-e", "inject=unlink,unlinkat:delay_enter=350000", "-o", "/dev/null",
         "-p", str(board.daemon.pid)])
    board.others.append(tracer)
    wait_until(lambda: f"TracerPid:\t{tracer.pid}" in Path(f"/proc/{board.daemon.pid}/status").read_text(), "traced")
    end_held(board, loop)
    assert board.wait_termination("app")["namespace"] == "user"
    tracer.send_signal(signal.SIGINT)
    tracer.wait(PATIENCE)
