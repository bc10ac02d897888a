"""An app whose process waits in the kernel, where it cannot be frozen: on a file system that the app serves itself."""

import contextlib
import ctypes
import fcntl
import os
import signal
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest
from board import PYTHON, toml_file
from sandboxed import in_sandbox
from waiting import wait_until

# What is asked of a FUSE file system before it has said its first word waits in the kernel until it is killed; what it
# has read and not answered waits for longer, as the process that waits holds the connection open itself.
SERVED_BY_ITSELF = """
import ctypes, os, struct, sys, time
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
if sys.argv[4] != "silent":
    hello = os.read(device, 1 << 17)
    unique = struct.unpack_from("<IIQ", hello)[2]
    answer = struct.pack("<IIIIHHIIHHI7I", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, 0, *[0] * 7)
    os.write(device, struct.pack("<IiQ", 16 + len(answer), 0, unique) + answer)
    os.read(device, 1 << 17)
open(sys.argv[2], "w").write(str(child))
if sys.argv[4] == "ends":
    sys.exit(3)
time.sleep(10000)
"""
# In user and mount namespaces of its own, where it may mount what it serves.
IN_NAMESPACES = """
import ctypes, os, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
user, group = os.getuid(), os.getgid()
assert libc.unshare(0x10000000 | 0x20000) == 0
for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)
"""
# Serves one file, and gives it away open; that it is closed is read and not answered.
SERVES_ANOTHER = IN_NAMESPACES + """
device = os.open(sys.argv[2], os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
assert libc.mount(b"own", sys.argv[1].encode(), b"fuse", 0, options) == 0
if os.fork() == 0:
    file = os.open(sys.argv[1] + "/file", os.O_RDONLY)
    os.close(device)  # or it could not be ended from outside
    with socket.socket(socket.AF_UNIX) as other:
        while other.connect_ex(sys.argv[3]) != 0:
            os.sched_yield()
        socket.send_fds(other, [b"x"], [file])
        other.recv(1)
    os.read(os.pipe()[0], 1)
attributes = struct.pack("<6Q10I", 2, 0, 0, 0, 0, 0, 0, 0, 0, 0o100644, 1, 0, 0, 0, 4096, 0)
answers = {26: struct.pack("<IIIIHHIIHHI7I", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, 0, *[0] * 7),
           1: struct.pack("<4Q2I", 2, 0, 1000, 1000, 0, 0) + attributes, 14: struct.pack("<QII", 1, 0, 0)}
while True:
    try:
        request = os.read(device, 1 << 17)
    except OSError:
        os.read(os.pipe()[0], 1)  # it was aborted
    opcode, unique = struct.unpack_from("<IQ", request, 4)
    if opcode in answers:
        os.write(device, struct.pack("<IiQ", 16 + len(answers[opcode]), 0, unique) + answers[opcode])
"""
GETS_A_FILE = """
import os, socket, sys
os.umask(0)
with socket.socket(socket.AF_UNIX) as own:
    own.bind(sys.argv[2])
    own.listen()
    other = own.accept()[0]
    file = socket.recv_fds(other, 1, 1)[1][0]
with open(sys.argv[1], "w") as said:
    said.write(str(os.getpid()))
"""
TAKES_A_FILE = GETS_A_FILE + "os.close(file)"
# Serves four that answer each lookup late, asked by four processes that rest between two questions; counts the answers.
ANSWERS_LATE = IN_NAMESPACES + """
def serve(place, said):
    device = os.open(sys.argv[2], os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    assert libc.mount(b"own", place.encode(), b"fuse", 0, options) == 0
    if os.fork() == 0:
        while True:
            os.path.exists(place + "/file")
            time.sleep(0.15)
    greeting = struct.pack("<IIIIHHIIHHI7I", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, 0, *[0] * 7)
    count = 0
    while True:
        request = os.read(device, 1 << 17)
        opcode, unique = struct.unpack_from("<IQ", request, 4)
        if opcode == 26:
            os.write(device, struct.pack("<IiQ", 16 + len(greeting), 0, unique) + greeting)
            continue
        time.sleep(0.45)
        os.write(device, struct.pack("<IiQ", 16, -2, unique))
        count += 1
        os.pwrite(said, b"%06d" % count, 0)
for number in range(4):
    place = f"{sys.argv[1]}{number}"
    os.mkdir(place)
    said = os.open(f"{place}.count", os.O_CREAT | os.O_WRONLY, 0o644)
    if os.fork() == 0:
        serve(place, said)
os.read(os.pipe()[0], 1)
"""
pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/dev/fuse"), reason="needs root and FUSE")


@pytest.fixture(autouse=True)
def by_itself():
    """What is ended for one that cannot be killed may be a file system of another run of these tests, beside this."""
    with alone("fuse"):
        yield


def evil(board, how, **keys):
    """Returns where it says which of its processes hangs."""
    said = board.journals / "hangs"
    place, device = fuse(board)
    app(board, "evil", SERVED_BY_ITSELF, [place, said, device, how], **keys)
    return said


