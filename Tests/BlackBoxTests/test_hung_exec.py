"""A process that hangs in its exec, for as long as a stranger's file system likes: some kernels let no reader of most
of its /proc go on before that."""

import contextlib
import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from board import PYTHON
from lockers import NAMED, Passed
from test_unfreezable import GETS_A_FILE, SERVES_ANOTHER, alone, app, fuse, hanging, state
from waiting import wait_until

# Its exec closes a file whose server does not answer that.
EXECS = GETS_A_FILE + """
os.set_inheritable(file, False)
os.execv("/bin/true", ["true"])
"""
pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/dev/fuse"), reason="needs root and FUSE")
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}


@pytest.fixture(autouse=True)
def by_itself():
    with alone("fuse"):
        yield


@contextlib.contextmanager
def stranger(board, *programs):
    """Programs of a person's; all that they have left is ended after it."""
    started = []
    try:
        for text, arguments in programs:
            started.append(subprocess.Popen(
                [*PYTHON, "-c", text, *map(str, arguments)], **NOBODY, start_new_session=True))
        yield
    finally:
        # All of them first: one may be held by another.
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)
        for process in started:
            process.wait()


def hangs_for_readers(pid):
    """Once it is in its exec."""
    for _ in range(10):
        reader = threading.Thread(target=lambda: Path(f"/proc/{pid}/stat").read_bytes(), daemon=True)
        reader.start()
        reader.join(0.5)
        if reader.is_alive():
            return
    pytest.skip("this kernel tells of such a process what it always tells")


@pytest.fixture
def places(board):
    place, device = fuse(board)
    return place, device, board.journals / "handed", board.journals / "hangs"


def test_who_has_a_lock_is_found_beside_a_stranger_s_that_hangs(board, places):
    place, device, meeting, said = places
    with stranger(board, (SERVES_ANOTHER, (place, device, meeting)), (EXECS, (said, meeting))):
        wait_until(said.exists, "it has said who it is")
        hangs_for_readers(int(said.read_text()))
        login = board.with_login()
        lock = Passed(board, login)
        for number in (1, 2):
            login.sleep(True)
            wait_until(lambda: board.is_frozen("other") and board.is_frozen(lock.innocent), board.log)
            if number == 1:
                board.wait_log(NAMED.format(lock.holder))
            login.wait_closed("sleep", number)
            login.sleep(False)
            login.wait_held("sleep", number + 1)
            board.wait_active("other")
        walks = [thread for thread in Path(f"/proc/{board.daemon.pid}/task").iterdir()
                 if (thread / "comm").read_text() == "curfewd-walk\n"]
        assert len(walks) == 1, "the second passes over what the first hangs at"


def test_an_app_that_hangs_is_ended_and_holds_up_nothing(board, places):
    place, device, meeting, said = places
    app(board, "hangs", EXECS, (said, meeting))
    board.app("prompt")
    with stranger(board, (SERVES_ANOTHER, (place, device, meeting))):
        login = board.awake("prompt")
        pid = hanging(board, said)
        hangs_for_readers(pid)
        signalled = login.sleep(True)
        assert login.wait_closed("sleep")["t"] - signalled < 4
        assert board.is_frozen("prompt")
        login.sleep(False)
        board.wait_active("prompt")
        board.call("Terminate", app="hangs", force=True, timeout=40)
        wait_until(lambda: state(pid) is None, lambda: f"nothing of it is left: {state(pid)}\n{board.log()}")
        board.wait_termination("hangs")
