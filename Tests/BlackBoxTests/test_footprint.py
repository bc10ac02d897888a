"""What the daemon costs while nothing happens, and what it is made of."""

import ctypes
import resource
import subprocess
import time
from pathlib import Path

import board as boards
import hardware
import pytest
from confinement import with_network_of_its_own
from memory import Memory
from waiting import wait_until

APPS = 20
IDLE = 10
# prctl(2), capabilities(7).
PR_CAPBSET_DROP = 24
CAP_IPC_LOCK = 14
LIBC = ctypes.CDLL(None)


def status(board):
    with open(f"/proc/{board.loop()}/status") as file:
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
    with open(f"/proc/{board.loop()}/maps") as file:
        return {line.split()[-1].rpartition("/")[2] for line in file if ".so" in line}


def rests(board, seconds):
    """Whether nothing wakes it for a while."""
    before = switches(board)
    # Nothing is waited for: the point is that nothing happens.
    time.sleep(seconds)  # not a wait: idleness is what is measured
    return switches(board) == before


@pytest.mark.skipif(hardware.missing() is not None, reason=hardware.missing() or "")
def test_one_thread_and_no_wake_ups(board):
    """Budgets and limits run, a lock is held and a client watches: until something is over there is nothing to do."""
    names = [f"app-{number}" for number in range(APPS // 2)]
    busy = names[:4]
    for name in names:
        board.app(name, "lend", background={"task_policy": "keep-awake"} if name == busy[-1] else {})
        board.app_file(f"plain-{name}", 'exec = ["/bin/sleep", "1000"]\nlaunch = "boot"\n')
    board.device(policy={"debounce": "100ms"})
    board.with_hardware()
    # What happens to the machine's own memory and network is none of this board's.
    (Memory(board).proc / "pressure/memory").touch()
    login = board.with_login(board={"LidClosed": False})
    login.open_session("1")
    board.start(prepare=with_network_of_its_own)
    board.wait_active(*names, *[f"plain-{name}" for name in names])
    login.wait_held("sleep")
    watcher = board.wire()
    watcher.send("io.curfew.Control.Monitor", more=True)
    while watcher.receive()["parameters"]["kind"] != "synchronized":
        pass
    for name in busy:
        with board.borrow(name) as wire:
            for number in range(16):
                wire.begin(f"upload {number}", timeAllowed=300 if number % 2 else None)
        board.call("Background", app=name)
    login.wait_held("idle:sleep")
    # What sessions did is known, and there is nothing to come back for.
    login.open_session("2")
    for _ in range(50):
        login.lock("1")
        login.unlock("1")
    login.set_locked(True, "2")
    login.set_idle(True)
    login.close_session("2")
    login.lock("1")
    board.wait_app(names[-1], scenePhase="inactive")
    before = {name: board.describe(name)["backgroundTimeRemaining"] for name in busy}
    wait_until(lambda: rests(board, 0.5), "it has come to rest")
    # Whether tasks have had their time is looked at once in 30 s; and the machine's clock may be set.
    assert any(rests(board, IDLE) for _ in range(3)), board.log()
    assert status(board)["Threads"] == "1"
    for name, seconds in before.items():
        app = board.describe(name)
        assert app["taskState"] == "running"
        # The budget runs all the same.
        assert 0 < app["backgroundTimeRemaining"] <= seconds - IDLE
    watcher.close()


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
        assert len(binary) < 1_375_000  # as deploy/test has it
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


def test_apps_do_not_inherit_what_protects_the_daemon(board):
    board.app_file("plain", 'exec = ["/bin/sleep", "1000"]\nlaunch = "manual"\n')
    board.start()
    protection = Path(f"/proc/{board.loop()}/oom_score_adj")
    try:
        protection.write_text("-500")
    except PermissionError:
        pytest.skip("needs CAP_SYS_RESOURCE")
    board.call("Launch", app="plain", background=None)
    board.wait_active("plain")
    assert Path(f"/proc/{board.describe('plain')['mainPID']}/oom_score_adj").read_text() == "0\n"
    assert protection.read_text() == "-500\n"


def test_it_runs_where_it_may_lock_nothing(board):
    """With a limit instead of the right to, locking would make its later allocations fail."""
    board.app_file("plain", 'exec = ["/bin/sleep", "1000"]\nlaunch = "boot"\n')
    board.start(prepare=lambda: drop_from_bounding_set(CAP_IPC_LOCK), limits={resource.RLIMIT_MEMLOCK: (2**22, 2**22)})
    board.wait_active("plain")
    assert size(status(board)["VmLck"]) == 0
    assert resource.prlimit(board.describe("plain")["mainPID"], resource.RLIMIT_MEMLOCK) == (2**22, 2**22)
    assert "debug: lock the daemon's memory: Operation not permitted" in board.log()
