"""What the daemon costs while nothing happens, and what it is made of."""

import ctypes
import resource
import subprocess
import time

import board as boards
from waiting import wait_until

APPS = 20
IDLE = 10
# prctl(2), capabilities(7).
PR_CAPBSET_DROP = 24
CAP_IPC_LOCK = 14
LIBC = ctypes.CDLL(None)


def status(board):
    with open(f"/proc/{board.daemon.pid}/status") as file:
        return dict(line.strip().split(":\t", 1) for line in file if ":\t" in line.strip())


def size(text):
    """"812 kB", in kB."""
    return int(text.split()[0])


def drop_from_bounding_set(capability):
    """What the next program of this process cannot have."""
    assert LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0


def switches(board):
    now = status(board)
    return int(now["voluntary_ctxt_switches"]) + int(now["nonvoluntary_ctxt_switches"])


def mapped(board):
    with open(f"/proc/{board.daemon.pid}/maps") as file:
        return {line.split()[-1].rpartition("/")[2] for line in file if ".so" in line}


def assert_no_wake_ups(board):
    def has_settled():
        before = switches(board)
        time.sleep(0.3)  # not a wait: idleness is what is measured
        return switches(board) == before

    wait_until(has_settled, "it has come to rest")
    before = switches(board)
    # Nothing is waited for: the point is that nothing happens.
    time.sleep(IDLE)  # not a wait: idleness is what is measured
    assert switches(board) == before


def test_one_thread_and_no_wake_ups(board):
    for number in range(APPS // 2):
        board.app(f"app-{number}")
        board.app_file(f"plain-{number}", 'exec = ["/bin/sleep", "1000"]\nlaunch = "boot"\n')
    login = board.with_login()
    board.start()
    board.wait_active(*[f"app-{number}" for number in range(APPS // 2)])
    board.wait_active(*[f"plain-{number}" for number in range(APPS // 2)])
    login.wait_held("sleep")
    board.call("Background", app="app-0")
    watcher = board.wire()
    watcher.send("io.curfew.Control.Monitor", more=True)
    while watcher.receive()["parameters"]["kind"] != "synchronized":
        pass

    assert_no_wake_ups(board)
    assert status(board)["Threads"] == "1"
    watcher.close()


def test_no_wake_ups_of_sessions(board):
    """What sessions did is known, and there is nothing to come back for."""
    board.app("app-0")
    login = board.with_login(board={"LidClosed": False})
    login.open_session("1")
    board.start()
    board.wait_active("app-0")
    login.wait_held("sleep")
    login.open_session("2")
    for _ in range(50):
        login.lock("1")
        login.unlock("1")
    login.lock("1")
    login.set_locked(True, "2")
    login.set_idle(True)
    login.close_session("2")
    assert_no_wake_ups(board)


def test_no_wake_ups_while_tasks_are_held(board):
    """Budgets and limits run and a lock is held: until one of them is over there is nothing to do."""
    names = [f"app-{number}" for number in range(4)]
    for name in names[:3]:
        board.app(name, "lend")
    board.app(names[3], "lend", background={"task_policy": "keep-awake"})
    login = board.with_login()
    board.start()
    board.wait_active(*names)
    login.wait_held("sleep")
    for name in names:
        with board.borrow(name) as wire:
            for number in range(16):
                wire.begin(f"upload {number}", timeAllowed=120 if number % 2 else None)
        board.call("Background", app=name)
    login.wait_held("idle:sleep")
    before = {name: board.describe(name)["backgroundTimeRemaining"] for name in names}
    assert_no_wake_ups(board)
    for name, seconds in before.items():
        app = board.describe(name)
        assert app["taskState"] == "running"
        # The budget runs all the same.
        assert seconds - 2 * IDLE < app["backgroundTimeRemaining"] <= seconds - IDLE


def test_what_it_is_linked_with(board):
    """As shipped no Swift library at all; in regular Swift none that is not needed."""
    board.start()
    libraries = mapped(board)
    assert not [name for name in libraries if name.startswith(("libFoundation", "lib_Foundation", "libicu"))]
    dynamic = subprocess.run(["readelf", "-d", boards.CURFEWD], capture_output=True, text=True, check=True).stdout
    needed = [line for line in dynamic.splitlines() if "NEEDED" in line]
    is_shipped = not any("libswiftCore" in line for line in needed)
    # deploy/build puts what is shipped there; anywhere else either build may lie.
    assert is_shipped or "/device/" not in boards.CURFEWD
    if is_shipped:
        assert not [name for name in libraries if name.startswith(("libswift", "libdispatch", "libstdc++"))]
        with open(boards.CURFEWD, "rb") as file:
            binary = file.read()
        assert len(binary) < 1_000_000
        for word in (b"swift_task_create", b"swift_job_run", b"dispatch_async", b"libFoundation"):
            assert word not in binary


def test_its_pages_are_locked_and_its_alone(board):
    """Where memory is short the kernel looks for a victim: the daemon is not to be what wakes it."""
    board.app_file("plain", 'exec = ["/bin/sleep", "1000"]\nlaunch = "boot"\n')
    board.start(limits={resource.RLIMIT_MEMLOCK: (65536, 131072)})
    board.wait_active("plain")
    # All of it, but for what belongs to the kernel ([vdso] and the like).
    now = status(board)
    assert size(now["VmSize"]) - 64 <= size(now["VmLck"]) <= size(now["VmSize"])
    app = board.describe("plain")["mainPID"]
    with open(f"/proc/{app}/status") as file:
        assert [line.split() for line in file if line.startswith("VmLck:")] == [["VmLck:", "0", "kB"]]
    assert resource.prlimit(app, resource.RLIMIT_MEMLOCK) == (65536, 131072)


def test_it_runs_where_it_may_lock_nothing(board):
    """With a limit instead of the right to, locking would make its later allocations fail."""
    board.app_file("plain", 'exec = ["/bin/sleep", "1000"]\nlaunch = "boot"\n')
    board.start(prepare=lambda: drop_from_bounding_set(CAP_IPC_LOCK), limits={resource.RLIMIT_MEMLOCK: (2**22, 2**22)})
    board.wait_active("plain")
    assert size(status(board)["VmLck"]) == 0
    assert resource.prlimit(board.describe("plain")["mainPID"], resource.RLIMIT_MEMLOCK) == (2**22, 2**22)
    assert "debug: lock the daemon's memory: Operation not permitted" in board.log()


def test_its_limits_of_memory(board):
    """Not the benchmark: a bound that no mistake of an order of magnitude passes."""
    for number in range(APPS):
        board.app_file(f"app-{number}", 'exec = ["/bin/sleep", "1000"]\nlaunch = "boot"\n')
    board.start()
    board.wait_active(*[f"app-{number}" for number in range(APPS)])
    with open(f"/proc/{board.daemon.pid}/smaps_rollup") as file:
        values = {line.split(":")[0]: line.split()[1] for line in file if line.split()[-1] == "kB"}
    assert int(values["Private_Dirty"]) < 12 * 1024