def fuse(board):
    """A place to mount one, and the device."""
    place = board.journals / "own"
    place.mkdir()
    # Elsewhere any user may open it.
    device = board.journals / "fuse"
    os.mknod(device, 0o666 | stat.S_IFCHR, os.stat("/dev/fuse").st_rdev)
    for path in (device, board.journals):
        path.chmod(0o777)
    return place, device


def app(board, name, text, arguments, **keys):
    program = board.programs / f"{name}.py"
    program.write_text(text)
    board.app_file(name, toml_file({
        "exec": [*PYTHON, str(program), *map(str, arguments)], "launch": "boot", "restart": "never",
        "restrict_namespaces": False, **in_sandbox(board), **keys}))


@pytest.mark.parametrize("how", ["serves", "ends"])
def test_what_waits_for_an_answer_of_its_own_is_killed_all_the_same(board, how):
    said = evil(board, how)
    board.start()
    hangs = hanging(board, said)
    if how == "serves":
        board.call("Terminate", app="evil", force=True)
    wait_until(lambda: state(hangs) is None, lambda: f"nothing of it is left: {state(hangs)}\n{board.log()}")
    board.wait_termination("evil")
    assert "could not be killed" not in board.log()


def test_what_a_dead_daemon_has_left_is_ended_by_the_next(board):
    said = evil(board, "serves")
    board.start()
    hangs = hanging(board, said)
    board.kill()
    said.unlink()
    board.start()
    wait_until(lambda: state(hangs) is None, lambda: f"nothing of it is left: {state(hangs)}\n{board.log()}")
    board.wait_log("ended evil.1, left by an earlier curfewd")


