"""The loop is killed at a moment of a scenario, over the whole of it: the next one comes to the same end."""

import contextlib
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import family
import pytest
from wire import Closed, VarlinkError
from waiting import wait_until

# The loop's system calls in the scenario by which it writes its state, hears and is heard, and how many there are.
CALLS = [(name, number) for name, last, step in (
    ("pwrite64", 32, 1), ("sendmsg", 12, 1), ("sendto", 37, 2), ("recvfrom", 35, 2), ("recvmsg", 32, 2),
    ("write", 27, 2), ("epoll_wait", 97, 8)) for number in range(1, last + 1, step)]


def is_traced(pid, tracer):
    try:
        return f"TracerPid:\t{tracer.pid}" in Path(f"/proc/{pid}/status").read_text()
    except family.GONE:
        return True


@contextlib.contextmanager
def killed_at(board, name, number):
    """The loop is killed as it makes this system call for the so many-th time from here on."""
    loop = board.loop()
    with tempfile.TemporaryFile() as words:
        tracer = subprocess.Popen(
            ["strace", "-qq", "-e", f"inject={name}:signal=KILL:when={number}", "-o", "/dev/null", "-p", str(loop)],
            stderr=words)
        board.others.append(tracer)
        wait_until(lambda: is_traced(loop, tracer), "it is traced")
        yield loop
        if tracer.poll() is None:
            tracer.send_signal(signal.SIGINT)
            tracer.wait()


def ask(board, method, is_done, **parameters):
    """Until it is so: the loop may die with the question, or with the answer."""
    def asked():
        if is_done():
            return True
        with contextlib.suppress(OSError, Closed):
            board.call(method, **parameters)
        return is_done()

    wait_until(lambda: tolerant(asked), lambda: f"{method} {parameters} is done: {board.log()}")


def tolerant(question):
    try:
        return question()
    except (OSError, Closed, VarlinkError):
        return None


def phase(board, name):
    return board.describe(name)["scenePhase"]


def legal(calls):
    """A handler that is heard twice in a row was called for twice."""
    handlers = [call for call in calls if call not in ("PowerStateDidChange", "DidReceiveMemoryWarning")]
    return all(one != other for one, other in zip(handlers, handlers[1:]))


def play(board, login):
    """The scenario, whatever dies in it."""
    ask(board, "Background", lambda: phase(board, "camera") == "background", app="camera")
    ask(board, "Launch", lambda: phase(board, "plain") == "active", app="plain", background=None)
    login.sleep(True)
    wait_until(lambda: tolerant(lambda: board.device_state()["sleepState"] != "awake"), board.log)
    login.sleep(False)
    wait_until(lambda: tolerant(lambda: board.device_state()["sleepState"] == "awake"), board.log)
    ask(board, "Activate", lambda: phase(board, "camera") == "active", app="camera")
    wait_until(lambda: tolerant(lambda: phase(board, "hooks") == "active"), board.log)
    ask(board, "Terminate", lambda: board.describe("plain")["taskState"] == "notRunning", app="plain")


@pytest.mark.parametrize("call, number", CALLS)
def test_the_same_end_is_come_to(board, call, number):
    board.app("camera")
    board.app("hooks", delegate="hooks", hooks={"did_enter_background": ["/bin/true"]})
    board.plain("plain", launch="manual")
    login = board.awake("camera", "hooks")
    pids = {name: board.describe(name)["mainPID"] for name in ("camera", "hooks")}
    heard = len(board.calls("camera"))
    loop = board.loop()
    with killed_at(board, call, number):
        play(board, login)
    if board.loop() == loop:
        pytest.skip("the scenario has fewer of these calls")
    for name, pid in pids.items():
        assert board.describe(name)["mainPID"] == pid, f"{name} is another:\n{board.log()}"
        assert not board.terminations(name), f"{name} has ended:\n{board.log()}"
    # One that dies as it writes down that it has called may call again.
    assert call == "pwrite64" or legal(board.calls("camera")[heard:]), f"{board.calls('camera')[heard:]}\n{board.log()}"
    wait_until(lambda: board.instances() == ["camera", "hooks"], lambda: f"{board.instances()}:\n{board.log()}")
    ends = [end["reason"] for end in board.terminations("plain")]
    assert ends in ([], ["endedByOperator"], ["daemonDied", "endedByOperator"], ["daemonDied"]), board.log()
    wait_until(lambda: not [pid for pid in family.children(board.daemon.pid) if family.state(pid) == "Z"],
               "what has ended is reaped")
