"""The systemd notify protocol: who is heard, and what it does."""

import os
import select
import signal
import socket
import struct
import subprocess
import textwrap
import time
from pathlib import Path

import cgroups
import pytest
from board import PYTHON
from waiting import PATIENCE, holds_for, wait_until


def send(path, message, descriptors=()):
    """As a process that belongs to no app."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.settimeout(2)
        sender.connect(path)
        control = []
        if descriptors:
            packed = struct.pack(f"{len(descriptors)}i", *descriptors)
            control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, packed)]
        sender.sendmsg([message], control)


def notify_socket(board, name):
    return board.wait_note(name, "start")["environment"]["NOTIFY_SOCKET"]


def pass_a_barrier(board, name):
    pass_a_barrier_at(notify_socket(board, name))


def pass_a_barrier_at(path):
    """Returns when the daemon has read all that was sent before: it closes what came with BARRIER=1."""
    reader, writer = os.pipe()
    send(path, b"BARRIER=1", [writer])
    os.close(writer)
    with open(reader, "rb") as pipe:
        assert select.select([pipe], [], [], PATIENCE)[0], "the daemon has closed the barrier's descriptor"
        assert pipe.read() == b""


def speaker(board, name, text, **keys):
    """An app of Python lines that speak to its notify socket by `s`."""
    head = ("import os, signal, socket, time\n"
            "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect(os.environ['NOTIFY_SOCKET'])\n")
    program = board.programs / f"{name}.py"
    program.write_text(head + textwrap.dedent(text))
    board.plain(name, exec=[*PYTHON, str(program)], **keys)
    board.samples.discard(name)


def test_a_systemd_style_program_runs_unchanged(board):
    board.app_file("service", f"""
        exec = ["{'", "'.join(PYTHON)}", "{board.programs}/service.py", "{board.journal('service')}"]
        launch = "boot"
        readiness = "notify"
        liveness = "800ms"
        restart-delay = "1ms"
        """)
    board.start()
    board.wait_active("service")
    assert board.describe("service")["statusText"] == "Serving 3 clients"
    first = board.describe("service")["mainPID"]
    holds_for(1, lambda: board.describe("service")["mainPID"] == first, "it pings, and lives")
    board.signal("service", 10)
    report = board.wait_termination("service")
    assert (report["namespace"], report["code"]) == ("watchdog", "0x8badf00d")
    assert "liveness" in report["explanation"]
    assert not cgroups.is_alive(first)
    board.wait_app("service", launches=2, scenePhase="active", taskState="running")
    assert board.describe("service")["mainPID"] != first
    # Well again: it is not killed a second time.
    holds_for(1, lambda: len(board.terminations("service")) == 1, "it pings again")


def test_messages_of_others_are_not_heard(board):
    board.plain("victim", readiness="notify", liveness="700ms", restart="never",
                allowances={"did_finish_launching": "1500ms"})
    board.plain("watched", "ready", readiness="notify", liveness="600ms", restart="never")
    board.start()
    victim, watched = notify_socket(board, "victim"), notify_socket(board, "watched")
    board.plain("liar", f"notify:{victim}:READY=1", f"notify:{victim}:STATUS=lies", f"notify:{victim}:WATCHDOG=1")
    board.call("Reload")
    board.wait_note("liar", "running")
    send(victim, b"READY=1\nSTATUS=more lies")

    def pinged():
        try:
            send(watched, b"WATCHDOG=1")
        except OSError:
            pass
        return board.terminations("watched")

    [report] = wait_until(pinged, "it is killed all the same")
    assert "liveness" in report["explanation"]
    # It is still waiting for its own READY=1, and dies of the lack of it.
    report = board.wait_termination("victim")
    assert report["code"] == "0x8badf00d" and "READY=1" in report["explanation"]
    assert report["wallSeconds"] >= 1.5
    assert "lies" not in str(board.describe("victim"))
    said = [line for line in board.log().splitlines() if "ignored" in line and "victim" in line]
    assert len(said) == 1, board.log()
    assert "pid" in said[0]


def test_pings_of_a_child_count(board):
    """NotifyAccess=all, as it were: every process in the app's own group speaks for it."""
    speaker(board, "app", """
        s.send(b'READY=1')
        if os.fork(): signal.pause()
        os.setsid()
        while True: s.send(b'WATCHDOG=1'); time.sleep(0.1)  # not a wait: the pause between two pings
        """, readiness="notify", liveness="600ms")
    board.start()
    board.wait_active("app")
    holds_for(1, lambda: not board.terminations(), "its child pings for it")