@contextlib.contextmanager
def alone(user):
    """Another run of these tests may be beside this one: what is ended is the user's, whichever daemon's it is."""
    with open(Path(tempfile.gettempdir()) / f"curfew-test-{user}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_of_a_user_that_others_have_too_once_the_kill_has_not_worked(board):
    with alone("daemon"):
        said = evil(board, "ends", user="daemon")
        board.start()
        hangs = hanging(board, said)
        board.wait_log("could not be killed")
        wait_until(lambda: state(hangs) is None, lambda: f"nothing of it is left: {state(hangs)}\n{board.log()}")


def test_what_waits_for_another_app_s_file_system_is_killed_all_the_same(board):
    """A file that it was given: nothing of its own user's holds it."""
    place, device = fuse(board)
    said, meeting = board.journals / "hangs", board.journals / "meeting"
    app(board, "server", SERVES_ANOTHER, [place, device, meeting])
    app(board, "taker", TAKES_A_FILE, [said, meeting])
    board.start()
    hangs = hanging(board, said)
    waits = Path(f"/proc/{hangs}/wchan")
    wait_until(lambda: waits.read_text() == "request_wait_answer", lambda: f"it waits for it: {waits.read_text()}")
    board.call("Terminate", app="taker", force=True)
    board.wait_log("could not be killed")
    wait_until(lambda: state(hangs) is None, lambda: f"nothing of it is left: {state(hangs)}\n{board.log()}")
    board.wait_active("server")


def test_a_person_s_that_holds_it_ends_before_an_app_s_whose_reader_waits_in_good_order(board):
    """As for the next message of a queue."""
    said = evil(board, "serves")
    place, meeting, taken = (board.journals / name for name in ("strange", "meeting", "taken"))
    place.mkdir()
    place.chmod(0o777)
    app(board, "taker", TAKES_A_FILE, [taken, meeting])
    board.start()
    reader = hanging(board, said)
    serves = [*PYTHON, "-c", SERVES_ANOTHER, place, board.journals / "fuse", meeting]
    with subprocess.Popen(serves, user=65534, group=65534, extra_groups=[], start_new_session=True) as stranger:
        try:
            hangs = hanging(board, taken)
            waits = Path(f"/proc/{hangs}/wchan")
            wait_until(lambda: waits.read_text() == "request_wait_answer", lambda: f"it waits: {waits.read_text()}")
            board.call("Terminate", app="taker", force=True)
            board.wait_log("could not be killed")
            wait_until(lambda: state(hangs) is None, lambda: f"it is left: {state(hangs)}\n{board.log()}")
            assert state(reader) == "S" and Path(f"/proc/{reader}/wchan").read_text() == "request_wait_answer"
        finally:
            os.killpg(stranger.pid, signal.SIGKILL)


def test_what_answers_late_is_left_alone_while_others_are_killed(board):
    place, device = fuse(board)
    said, meeting, slow = (board.journals / name for name in ("hangs", "meeting", "slow"))
    app(board, "slow", ANSWERS_LATE, [slow, device])
    app(board, "server", SERVES_ANOTHER, [place, device, meeting])
    app(board, "taker", TAKES_A_FILE, [said, meeting])
    board.start()

    def counts():
        return [int(Path(f"{slow}{number}.count").read_text() or 0) for number in range(4)]

    hangs = hanging(board, said)
    wait_until(lambda: Path(f"{slow}3.count").exists() and min(counts()) > 0, "each has answered")
    board.call("Terminate", app="taker", force=True)
    board.wait_log("could not be killed")
    wait_until(lambda: state(hangs) is None, lambda: f"nothing of it is left: {state(hangs)}\n{board.log()}")
    before = counts()
    # One answer may have been on its way.
    wait_until(lambda: all(now > then + 1 for now, then in zip(counts(), before)), lambda: f"{before}, {counts()}")


def test_a_second_app_that_waits_for_another_s_is_killed_too(board):
    _, device = fuse(board)
    says = []
    for number in range(2):
        place, said, meeting = (board.journals / f"{name}{number}" for name in ("own", "hangs", "meeting"))
        place.mkdir()
        place.chmod(0o777)
        app(board, f"server{number}", SERVES_ANOTHER, [place, device, meeting], launch="manual")
        app(board, f"taker{number}", TAKES_A_FILE, [said, meeting], launch="manual")
        says.append(said)
    board.start()
    for number, said in enumerate(says):
        for name in ("server", "taker"):
            board.call("Launch", app=f"{name}{number}", background=False)
        pid = hanging(board, said)
        waits = Path(f"/proc/{pid}/wchan")
        wait_until(lambda waits=waits: waits.read_text() == "request_wait_answer", "it waits for it")
        board.call("Terminate", app=f"taker{number}", force=True, timeout=40)
        wait_until(lambda pid=pid: state(pid) is None, lambda: f"nothing of it is left\n{board.log()}")


def test_what_is_mounted_where_all_see_it_is_left_alone(board, tmp_path):
    said = evil(board, "serves")
    board.start()
    hangs = hanging(board, said)
    place = tmp_path / "seen"
    place.mkdir()
    device = os.open("/dev/fuse", os.O_RDWR | os.O_NONBLOCK)
    options = f"fd={device},rootmode=40000,user_id={os.stat(f'/proc/{hangs}').st_uid},group_id=0".encode()
    assert ctypes.CDLL(None).mount(b"seen", bytes(place), b"fuse", 0, options) == 0
    try:
        os.read(device, 1 << 17)
        board.call("Terminate", app="evil", force=True)
        wait_until(lambda: state(hangs) is None, lambda: f"nothing of it is left: {state(hangs)}\n{board.log()}")
        # ENODEV, were it aborted.
        with pytest.raises(BlockingIOError):
            os.read(device, 1 << 17)
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
        os.close(device)


def test_an_app_that_hangs_on_its_own_file_system_holds_up_one_sleep(board):
    said = evil(board, "silent")
    board.app("prompt")
    login = board.awake("prompt")
    hangs = hanging(board, said)
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
    assert end["reason"] == "unfreezable" and "at sleep after sleep" in end["explanation"]
    wait_until(lambda: state(hangs) is None, "nothing of it is left")
    # From here on no sleep waits for it.
    signalled = login.sleep(True)
    assert login.wait_closed("sleep", 3)["t"] - signalled < 1.5


def hanging(board, said):
    reports = Path(board.root) / "var/lib/curfew/reports.jsonl"
    wait_until(lambda: said.exists() and said.read_text(),
               lambda: board.log() + (reports.read_text() if reports.exists() else ""))
    return int(said.read_text())


def state(pid):
    """Of a process, as /proc says it; None: it is gone. Its stat may not be read while it hangs in an exec."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            return file.read().partition("\nState:\t")[2][0]
    except (FileNotFoundError, ProcessLookupError):
        return None


def test_no_app_is_blamed_for_a_loop_that_stood(board):
    """The kernel has frozen both; what it says of that lies there as the loop comes to it."""
    for name in ("one", "two"):
        board.plain(name)
    login = board.awake("one", "two")
    for _ in range(2):
        freezers = [str(board.instance(name) / "cgroup.freeze") for name in ("one", "two")]
        paths = [argument for path in freezers for argument in ("-P", path)]
        tracer = subprocess.Popen(
            ["strace", "-qq", "-e", "inject=write:delay_exit=2500000:when=1", "-o", "/dev/null", *paths,
             "-p", str(board.loop())], stderr=subprocess.DEVNULL)
        try:
            status, traced = Path(f"/proc/{board.loop()}/status"), f"TracerPid:\t{tracer.pid}"
            wait_until(lambda: traced in status.read_text(), "it is traced")
            login.sleep(True)
            wait_until(lambda: board.device_state()["sleepState"] == "asleep", board.log)
        finally:
            tracer.send_signal(signal.SIGINT)
            tracer.wait()
        login.sleep(False)
        board.wait_active("one", "two")
        login.wait_held("sleep")
    assert "could not be frozen" not in board.log() and board.terminations() == [], board.log()
