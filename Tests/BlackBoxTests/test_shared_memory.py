"""System V memory, messages and semaphores of apps, which outlive their processes."""

import ctypes
import errno
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from board import CURFEWD, PYTHON, toml_file
from waiting import holds_for, wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

# Makes one of each, says which, and goes on as its second argument says.
MAKER = """
import ctypes, sys, time
libc = ctypes.CDLL(None, use_errno=True)
made = [libc.shmget(0, 4096, 0o1666), libc.msgget(0, 0o1666), libc.semget(0, 1, 0o1666)]
assert min(made) >= 0, made
if sys.argv[2] == "many":
    more = [libc.semget(0, 1, 0o1666) for _ in range(200)]
    assert min(more) >= 0
    made, sys.argv[2] = [made[0], made[1], more[-1]], "ends"
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


def test_a_great_many_are_removed_too(board):
    """By a thread, so that no other app waits."""
    many = maker(board, "many", "many", restart="never")
    board.start()
    board.wait_termination("many")
    [gone] = many()
    for kind, number in zip(KINDS, gone):
        wait_until(lambda: number not in left(kind), f"{kind} {number} is removed: {left(kind)}")


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


def test_what_another_process_of_that_user_may_use_stays(board):
    """Another daemon may have given the same number to an app of its own."""
    found = maker(board, "app", "stays", restart="never")
    board.start()
    wait_until(lambda: len(found()) == 1, board.log)
    user = os.stat(f"/proc/{board.describe('app')['mainPID']}").st_uid
    with subprocess.Popen(["/bin/sleep", "1000"], user=user, group=user, extra_groups=[]) as other:
        try:
            board.call("Terminate", app="app", force=None)
            [made] = found()
            for kind, number in zip(KINDS, made):
                holds_for(0.2, lambda: number in left(kind), f"{kind} {number} is there")
        finally:
            other.kill()
    # The next end takes them.
    board.call("Launch", app="app", background=None)
    wait_until(lambda: len(found()) == 2, board.log)
    board.call("Terminate", app="app", force=None)
    for kind, number in zip(KINDS, made):
        wait_until(lambda: number not in left(kind), f"{kind} {number} is removed")


def test_a_daemon_without_roots_rights_removes_nothing_of_its_own_users(tmp_path):
    root = Path(tempfile.mkdtemp(prefix="curfew-", dir="/tmp"))
    (root / "etc/curfew/apps").mkdir(parents=True)
    (root / "etc/curfew/apps/app.toml").write_text(toml_file({
        "exec": ["/bin/true"], "launch": "boot", "user": "auto", "sandbox": "default", "restart": "never"}))
    for folder, _, files in os.walk(root):
        os.chown(folder, 65534, 65534)
        for name in files:
            os.chown(f"{folder}/{name}", 65534, 65534)
    made = subprocess.run(
        ["/usr/bin/python3", "-c", "import ctypes; print(ctypes.CDLL(None).shmget(0, 4096, 0o1666))"], user=65534,
        group=65534, extra_groups=[], capture_output=True, text=True, check=True).stdout
    with subprocess.Popen([CURFEWD, "--root", str(root), "--no-board"], user=65534, group=65534, extra_groups=[],
                          stderr=subprocess.PIPE, text=True) as daemon:
        try:
            for line in daemon.stderr:
                if "ended" in line or "could not be launched" in line:
                    break
            assert int(made) in left("shm"), line
        finally:
            daemon.terminate()
    assert int(made) in left("shm")
    subprocess.run(["ipcrm", "-m", made.strip()], check=True)
    shutil.rmtree(root)


def test_what_the_apps_of_a_dead_daemon_leave_is_removed_by_the_next(board):
    made = maker(board, "app", "stays")
    board.start()
    wait_until(lambda: len(made()) == 1, board.log)
    board.kill()
    board.start()
    wait_until(lambda: len(made()) == 2, board.log)
    for kind, old, new in zip(KINDS, *made()):
        wait_until(lambda: old not in left(kind), f"{kind} {old} is removed: {left(kind)}")
        assert new in left(kind)


MQUEUE_MAKER = """
import ctypes, os, sys
rt = ctypes.CDLL("librt.so.1", use_errno=True)
queue = rt.mq_open(sys.argv[1].encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
print(queue, ctypes.get_errno(), file=open(sys.argv[2], "w"))
"""


def test_strict_sees_message_queues_of_its_own(board):
    """Those of the system are no more in its /dev than in its reach."""
    program, seen = board.programs / "queue.py", board.journals / "queue"
    program.write_text(MQUEUE_MAKER + 'print(os.listdir("/dev/mqueue"), file=open(sys.argv[2], "a"))\n')
    seen.touch()
    seen.chmod(0o666)
    board.app_file("app", toml_file({
        "exec": [*PYTHON, str(program), "/mine", str(seen)], "launch": "boot", "user": "auto", "sandbox": "strict",
        "restart": "never", "read_only_paths": [str(board.programs)], "read_write_paths": [str(board.journals)]}))
    board.start(prepare=with_message_queues)
    board.wait_termination("app")
    assert seen.read_text().splitlines()[1:] == ["['mine']"], seen.read_text() + board.log()


def with_message_queues():
    """As systemd mounts them; in a mount namespace of the daemon's."""
    libc = ctypes.CDLL(None, use_errno=True)
    os.makedirs("/dev/mqueue", exist_ok=True)
    for outcome in (libc.unshare(0x20000), libc.mount(None, b"/", None, 1 << 14 | 1 << 18, None),
                    libc.mount(b"mqueue", b"/dev/mqueue", b"mqueue", 0, None)):
        assert outcome == 0, os.strerror(ctypes.get_errno())


def test_a_message_queue_of_posix_goes_with_its_app(board):
    name, made = f"/curfew-{os.getpid()}-{os.urandom(4).hex()}", board.journals / "queue"
    program = board.programs / "queue.py"
    program.write_text(MQUEUE_MAKER)
    made.touch()
    made.chmod(0o666)
    board.app_file("app", toml_file({
        "exec": [*PYTHON, str(program), name, str(made)], "launch": "boot", "user": "auto", "sandbox": "default",
        "restart": "never", "read_only_paths": [str(board.programs)], "read_write_paths": [str(board.journals)]}))
    board.start(prepare=with_message_queues)
    board.wait_termination("app")
    assert made.read_text().split()[1] == "0", made.read_text()
    rt = ctypes.CDLL("librt.so.1", use_errno=True)

    def is_gone():
        queue = rt.mq_open(name.encode(), os.O_RDONLY)
        if queue >= 0:
            os.close(queue)
        return queue < 0 and ctypes.get_errno() == errno.ENOENT
    wait_until(is_gone, board.log)
