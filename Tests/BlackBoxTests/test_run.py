"""curfew run: a command as a background task, of an app or of its own."""

import os
import signal
import subprocess

import pytest
from board import CURFEW
from terminal import Terminal
from waiting import PATIENCE, holds_for, wait_until

ENVIRONMENT = {"PATH": os.environ["PATH"], "TERM": "dumb", "SWIFT_BACKTRACE": "enable=no"}


def start(board, *arguments):
    process = subprocess.Popen(
        [CURFEW, "--root", board.root, "run", *arguments], env=ENVIRONMENT, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    board.others.append(process)
    return process


def run(board, *arguments, given=""):
    process = start(board, *arguments)
    output, error = process.communicate(given, timeout=PATIENCE)
    return process.returncode, output, error


def wait_begun(board, app):
    wait_until(
        lambda: board.list().get(app, {}).get("taskState") == "running",
        lambda: f"{app} runs: {board.list()}\n{board.log()}")


def tasks(board, app):
    return board.call("Describe", app=app)["tasks"]


# Outside an app.


def test_a_command_has_what_the_shell_gave_it_and_a_group_of_its_own(board):
    board.start()
    code, output, error = run(
        board, "--name", "nightly", "--", "sh", "-c", "cat; grep ^0:: /proc/self/cgroup; echo $TERM; pwd >&2",
        given="hello\n")
    assert (code, error) == (0, os.getcwd() + "\n")
    first, group, term = output.splitlines()
    assert (first, term) == ("hello", "dumb")
    assert "/apps/task-nightly." in group
    wait_until(lambda: "task-nightly" not in board.list(), "it is gone")
    assert [end["namespace"] for end in board.terminations("task-nightly")] == ["exit"]
    # Arguments need not be text.
    output = subprocess.run(
        [CURFEW, "--root", board.root, "run", "--", "printf", "%s", b"\xff\xfe\x80a"], env=ENVIRONMENT,
        stdout=subprocess.PIPE, check=True, timeout=PATIENCE).stdout
    assert output == b"\xff\xfe\x80a"


def test_a_budget_that_runs_out_ends_all_of_it(board):
    board.start()
    # One that listens is asked first.
    polite = start(
        board, "--name", "polite", "--budget", "2s", "--", "sh", "-c",
        "trap 'echo saved; exit 0' TERM; while :; do sleep 0.1; done")
    pids = board.journals / "pids"
    script = f"trap '' TERM; sleep 1000 & echo $! $$ >{pids}; while :; do sleep 1; done"
    code, _, error = run(board, "--name", "long", "--budget", "1s", "--", "sh", "-c", script)
    assert code == 124
    assert error.startswith("curfew: the budget of task-long ran out") and error.count("\n") == 1
    for pid in pids.read_text().split():
        wait_until(lambda pid=pid: not os.path.exists(f"/proc/{pid}"), f"{pid} has ended")
    end = board.wait_termination("task-long")
    assert (end["namespace"], end["code"]) == ("backgroundTask", "0x2182bad2")
    assert end["timeAllowance"] == 1.0 and end["cpuSeconds"] is not None
    assert polite.communicate(timeout=PATIENCE)[0] == "saved\n"
    assert polite.returncode == 124


def test_a_name_that_is_taken_or_empty_is_refused_with_what_to_do(board):
    board.start()
    first = start(board, "--name", "nightly", "--", "sleep", "1000")
    wait_begun(board, "task-nightly")
    code, _, error = run(board, "--name", "nightly", "--", "true")
    assert code == 125 and error.endswith("task-nightly is there already; give this one another: --name NAME\n"), error
    code, _, error = run(board, "--name", "", "--", "true")
    assert code == 2 and "without --name the task is called as the command is" in error, error
    first.terminate()
    first.wait(PATIENCE)


def test_signals_are_passed_on(board):
    board.start()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        name = number.name.lower()
        process = start(board, "--name", name, "--", "cat")
        wait_begun(board, f"task-{name}")
        process.send_signal(number)
        process.wait(PATIENCE)
        assert process.returncode == 128 + number, name


def test_a_terminals_keys_mean_the_command(board):
    board.start()
    # Some shells' read ends with a trap, others' goes on.
    script = "trap 'echo heard' INT; echo ready; until read x; do :; done; echo got $x"
    terminal = Terminal([CURFEW, "--root", board.root, "run", "--", "sh", "-c", script], ENVIRONMENT)
    try:
        terminal.wait_for("ready")
        terminal.press("\x03")
        terminal.wait_for("heard")
        terminal.press("word\n")
        terminal.wait_for("got word")
        assert terminal.wait_end() == 0
        assert terminal.output.count(b"heard") == 1
    finally:
        terminal.close()


def test_a_command_outlives_the_daemon(board):
    board.start()
    process = start(board, "--name", "one", "--", "sh", "-c", "echo $$; read x; exit 6")
    pid = int(process.stdout.readline())
    wait_begun(board, "task-one")
    assert board.describe("task-one")["mainPID"] == pid
    board.kill()
    process.communicate("go\n", timeout=PATIENCE)
    assert process.returncode == 6


# Inside an app.


class Inside:
    """An app that is a shell script with curfew run in it."""

    def __init__(self, board, script, **tables):
        self.board = board
        self.go = board.journals / "go"
        self.log = board.journals / "log"
        self.go.unlink(missing_ok=True)
        self.log.touch()
        script = script.format(run=f"{CURFEW} run", go=self.go)
        full = f"exec >>{self.log} 2>&1; {script}; echo code $?; exec sleep 1000"
        board.plain("shell", exec=["/bin/sh", "-c", full], **tables)
        board.samples.discard("shell")

    def said(self):
        return self.log.read_text()

    def wait_said(self, text):
        wait_until(lambda: text in self.said(), lambda: f"'{text}' is said: {self.said()}\n{self.board.log()}")

    def wait_task(self, name):
        wait_until(
            lambda: [task["name"] for task in tasks(self.board, "shell")] == [name],
            lambda: f"task {name} is held: {tasks(self.board, 'shell')}\n{self.said()}")


WAIT = "until test -e {go}; do sleep 0.05; done"


def test_inside_an_app_it_is_a_task_of_that_app(board):
    inside = Inside(board, "{run} --name upload -- sh -c '" + WAIT + "; exit 4'")
    board.start()
    inside.wait_task("upload")
    board.call("Background", app="shell")
    board.wait_app("shell", scenePhase="background", taskState="running")
    holds_for(0.2, lambda: board.describe("shell")["taskState"] == "running", "it is not suspended")
    assert board.describe("shell")["backgroundTimeRemaining"] <= 600
    inside.go.touch()
    board.wait_app("shell", taskState="suspended")
    assert tasks(board, "shell") == []
    board.call("Activate", app="shell")
    inside.wait_said("code 4")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_inside_an_app_of_roots_it_may_be_another_user(board):
    """The app's own socket is closed to it, that of all is not."""
    inside = Inside(
        board, "setpriv --reuid 65534 --clear-groups {run} --name upload -- sh -c '" + WAIT + "; exit 4'", user="root")
    board.start()
    inside.wait_task("upload")
    inside.go.touch()
    inside.wait_said("code 4")


ENDS_TASKS = """
import json, os, socket
with socket.socket(socket.AF_UNIX) as peer:
    peer.connect(os.environ["CURFEW_SOCKET"])
    call = {"method": "io.curfew.Application.EndBackgroundTask", "parameters": {"identifier": 1}}
    peer.sendall(json.dumps(call).encode() + b"\\0")
    print(peer.recv(1000))
"""


@pytest.mark.parametrize("budget", ["", "--budget 60s "])
def test_inside_an_app_a_command_goes_on_when_its_task_is_ended_by_the_app(board, budget):
    program = board.programs / "ends_tasks.py"
    program.write_text(ENDS_TASKS)
    ending = board.journals / "ending"
    ender = f"(until test -e {ending}; do sleep 0.05; done; /usr/bin/python3 {program}) &"
    inside = Inside(board, ender + " {run} " + budget + "--name upload -- sh -c '" + WAIT + "; exit 4'")
    board.start()
    inside.wait_task("upload")
    ending.touch()
    wait_until(lambda: tasks(board, "shell") == [], board.log)
    inside.wait_said("its app has ended the background task of sh, which goes on without one")
    holds_for(0.3, lambda: "code" not in inside.said(), "it goes on")
    inside.go.touch()
    inside.wait_said("code 4")


def test_inside_an_app_a_command_is_ended_before_its_app_is(board):
    inside = Inside(
        board, "{run} --name upload -- sh -c 'trap \"\" TERM; echo up; while :; do sleep 0.1; done'",
        background={"task_budget": "3s"})
    board.start()
    inside.wait_said("up")
    board.call("Background", app="shell")
    board.wait_app("shell", taskState="suspended")
    board.call("Activate", app="shell")
    inside.wait_said("code 124")
    assert "the background time of sh ran out" in inside.said()
    assert board.terminations("shell") == []
