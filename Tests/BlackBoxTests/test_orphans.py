"""Without control groups: what apps leave the keeper."""

import os
import signal

import board as boards
import family
import pytest
from loops import kill_loop_and_its_state
from waiting import wait_until

# A daemon as there were before systemd: no process of its parent's session is left.
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(sys.argv[1], "a") as notes:
            notes.write(f"{os.getpid()}\\n")
        while True:
            time.sleep(1000)
    os._exit(0)
os.wait()
time.sleep(1000)
"""


# One that is an orphan only once its parent, which has much memory to give back, has died; and what that leaves in
# turn.
LARGE = """
import os, sys, time
large = bytearray(100 << 20)
for place in range(0, len(large), 4096):
    large[place] = 1
for _ in range(2):
    if os.fork():
        time.sleep(1000)
    os.setsid()
    large = None
    with open(sys.argv[1], "a") as notes:
        notes.write(f"{os.getpid()}\\n")
time.sleep(1000)
"""


def test_without_control_groups_what_dies_late_leaves_no_orphan(board):
    program, notes = board.programs / "large.py", board.journals / "large"
    program.write_text(LARGE)
    board.plain("app", exec=["/usr/bin/python3", str(program), str(notes)])
    board.start(cgroup="/proc/nowhere")
    wait_until(lambda: notes.exists() and len(notes.read_text().split()) == 2, board.log)
    first = notes.read_text().split()
    kill_loop_and_its_state(board)
    # Before it starts anything.
    wait_until(lambda: [family.state(pid) for pid in first] == ["X", "X"], "they have ended")


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_without_control_groups_no_orphan_outlives_the_loop(board, end):
    program, notes = board.programs / "daemon.py", board.journals / "daemons"
    program.write_text(DAEMON)
    board.plain("app", exec=["/usr/bin/python3", str(program), str(notes)])
    board.start(cgroup="/proc/nowhere")
    orphan = int(wait_until(lambda: notes.exists() and notes.read_text().strip(), board.log))
    with family.ends([orphan]):
        if end == "stop":
            assert board.stop() == 0
        else:
            kill_loop_and_its_state(board)


def test_what_another_program_had_started_is_no_orphan(board):
    """A script that becomes curfewd, say."""
    script, mark = board.programs / "entry.sh", board.journals / "mark"
    script.write_text(f'#!/bin/sh\nsleep 1000 &\necho $! >"{mark}"\nexec {boards.CURFEWD} "$@"\n')
    script.chmod(0o755)
    board.program = str(script)
    board.plain("app", "ready")
    board.start(cgroup="/proc/nowhere")
    board.wait_active("app")
    helper = int(mark.read_text())
    loop = board.loop()
    with family.ends([loop]):
        os.kill(loop, signal.SIGKILL)
    wait_until(lambda: board.answers() and board.loop() != loop, "it has another loop")
    assert family.state(helper) == "S"
    os.kill(helper, signal.SIGKILL)
