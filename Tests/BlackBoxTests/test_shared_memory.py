"""System V memory, messages and semaphores of apps, which outlive their processes."""

import os
from pathlib import Path

import pytest
from board import PYTHON, toml_file
from waiting import holds_for, wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

# Makes one of each, says which, and goes on as its second argument says.
MAKER = """
import ctypes, sys, time
libc = ctypes.CDLL(None, use_errno=True)
made = [libc.shmget(0, 4096, 0o1666), libc.msgget(0, 0o1666), libc.semget(0, 1, 0o1666)]
assert min(made) >= 0, made
with open(sys.argv[1], "a") as file:
    print(*made, file=file)
if sys.argv[2] == "ends":
    sys.exit(1)
time.sleep(10000)
"""
KINDS = ("shm", "msg", "sem")


def left(kind):
    """The numbers of all that there are."""
    lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
    return {int(line.split()[1]) for line in lines}


def maker(board, name, how, **keys):
    program = board.programs / "maker.py"
    program.write_text(MAKER)
    made = board.journals / f"{name}.made"
    made.touch()
    made.chmod(0o666)
    board.app_file(name, toml_file({
        "exec": [*PYTHON, str(program), str(made), how], "launch": "boot", "user": "auto", "sandbox": "default",
        "read_only_paths": [str(board.programs)], "read_write_paths": [str(board.journals)], **keys}))
    return lambda: [[int(word) for word in line.split()] for line in made.read_text().splitlines()]


def test_what_an_app_leaves_is_removed_and_of_no_other(board):
    ends = maker(board, "ends", "ends", restart="never")
    stays = maker(board, "stays", "stays", restart="never")
    board.start()
    board.wait_termination("ends")
    wait_until(lambda: len(stays()) == 1, board.log)
    [gone], [kept] = ends(), stays()
    for kind, number, other in zip(KINDS, gone, kept):
        wait_until(lambda: number not in left(kind), f"{kind} {number} is removed: {left(kind)}")
        assert other in left(kind)
    board.call("Terminate", app="stays", force=None)
    for kind, other in zip(KINDS, kept):
        wait_until(lambda: other not in left(kind), f"{kind} {other} is removed")


def test_what_the_next_instance_makes_is_its_own(board):
    found = maker(board, "app", "stays", restart="always", restart_delay="0s", restart_limit=100)
    board.start()
    for number in range(1, 9):
        wait_until(lambda: len(found()) == number, board.log)
        board.signal("app", 9)
    wait_until(lambda: len(found()) == 9, board.log)
    last = found()[-1]
    for kind, number in zip(KINDS, last):
        holds_for(0.1, lambda: number in left(kind), f"{kind} {number} is there")
    for made in found()[:-1]:
        for kind, number in zip(KINDS, made):
            wait_until(lambda: number not in left(kind), f"{kind} {number} is removed")
