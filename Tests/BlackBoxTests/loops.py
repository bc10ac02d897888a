"""Ends of the daemon's loop, and what it leaves to the next one."""

import os
import signal
import struct

import family
from waiting import wait_until


def kill_loop(board, number=signal.SIGKILL):
    """Returns when there is another."""
    loop = board.loop()
    with family.ends([loop]):
        os.kill(loop, number)
    wait_until(lambda: board.answers() and board.loop() != loop, board.log)


def hold_loop(board):
    """What happens until the loop is killed, it does not see."""
    loop = board.loop()
    os.kill(loop, signal.SIGSTOP)
    wait_until(lambda: family.state(loop) == "T", "the loop stands still")
    return loop


def end_held(board, loop):
    with family.ends([loop]):
        os.kill(loop, signal.SIGKILL)
    wait_until(lambda: board.answers() and board.loop() != loop, board.log)


def kept_state(board):
    """The memory of the state, for writing; where the last whole one lies, and its length."""
    folder = f"/proc/{board.daemon.pid}/fd"
    [name] = [name for name in os.listdir(folder) if os.readlink(f"{folder}/{name}").startswith("/memfd:curfewd")]
    memory = open(f"{folder}/{name}", "r+b", buffering=0)
    _, number, length = struct.unpack("<3Q", os.pread(memory.fileno(), 24, 0))
    return memory, 4096 + number % 2 * (32 << 20), length


def kill_loop_and_its_state(board):
    """The next one begins anew."""
    loop = hold_loop(board)
    memory, begin, length = kept_state(board)
    with memory:
        os.pwrite(memory.fileno(), b"xxxx", begin + length - 4)
    end_held(board, loop)
