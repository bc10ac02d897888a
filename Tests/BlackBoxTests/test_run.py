"""curfew run: a command as a background task, of an app or of its own."""

import os
import signal
import subprocess

import cgroups
import pytest
from board import CURFEW, PYTHON
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


@pytest.mark.parametrize("script, code", [("exit 0", 0), ("exit 3", 3), ("kill -KILL $$", 137), ("kill -SEGV $$", 139)])
def test_the_exit_code_is_the_commands(board, script, code):
    board.start()
    assert run(board, "--", "sh", "-c", script) == (code, "", "")


def test_a_command_has_what_the_shell_gave_it_and_a_group_of_its_own(board):
    board.start()
    code, output, error = run(
        board, "--name", "nightly", "--", "sh", "-c", "cat; grep ^0:: /proc/self/cgroup; echo $TERM; pwd >&2",
        given="hello\n")
    assert (code, error) == (0, os.getcwd() + "\n")
    first, group, term = output.splitlines()
    assert (first, term) == ("hello", "dumb")
    assert "/apps/task-nightly." in group


def test_arguments_that_are_no_text_are_passed_on(board):
    board.start()
    output = subprocess.run(
        [CURFEW, "--root", board.root, "run", "--", "printf", "%s", b"\xff\xfe\x80a"], env=ENVIRONMENT,
        stdout=subprocess.PIPE, check=True, timeout=PATIENCE).stdout
    assert output == b"\xff\xfe\x80a"


def test_a_budget_that_runs_out_ends_all_of_it(board):
    board.start()
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


def test_a_command_is_asked_to_end_before_its_budget_is_spent(board):
    board.start()
    assert run(board, "--budget", "2s", "--", "sleep", "1000")[0] == 124
    code, output, _ = run(
        board, "--budget", "2s", "--", "sh", "-c", "trap 'echo saved; exit 0' TERM; while :; do sleep 0.1; done")
    assert (code, output) == (124, "saved\n")


def test_a_command_that_cannot_run_is_126_or_127_and_no_task(board):
    board.start()
    script = board.journals / "script"
    script.write_text("#!/nonexistent/interpreter\n")
    assert run(board, "--", str(script))[0] == 126
    script.chmod(0o755)
    code, _, error = run(board, "--", str(script))
    assert code == 127 and "interpreter" in error
    assert run(board, "--", "no-such-command")[0] == 127
    assert not [task for task in board.list() if task.startswith("task-no")]


def test_what_is_refused_is_125_and_not_run(board):
    board.start()
    mark = board.journals / "mark"
    first = start(board, "--name", "one", "--", "cat")
    wait_begun(board, "task-one")
    code, _, error = run(board, "--name", "one", "--", "touch", str(mark))
    assert code == 125 and "touch" not in error and error.startswith("curfew: task-one was not run: ")
    assert run(board, "--name", "Not_Plain", "--", "touch", str(mark))[0] == 2
    assert not mark.exists()
    first.communicate(timeout=PATIENCE)
    assert first.returncode == 0


def test_without_a_daemon_nothing_is_run(board):
    mark = board.journals / "mark"
    code, _, error = run(board, "--", "touch", str(mark))
    assert code == 4 and "touch was not run" in error
    assert not mark.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_signals_are_passed_on(board, number):
    board.start()
    process = start(board, "--name", "one", "--", "cat")
    wait_begun(board, "task-one")
    process.send_signal(number)
    process.wait(PATIENCE)
    assert process.returncode == 128 + number


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
    process = start(board, "--name", "one", "--", "sh", "-c", "read x; exit 6")
    wait_begun(board, "task-one")
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
    holds_for(0.3, lambda: board.describe("shell")["taskState"] == "running", "it is not suspended")
    assert board.describe("shell")["backgroundTimeRemaining"] <= 600
    inside.go.touch()
    board.wait_app("shell", taskState="suspended")
    assert tasks(board, "shell") == []
    board.call("Activate", app="shell")
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


def test_inside_an_app_a_limit_of_its_own_is_kept_in_front_too(board):
    script = "trap \"echo saved; exit 0\" TERM; while :; do sleep 0.1; done"
    inside = Inside(board, "{run} --budget 500ms -- sh -c '" + script + "'")
    board.start()
    inside.wait_said("code 124")
    assert "saved" in inside.said()
    assert tasks(board, "shell") == []


def test_what_the_policy_does_not_allow_is_125(board):
    inside = Inside(board, "{run} --keep-awake -- echo never")
    board.start()
    inside.wait_said("code 125")
    assert "never" not in inside.said()
    assert "keep-awake" in inside.said()


def test_a_task_ends_with_curfew_run(board):
    inside = Inside(board, "{run} --name upload -- sleep 1000")
    board.start()
    inside.wait_task("upload")
    groups = cgroups.instances(board.apps_group)
    assert len(groups) == 1
    for pid in (board.instance("shell") / "cgroup.procs").read_text().split():
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            if file.read().split(b"\0")[0] == CURFEW.encode():
                os.kill(int(pid), signal.SIGKILL)
    inside.wait_said("code 137")
    wait_until(lambda: tasks(board, "shell") == [], "the task has ended")


def test_who_is_in_no_app_is_run_outside(board):
    board.start()
    environment = {**ENVIRONMENT, "CURFEW_APP": "gone", "CURFEW_SOCKET": board.application_socket}
    # Without --root it would be the board's own daemon: there is none here, and nothing is run.
    result = subprocess.run(
        [CURFEW, "run", "--", *PYTHON, "-c", "print('never')"], env=environment, capture_output=True, text=True,
        timeout=PATIENCE, check=False)
    assert (result.returncode, result.stdout) == (4, "")
    assert "/run/curfew/io.curfew.Control" in result.stderr
