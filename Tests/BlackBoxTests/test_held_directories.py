"""Any user can keep the lock of a directory that it may read, for as long as it likes: who lists it, or looks up a name
that the kernel does not remember, waits for that. The loop does not."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import cgroups
import pytest
from board import toml_file
from loops import kill_loop
from service_managers import Store
from test_tracers import trace
from waiting import wait_until
from wire import Closed, VarlinkError

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

HOLDER = Path(__file__).parent / "programs/hold_directory.py"


libc = ctypes.CDLL(None, use_errno=True)
libc.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]
CLONE_NEWNS, MS_REC_PRIVATE = 0x20000, 0x44000


def in_a_view_of_its_own():
    """A /proc and a /run/systemd that are held there hold up nobody else on this machine."""
    Path("/run/systemd").mkdir(exist_ok=True)
    if libc.unshare(CLONE_NEWNS) or libc.mount(None, b"/", None, MS_REC_PRIVATE, None):
        os._exit(99)
    if libc.mount(b"proc", b"/proc", b"proc", 0, None) or libc.mount(b"tmpfs", b"/run/systemd", b"tmpfs", 0, None):
        os._exit(98)
    os.mkdir("/run/systemd/userdb")


def inside(board):
    return ["nsenter", "-m", "-t", str(board.daemon.pid)]


@contextlib.contextmanager
def held(directory, *sockets, view=()):
    """Nothing is looked up in it; after that, the sockets were asked something by the same process."""
    with subprocess.Popen([*view, sys.executable, HOLDER, directory, *sockets], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout.readline() == "held\n"
            yield holder
        finally:
            holder.kill()


def asked_in_time(board, method="DescribeDevice", **parameters):
    begun = time.monotonic()
    answer = board.call(method, timeout=10, **parameters)
    assert time.monotonic() - begun < 3
    return answer


def reloads(board):
    """What hung may take a moment to come back."""
    try:
        board.call("Reload", timeout=20)
    except VarlinkError:
        return False
    return True


def test_one_who_holds_its_own_directory_in_proc_is_not_waited_for(board):
    # What runs as root may become any user: each that connects may be one of its processes.
    board.app("app")
    login = board.awake("app")
    with held("/proc/SELF", str(board.run / "io.curfew.Application")):
        asked_in_time(board)
        signalled = login.sleep(True)
        assert login.wait_closed("sleep")["t"] - signalled < 2
    login.sleep(False)
    board.wait_active("app")


def test_an_app_that_hangs_in_its_own_directories_in_proc_is_not_looked_at_for_long(board):
    """Its thread waits in the kernel, and so it cannot be frozen."""
    said = Path(board.root) / "said"
    holds = f"sleep 1000 | {sys.executable} {HOLDER} /proc/SELF/task > {said}"
    board.app_file("app", toml_file({"exec": ["/bin/sh", "-c", holds], "launch": "boot"}))
    board.app("other")
    login = board.awake("other")
    board.wait_active("app")
    wait_until(lambda: said.exists() and said.read_text(), "it is held")
    signalled = login.sleep(True)
    assert login.wait_closed("sleep")["t"] - signalled < 3
    asked_in_time(board)
    board.wait_log("could not be frozen")
    login.sleep(False)
    board.wait_active("other")


def test_a_reload_does_not_wait_for_a_directory_that_is_held(board):
    board.plain("app")
    board.start()
    board.wait_active("app")
    board.plain("another")
    with held(f"{board.root}/etc/curfew/apps"):
        begun = time.monotonic()
        with pytest.raises(VarlinkError, match="not read in time"):
            board.call("Reload", timeout=20)
        # The next one is not waited for at all.
        with pytest.raises(VarlinkError, match="not read in time"):
            board.call("Reload", timeout=20)
        assert time.monotonic() - begun < 6
        board.wait_active("app")
    wait_until(lambda: reloads(board), board.log)
    assert board.describe("another")


# Each of forty connects, asks, and stays.
CROWD = """
import os, socket, sys
for _ in range(40):
    if os.fork() == 0:
        device = socket.socket(socket.AF_UNIX)
        device.connect(sys.argv[1])
        device.sendall(b'{"method":"io.curfew.Application.Describe"}\\0')
        device.settimeout(20)
        device.recv(65536)
        sys.stdin.read()
        os._exit(0)
