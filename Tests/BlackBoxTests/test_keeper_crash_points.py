"""The keeper is killed at a moment of a scenario, and its loop with it: the next daemon comes to the same end."""

import contextlib
import os
import signal
import subprocess
import threading

import family
import pytest
from service_managers import Store
from test_crash_points import is_traced, legal, play
from waiting import wait_until

# The keeper's system calls in the scenario by which it hears, is heard, starts and buries, and how many there are.
CALLS = [(name, number) for name, last, step in (
    ("sendmsg", 12, 1), ("recvmsg", 22, 2), ("waitid", 6, 1), ("clone3", 2, 1), ("wait4", 2, 1), ("epoll_wait", 11, 2))
    for number in range(1, last + 1, step)]


@contextlib.contextmanager
def service(board, store):
    """A daemon that is started again whenever it is killed: meanwhile clients wait at its sockets."""
    store.start()
    is_over = threading.Event()

    def look():
        while not is_over.is_set():
            if board.daemon.poll() is not None:
                store.start(wait=False)
            is_over.wait(0.01)

    looks = threading.Thread(target=look)
    looks.start()
    try:
        yield
    finally:
        is_over.set()
        looks.join()
        if board.daemon.poll() is not None:
            store.start()


@contextlib.contextmanager
def killed_at(board, name, number):
    tracer = subprocess.Popen(
        ["strace", "-qq", "-e", f"inject={name}:signal=KILL:when={number}", "-o", "/dev/null",
         "-p", str(board.daemon.pid)], stderr=subprocess.DEVNULL)
    board.others.append(tracer)
    keeper = board.daemon.pid
    wait_until(lambda: tracer.poll() is not None or is_traced(keeper, tracer), "it is traced")
    yield
    if tracer.poll() is None:
        tracer.send_signal(signal.SIGINT)
        tracer.wait()


@pytest.fixture
def store(board):
    made = Store(board)
    yield made
    made.close()


@pytest.mark.parametrize("call, number", CALLS)
def test_the_same_end_is_come_to(board, store, call, number):
    board.app("camera")
    board.app("hooks", delegate="hooks", hooks={"did_enter_background": ["/bin/true"]})
    board.plain("plain", launch="manual")
    login = board.with_login(5.0)
    with service(board, store):
        board.wait_active("camera", "hooks")
        login.wait_held("sleep")
        pids = {name: board.describe(name)["mainPID"] for name in ("camera", "hooks")}
        heard, keeper = len(board.calls("camera")), board.daemon.pid
        with killed_at(board, call, number):
            play(board, login)
    if board.daemon.pid == keeper:
        pytest.skip("the scenario has fewer of these calls")
    for name, pid in pids.items():
        assert board.describe(name)["mainPID"] == pid, f"{name} is another:\n{board.log()}"
        assert not board.terminations(name), f"{name} has ended:\n{board.log()}"
    assert legal(board.calls("camera")[heard:]), f"{board.calls('camera')[heard:]}\n{board.log()}"
    wait_until(lambda: board.instances() == ["camera", "hooks"], lambda: f"{board.instances()}:\n{board.log()}")
    wait_until(lambda: not [pid for pid in family.children(board.daemon.pid) if family.state(pid) == "Z"],
               "what has ended is reaped")
    assert os.path.exists(f"/proc/{pids['camera']}")
