"""What a main process leaves behind when its app is to end has the time of its end too."""

import pytest
from board import PYTHON, toml_file
from waiting import wait_until

# Saves at SIGTERM, once its parent is gone: that is sent to the main process first.
SAVES = """
import os, pathlib, signal, sys
folder, parent = pathlib.Path(sys.argv[1]), os.getppid()
def save(*_):
    while os.getppid() == parent:
        pass
    (folder / "saved").touch()
    sys.exit()
signal.signal(signal.SIGTERM, save)
(folder / "ready").touch()
while True:
    signal.pause()
"""


def script(board, name, text, **keys):
    """An app that is a start script."""
    board.app_file(name, toml_file({"exec": ["/bin/sh", "-c", text], "launch": "boot", "restart": "never", **keys}))


def start_deaf(board, allowance):
    """Its script leaves behind what ignores SIGTERM."""
    ready = board.journals / "ready"
    script(
        board, "app", f"(trap '' TERM; touch {ready}; exec sleep 1000) & wait",
        allowances={"will-terminate": allowance})
    board.start()
    wait_until(ready.exists, lambda: board.log())


@pytest.fixture
def starter(board):
    """Its script does not exec what it starts."""
    program = board.programs / "saves.py"
    program.write_text(SAVES)
    script(board, "app", f"{' '.join(PYTHON)} {program} {board.journals}; exit 0")
    board.start()
    wait_until((board.journals / "ready").exists, lambda: board.log())
    return board


@pytest.mark.parametrize("how", ["terminate", "shutdown"])
def test_what_a_start_script_has_started_can_save(starter, how):
    if how == "terminate":
        starter.call("Terminate", app="app", force=None)
        assert starter.terminations("app")[0]["namespace"] == "user"
    else:
        assert starter.stop() == 0
    assert (starter.journals / "saved").exists(), starter.log()
    assert starter.instances() == []


def test_a_hook_goes_on_when_it_has_ended_the_main_process(board):
    hook = board.programs / "hook"
    hook.write_text(
        "#!/bin/sh\nkill -TERM $MAINPID\nwhile kill -0 $MAINPID 2>&-; do :; done\n"
        f"/bin/true\ntouch {board.journals}/saved\n")
    hook.chmod(0o755)
    board.app("app", delegate="hooks", hooks={"will-terminate": [str(hook)]})
    board.start()
    board.wait_active("app")
    board.call("Terminate", app="app", force=None)
    assert (board.journals / "saved").exists(), board.log()
    assert board.terminations("app")[0]["namespace"] == "user" and board.instances() == []


def test_the_result_of_a_hook_that_was_the_last_is_heard(board):
    hook = board.programs / "hook"
    hook.write_text("#!/bin/sh\nkill -TERM $MAINPID\nwhile kill -0 $MAINPID 2>&-; do :; done\nexit 7\n")
    hook.chmod(0o755)
    board.app("app", delegate="hooks", hooks={"will-terminate": [str(hook)]})
    board.start()
    board.wait_active("app")
    board.call("Terminate", app="app", force=None)
    assert "its hook exited with status 7" in board.log()


def test_what_ignores_sigterm_is_killed_when_the_time_is_over(board):
    start_deaf(board, "500ms")
    board.call("Terminate", app="app", force=None)
    [report] = board.terminations("app")
    # It has ended as it was asked to.
    assert (report["namespace"], report["code"]) == ("user", "0x0"), report
    assert board.instances() == []


def test_what_is_left_of_a_forced_end_has_no_time(starter):
    starter.call("Terminate", app="app", force=True)
    assert not (starter.journals / "saved").exists() and starter.instances() == []


def test_it_is_there_until_all_of_it_is_gone(board):
    """A second order finds it ending; one that is forced kills the rest."""
    start_deaf(board, "100s")
    with board.wire() as wire:
        wire.send("io.curfew.Control.Terminate", {"app": "app", "force": None})
        wait_until(lambda: board.describe("app")["mainPID"] is None, lambda: board.log())
        assert board.describe("app")["taskState"] == "terminating"
        board.call("Terminate", app="app", force=True)
    assert board.instances() == [] and len(board.terminations("app")) == 1
