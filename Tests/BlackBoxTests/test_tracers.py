"""Who traces an app's processes from outside holds back their end (ptrace(2))."""

import os
import pwd
import signal
import subprocess

import family
import pytest
from board import PYTHON
from waiting import PATIENCE, wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
# Seizes a process, and never waits for it; "exit": nor lets it end.
TRACES = """
import ctypes, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
if libc.ptrace(0x4206, int(sys.argv[1]), None, 0x40 if sys.argv[2] == "exit" else None) != 0:
    print("refused", flush=True)
else:
    print("traces", flush=True)
while True:
    signal.pause()
"""


def trace(pid, how, user):
    tracer = subprocess.Popen([*PYTHON, "-c", TRACES, str(pid), how], stdout=subprocess.PIPE, text=True, user=user,
                              group=user, extra_groups=[])
    if tracer.stdout.readline() != "traces\n":
        tracer.kill()
        tracer.wait()
        pytest.skip("a process of the same user cannot be traced here")
    return tracer


@pytest.mark.parametrize("how", ["zombie", "exit"])
def test_one_of_the_apps_own_user_that_holds_back_its_end_is_ended(board, how):
    board.app_file("app", 'exec = ["/bin/sleep", "1000"]\nuser = "games"\nsandbox = "off"\nlaunch = "boot"\n')
    board.app("other")
    board.start()
    board.wait_active("app", "other")
    main = board.describe("app")["mainPID"]
    with trace(main, how, "games") as tracer:
        if how == "zombie":
            os.kill(main, signal.SIGKILL)
            wait_until(lambda: family.state(main) == "Z", "it has ended, and its parent does not hear of it")
        assert board.describe("app")["taskState"] == "running"
        board.call("Terminate", app="app", force=True, timeout=PATIENCE)
        tracer.wait(timeout=PATIENCE)
        assert tracer.returncode == -signal.SIGKILL
    board.wait_app("app", taskState="notRunning")
    board.wait_log(f"app: pid {tracer.pid}, of its own user, traces pid {main} and holds back its end: killed")
    board.call("Launch", app="app", background=None)
    board.wait_active("app")
    assert len(board.instances()) == 2


def test_a_tracer_of_roots_is_left_alone(board):
    board.app_file("app", 'exec = ["/bin/sleep", "1000"]\nuser = "games"\nsandbox = "off"\nlaunch = "boot"\n')
    board.start()
    board.wait_active("app")
    main = board.describe("app")["mainPID"]
    assert os.stat(f"/proc/{main}").st_uid == pwd.getpwnam("games").pw_uid
    with trace(main, "exit", "root") as tracer:
        with board.wire() as wire:
            wire.send("io.curfew.Control.Terminate", {"app": "app", "force": True})
            board.wait_log("app: could not be killed")
        assert tracer.poll() is None
        tracer.kill()
    board.wait_app("app", taskState="notRunning")