def test_mainpid_within_the_group(board):
    board.plain("app", "main-is-child", restart="never")
    board.start()
    child = board.wait_note("app", "child")["pid"]
    board.wait_app("app", mainPID=child)
    os.kill(child, 9)
    # The new main process has ended, and the app with it.
    board.wait_app("app", taskState="notRunning")
    assert len(board.terminations("app")) == 1
    assert not cgroups.is_alive(board.wait_note("app", "start")["pid"])


def test_mainpid_of_others_is_ignored(board):
    board.app("other")
    board.start()
    board.wait_active("other")
    other = board.describe("other")["mainPID"]
    pids = ["1", "0", "-1", "99999999", "123456789012345678901234567890", "x", "", str(other)]
    board.plain("app", *(f"usr1:notify=MAINPID={pid}" for pid in pids))
    board.call("Reload")
    board.wait_active("app")
    main = board.describe("app")["mainPID"]
    board.signal("app", 10)
    board.wait_note("app", "notified", len(pids))
    pass_a_barrier(board, "app")
    assert board.describe("app")["mainPID"] == main
    board.call("Terminate", app="app", force=None)
    assert not cgroups.is_alive(main)
    assert cgroups.is_alive(other)
    board.wait_active("other")


def test_a_launch_is_extended_by_times_and_to_three_times_its_allowance(board):
    keys = {"readiness": "notify", "restart": "never", "allowances": {"did_finish_launching": "500ms"}}
    speaker(board, "extends", "while True: s.send(b'EXTEND_TIMEOUT_USEC=400000'); time.sleep(0.05)", **keys)
    values = ["infinity", "-1", "18446744073709551615", "0", "1e9", ""]
    speaker(board, "strange", f"""
        for value in {values}: s.send(b'EXTEND_TIMEOUT_USEC=' + value.encode())
        signal.pause()
        """, **keys)
    board.start()
    report = board.wait_termination("strange")
    assert report["code"] == "0x8badf00d"
    assert 0.5 <= report["wallSeconds"] < 1.5
    report = board.wait_termination("extends")
    assert report["code"] == "0x8badf00d"
    assert 1.5 <= report["wallSeconds"] < 3


def test_stopping_is_a_way_to_end(board):
    board.plain("app", "ready", "usr1:notify=STOPPING=1", readiness="notify", liveness="600ms", restart="never",
                allowances={"will_terminate": "900ms"})
    board.start()
    board.wait_active("app")
    board.signal("app", 10)
    # It is not missed by its watchdog any more, but has to be gone in the time of willTerminate.
    report = board.wait_termination("app")
    assert "process-exit" in report["explanation"]


def test_descriptors_that_are_sent_are_closed(board):
    board.plain("app", "ready", readiness="notify")
    board.start()
    board.wait_active("app")
    # The first of all costs the daemon one, for good.
    pass_a_barrier(board, "app")
    before = board.descriptors()
    reader, writer = os.pipe()
    for _ in range(20):
        send(notify_socket(board, "app"), b"FDSTORE=1\nFDNAME=x", [reader, writer, writer])
    os.close(reader)
    os.close(writer)
    pass_a_barrier(board, "app")
    assert board.descriptors() <= before


SENSELESS = [
    b"", b"\0", b"=", b"READY", b"READY=2", b"\xff\xfe=\xff", b"WATCHDOG=trigger", b"A" * 60000, b"\n" * 5000,
    b"MAINPID=1\nMAINPID=1\n" * 500,
]


def test_what_an_app_makes_the_daemon_write_is_bounded(board):
    speaker(board, "app", """
        for number in range(2000): s.send(b'MAINPID=1')
        s.send(b'STATUS=all sent')
        signal.pause()
        """)
    board.start()
    board.wait_app("app", statusText="all sent")
    lines = [line for line in board.log().splitlines() if "MAINPID=1" in line]
    assert len(lines) == 60 and "left out" in lines[-1]