print("there", flush=True)
sys.stdin.read()
"""


def test_where_proc_itself_is_held_sleeps_hooks_and_starts_go_on(board):
    board.app_file("hooked", toml_file({
        "exec": ["/bin/sleep", "1000"], "sandbox": "default", "launch": "boot", "delegate": "hooks",
        "hooks": {"did-enter-background": ["/bin/true"]}}))
    board.app_file("later", toml_file({"exec": ["/bin/sleep", "1000"], "launch": "manual"}))
    login = board.with_login(5.0)
    board.start(prepare=in_a_view_of_its_own)
    login.wait_held("sleep")
    board.wait_active("hooked")
    with held("/proc", view=inside(board)):
        with subprocess.Popen([*inside(board), sys.executable, "-c", CROWD, str(board.run / "io.curfew.Application")],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as crowd:
            assert crowd.stdout.readline() == "there\n"
            for _ in range(5):
                asked_in_time(board)
            crowd.stdin.close()
        signalled = login.sleep(True)
        assert login.wait_closed("sleep")["t"] - signalled < 2
        login.sleep(False)
        board.wait_active("hooked")
        asked_in_time(board, "Launch", app="later")
        board.wait_app("later", scenePhase="active")
    assert board.terminations() == []


def test_a_name_service_that_is_held_up_holds_up_no_sleep(board):
    """nss-systemd(8) reads a directory that any user may hold."""
    board.app("app")
    login = board.with_login(5.0)
    board.start(prepare=in_a_view_of_its_own)
    login.wait_held("sleep")
    board.wait_active("app")
    board.app_file("games", toml_file({"exec": ["/bin/sleep", "1000"], "user": "games", "launch": "boot"}))
    board.app_file("own", toml_file({"exec": ["/bin/sleep", "1000"], "user": "auto", "launch": "boot"}))
    with held("/run/systemd/userdb", view=inside(board)):
        for _ in range(2):
            begun = time.monotonic()
            # Where no such service is asked, both are known.
            with contextlib.suppress(VarlinkError):
                board.call("Reload", timeout=20)
            assert time.monotonic() - begun < 9
        signalled = login.sleep(True)
        assert login.wait_closed("sleep")["t"] - signalled < 2
        login.sleep(False)
    board.call("Reload")
    board.wait_active("app", "own", "games")


def test_the_next_loop_does_not_wait_for_a_name_service_either(board):
    board.app_file("games", toml_file({"exec": ["/bin/sleep", "1000"], "user": "games", "launch": "boot"}))
    board.start(prepare=in_a_view_of_its_own)
    board.wait_app("games", scenePhase="active")
    pid = board.describe("games")["mainPID"]
    # Its file says another thing by then, so that the text is read by which it was started.
    board.app_file("games", toml_file({"exec": ["/bin/sleep", "2000"], "user": "games", "launch": "boot"}))
    with held("/run/systemd/userdb", view=inside(board)):
        os.kill(board.loop(), signal.SIGKILL)
        # Ten seconds for the files, two for the names.
        wait_until(lambda: answers(board), board.log, timeout=25)
        assert board.describe("games")["mainPID"] == pid
    wait_until(lambda: reloads(board), board.log)
    kill_loop(board)
    assert board.describe("games")["mainPID"] == pid


def answers(board):
    try:
        return board.call("DescribeDevice", timeout=25)
    except (OSError, Closed):
        return None


def test_a_dead_loop_that_hangs_in_the_kernel_keeps_no_successor_out(board):
    store = Store(board)
    board.plain("app")
    store.start()
    board.wait_active("app")
    pid, loop = board.describe("app")["mainPID"], board.loop()
    store.wait_kept("control-groups")
    # A process that is dead, and does not come out of the kernel with what it has open: here its end is held back.
    with trace(loop, "exit", "root") as tracer:
        try:
            board.daemon.kill()
            board.daemon.wait()
            store.start()
            assert Path(f"/proc/{loop}").exists()
            assert board.describe("app")["mainPID"] == pid
        finally:
            tracer.kill()
            store.close()


def test_no_sleep_waits_for_what_the_kernel_counts_of_sleeps(board):
    """Of a file that all users may read, each can hold up whoever opens it."""
    counts = f"{board.root}/sys/power/suspend_stats"
    board.app("app")
    board.tmpfs(counts, "64k")
    login = board.awake("app")
    with held(counts):
        signalled = login.sleep(True)
        assert login.wait_closed("sleep")["t"] - signalled < 2
        asked_in_time(board)
        login.sleep(False)
        board.wait_active("app")


# Says which of the files named it may watch: it can hold up whoever uses those (inotify(7)).
WATCHER = """
import ctypes, sys
libc = ctypes.CDLL(None)
events = libc.inotify_init()
print(*(path for path in sys.argv[1:] if libc.inotify_add_watch(events, path.encode(), 0xfff) >= 0), sep="\\n")
"""


def test_no_stranger_watches_what_the_loop_opens_in_a_sleep(board):
    board.app("app")
    login = board.awake("app")
    login.sleep(True)
    login.wait_closed("sleep")
    group = board.instance("app")
    files = [f"{folder}/{name}" for folder, _, names in os.walk(board.run) for name in names]
    files += [f"{group}/{name}" for name in ("cgroup.freeze", "cgroup.events", "cgroup.procs", "cgroup.kill")]
    assert f"{board.run}/asleep" in files
    said = subprocess.run([sys.executable, "-c", WATCHER, *files], user=65534, group=65534, extra_groups=[],
                          stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    # Of a socket nothing is told but that it is there.
    assert [path for path in said if not Path(path).is_socket()] == []
