"""Other versions of the daemon's program, and upgrades to them."""

import os
import shutil
from pathlib import Path

import pytest
from board import CURFEWD


@pytest.fixture(autouse=True)
def installed(board):
    """The daemon's program lies in a place of its own."""
    board.program = f"{board.root}/curfewd"
    shutil.copy(CURFEWD, board.program)


def install(board, script=None):
    """Puts another program there, as a package does: the real one if it is not said otherwise."""
    new = Path(f"{board.program}.new")
    if script is None:
        shutil.copy(CURFEWD, new)
    else:
        new.write_text(script)
        new.chmod(0o755)
    new.rename(board.program)
    return os.stat(board.program).st_ino


def running(pid):
    """The inode of its program."""
    return os.stat(f"/proc/{pid}/exe").st_ino


def upgrade(board):
    """Returns when the new version serves."""
    loop, inode = board.loop(), install(board)
    board.call("Upgrade")
    assert running(board.daemon.pid) == inode
    assert board.loop() != loop
    assert running(board.loop()) == inode


def refused(board):
    error = board.error("Upgrade")
    assert (error.name, error.parameters["kind"]) == ("io.curfew.Control.Denied", "notUpgraded"), error
    return error.parameters["reason"]