def test_messages_that_make_no_sense_say_nothing(board):
    speaker(board, "app", f"""
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        for message in {SENSELESS}: s.send(message)
        s.send(b'STATUS=all sent')
        signal.sigwait([signal.SIGUSR1])
        s.send(b'READY=1\\nSTATUS=' + b'x' * 2000)
        signal.pause()
        """, readiness="notify", restart="never")
    board.start()
    before = board.wait_app("app", statusText="all sent")
    assert before["scenePhase"] != "active"
    assert [before["mainPID"]] == cgroups.processes(board.instance("app"))
    os.kill(before["mainPID"], signal.SIGUSR1)
    board.wait_active("app")
    # A long status is cut, and goes with its instance.
    board.wait_app("app", statusText="x" * 200)
    assert not board.terminations()
    board.call("Terminate", app="app", force=True)
    assert board.describe("app")["statusText"] is None


def test_a_flood_of_messages_does_not_hold_up_others(board):
    speaker(board, "flood", """
        n = 0
        while True: n += 1; s.send(b'STATUS=%d' % n)
        """)
    board.app("other")
    board.start()
    board.wait_app("flood", taskState="running")
    for _ in range(5):
        board.call("Background", app="other", timeout=2)
        board.call("Activate", app="other", timeout=2)
    # It goes to sleep with everyone else.
    assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == []
    assert board.is_frozen("flood")


LATE = """
import os, signal, time
def fork(*_):
    if os.fork() == 0:
        time.sleep(1000)
signal.signal(signal.SIGUSR1, fork)
open(os.environ['MARK'], 'w').write(os.environ['NOTIFY_SOCKET'])
while True:
    signal.pause()
"""


LIES = """
import socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
    sender.sendto(b"STATUS=lies", sys.argv[1])
"""


@pytest.mark.skipif(not os.access("/proc/sys/kernel/ns_last_pid", os.W_OK), reason="pids cannot be chosen")
def test_who_has_a_senders_pid_by_now_has_not_said_it(board):
    program, mark = board.programs / "late.py", board.journals / "mark"
    program.write_text(LATE)
    board.plain("app", exec=["/usr/bin/python3", "-S", str(program)], environment={"MARK": str(mark)})
    board.start()
    pid = board.wait_app("app", scenePhase="active")["mainPID"]
    path = wait_until(lambda: mark.exists() and mark.read_text(), "it listens")
    loop = board.loop()

    def take_over():
        os.kill(loop, signal.SIGSTOP)
        try:
            with subprocess.Popen(["/usr/bin/python3", "-c", LIES, path]) as liar:
                stranger = liar.pid
            assert liar.returncode == 0
            before = processes(board)
            Path("/proc/sys/kernel/ns_last_pid").write_text(str(stranger - 1))
            os.kill(pid, signal.SIGUSR1)
            wait_until(lambda: processes(board) != before, "it has forked")
            return stranger in processes(board)
        finally:
            os.kill(loop, signal.SIGCONT)

    # Another process may have taken the number.
    wait_until(take_over, "its pid is the app's")
    pass_a_barrier_at(path)
    assert board.describe("app")["statusText"] != "lies"


def processes(board):
    return {int(line) for line in (board.instance("app") / "cgroup.procs").read_text().split()}


def test_reloading_is_over_with_ready(board):
    speaker(board, "app", """
        signal.signal(signal.SIGUSR1, lambda *_: s.send(b'READY=1'))
        s.send(b'READY=1'); s.send(b'RELOADING=1')
        while True: signal.pause()
        """, readiness="notify")
    board.start()
    board.wait_app("app", statusText="reloading")
    os.kill(board.describe("app")["mainPID"], signal.SIGUSR1)
    board.wait_app("app", statusText="")


def test_now_and_then_a_message_of_a_strangers_keeps_no_app_alive(board):
    board.plain("roots", "ready", "ping", readiness="notify", liveness="2s", restart="never")
    board.start()
    os.kill(board.wait_running("roots"), signal.SIGUSR1)
    path = notify_socket(board, "roots")
    for _ in range(80):
        send(path, b"x=y")

    sent = [0.0]

    def is_ended():
        if time.monotonic() - sent[0] > 0.1:
            send(path, b"x=y")
            sent[0] = time.monotonic()
        return board.terminations("roots")

    wait_until(is_ended, board.log, 8)
