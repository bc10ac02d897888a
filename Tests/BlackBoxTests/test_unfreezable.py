"""An app whose process waits in the kernel, where it cannot be frozen: on a file system that the app serves itself."""

import os
import stat
from pathlib import Path

import pytest
from board import PYTHON, toml_file
from waiting import wait_until

# What is asked of a FUSE file system before it has said its first word waits in the kernel until it is killed.
SERVED_BY_ITSELF = """
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
user, group = os.getuid(), os.getgid()
def check(outcome):
    if outcome != 0:
        raise OSError(ctypes.get_errno(), "here")
check(libc.unshare(0x10000000 | 0x20000))
for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)
# One that was opened outside of it cannot be mounted.
device = os.open(sys.argv[3], os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
check(libc.mount(b"own", sys.argv[1].encode(), b"fuse", 0, options))
child = os.fork()
if child == 0:
    os.stat(sys.argv[1] + "/file")
open(sys.argv[2], "w").write(str(child))
time.sleep(10000)
"""


@pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/dev/fuse"), reason="needs root and FUSE")
def test_an_app_that_hangs_on_its_own_file_system_holds_up_one_sleep(board):
    place = board.journals / "own"
    place.mkdir()
    program = board.programs / "served.py"
    program.write_text(SERVED_BY_ITSELF)
    said = board.journals / "hangs"
    # Elsewhere any user may open it.
    device = board.journals / "fuse"
    os.mknod(device, 0o666 | stat.S_IFCHR, os.stat("/dev/fuse").st_rdev)
    for path in (device, board.journals):
        path.chmod(0o777)
    board.app_file("evil", toml_file({
        "exec": [*PYTHON, str(program), str(place), str(said), str(device)], "launch": "boot", "user": "auto",
        "sandbox": "default", "restart": "never", "read_only_paths": [str(board.programs)],
        "read_write_paths": [str(board.journals)]}))
    board.app("prompt")
    login = board.awake("prompt")
    wait_until(said.exists, lambda: f"{board.log()}\n{(Path(board.root) / 'var/lib/curfew/reports.jsonl').read_text()}")
    hangs = int(said.read_text())
    wait_until(lambda: state(hangs) == "D", lambda: f"it waits in the kernel: {state(hangs)}")
    for number in (1, 2):
        signalled = login.sleep(True)
        # Of logind's 5 s: the freezing's bound, and no more.
        assert login.wait_closed("sleep", number)["t"] - signalled < 4
        assert board.is_frozen("prompt")
        assert (state(hangs) == "D") == (number == 1)
        login.sleep(False)
        login.wait_held("sleep", number + 1)
        board.wait_active("prompt")
    end = board.wait_termination("evil")
    assert end["reason"] == "unfreezable" and "at two sleeps in a row" in end["explanation"]
    wait_until(lambda: state(hangs) is None, "nothing of it is left")
    # From here on no sleep waits for it.
    signalled = login.sleep(True)
    assert login.wait_closed("sleep", 3)["t"] - signalled < 1.5


def state(pid):
    """Of a process, as /proc says it; None: it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None
