"""The systemd notify protocol: who is heard, and what it does."""

import os
import socket
import struct

import cgroups
import pytest
from board import PYTHON
from waiting import holds_for, wait_until


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
    holds_for(1.5, lambda: board.describe("service")["mainPID"] == first, "it pings, and lives")
    board.signal("service", 10)
    report = board.wait_termination("service")
    assert (report["namespace"], report["code"]) == ("watchdog", "0x8badf00d")
    assert "liveness" in report["explanation"]
    assert not cgroups.is_alive(first)
    board.wait_app("service", launches=2, scenePhase="active", taskState="running")
    assert board.describe("service")["mainPID"] != first
    # Well again: it is not killed a second time.
    holds_for(1.2, lambda: len(board.terminations("service")) == 1, "it pings again")


def test_a_launch_ends_with_ready(board):
    board.plain("app", "ready-after:0.5", readiness="notify", launch="manual")
    board.start()
    board.call("Launch", app="app", background=None)
    notified = board.wait_note("app", "notified")
    assert notified["message"] == "READY=1"
    assert board.describe("app")["scenePhase"] == "active"


def test_a_launch_without_ready_is_killed(board):
    board.plain("app", readiness="notify", restart="never", allowances={"did_finish_launching": "500ms"})
    board.start()
    report = board.wait_termination("app")
    assert report["code"] == "0x8badf00d"
    assert "READY=1" in report["explanation"]
    assert report["wallSeconds"] >= 0.5


def test_status_is_shown_and_goes_with_its_instance(board):
    board.plain("app", "status:Half way there", "usr1:exit=1", restart_delay="1ms", restart_limit=2)
    board.start()
    board.wait_app("app", statusText="Half way there")
    board.signal("app", 10)
    board.wait_app("app", launches=2)
    board.plain("long", "status:" + "x" * 2000)
    board.call("Reload")
    text = wait_until(lambda: board.describe("long")["statusText"], "a status is shown")
    assert 0 < len(text) <= 2000 and set(text) == {"x"}


def test_messages_of_others_are_not_heard(board):
    board.plain("victim", readiness="notify", liveness="700ms", restart="never",
                allowances={"did_finish_launching": "1500ms"})
    board.start()
    victim = notify_socket(board, "victim")
    board.plain("liar", f"notify:{victim}:READY=1", f"notify:{victim}:STATUS=lies", f"notify:{victim}:WATCHDOG=1")
    board.call("Reload")
    board.wait_note("liar", "running")
    send(victim, b"READY=1\nSTATUS=more lies")
    # It is still waiting for its own READY=1, and dies of the lack of it.
    report = board.wait_termination("victim")
    assert "READY=1" in report["explanation"]
    assert "lies" not in str(board.describe("victim"))
    said = [line for line in board.log().splitlines() if "ignored" in line and "victim" in line]
    assert len(said) == 1, board.log()
    assert "pid" in said[0]


def test_pings_of_a_stranger_do_not_keep_an_app_alive(board):
    board.plain("app", "ready", readiness="notify", liveness="600ms", restart="never")
    board.start()
    path = notify_socket(board, "app")

    def ping():
        try:
            send(path, b"WATCHDOG=1")
        except OSError:
            pass
        return board.terminations("app")

    wait_until(ping, "it is killed all the same")
    assert "liveness" in board.terminations("app")[0]["explanation"]


def test_pings_of_a_child_count(board):
    """NotifyAccess=all, as it were: every process in the app's own group speaks for it."""
    text = ("import os, socket, sys, time\n"
            "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect(os.environ['NOTIFY_SOCKET'])\n"
            "s.send(b'READY=1')\n"
            "if os.fork(): time.sleep(1000)\n"
            "os.setsid()\n"
            "while True: s.send(b'WATCHDOG=1'); time.sleep(0.1)\n")
    (board.programs / "forks.py").write_text(text)
    board.app_file("app", f"""
        exec = ["{'", "'.join(PYTHON)}", "{board.programs}/forks.py"]
        launch = "boot"
        readiness = "notify"
        liveness = "600ms"
        """)
    board.start()
    board.wait_active("app")
    holds_for(1.5, lambda: not board.terminations(), "its child pings for it")


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


@pytest.mark.parametrize("pid", ["1", "0", "-1", "99999999", "123456789012345678901234567890", "x", "", "OTHER"])
def test_mainpid_of_others_is_ignored(board, pid):
    board.app("other")
    board.start()
    board.wait_active("other")
    other = board.describe("other")["mainPID"]
    board.plain("app", "usr1:notify=MAINPID=" + str(other if pid == "OTHER" else pid))
    board.call("Reload")
    board.wait_active("app")
    main = board.describe("app")["mainPID"]
    board.signal("app", 10)
    board.wait_note("app", "notified")
    # A barrier of ours: what it sent before has been read.
    board.call("Terminate", app="app", force=None)
    assert not cgroups.is_alive(main)
    assert cgroups.is_alive(other)
    board.wait_active("other")


def test_extensions_of_a_launch_end_at_three_times_its_allowance(board):
    text = ("import os, socket, time\n"
            "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect(os.environ['NOTIFY_SOCKET'])\n"
            "while True: s.send(b'EXTEND_TIMEOUT_USEC=400000'); time.sleep(0.05)\n")
    (board.programs / "extends.py").write_text(text)
    board.app_file("app", f"""
        exec = ["{'", "'.join(PYTHON)}", "{board.programs}/extends.py"]
        launch = "boot"
        readiness = "notify"
        restart = "never"
        [allowances]
        did-finish-launching = "500ms"
        """)
    board.start()
    report = board.wait_termination("app")
    assert report["code"] == "0x8badf00d"
    assert 1.5 <= report["wallSeconds"] < 3


@pytest.mark.parametrize("value", ["infinity", "-1", "18446744073709551615", "0", "1e9", ""])
def test_extensions_that_are_no_times(board, value):
    board.plain("app", f"usr1:notify=EXTEND_TIMEOUT_USEC={value}", readiness="notify", restart="never",
                allowances={"did_finish_launching": "800ms"})
    board.start()
    board.signal("app", 10)
    report = board.wait_termination("app")
    assert 0.8 <= report["wallSeconds"] < 2.4


def test_an_extension_never_reaches_past_a_sleep(board):
    text = ("import os, signal, socket, time\n"
            "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect(os.environ['NOTIFY_SOCKET'])\n"
            "s.send(b'READY=1'); signal.signal(signal.SIGUSR1, lambda *_: None)\n"
            "while True: s.send(b'EXTEND_TIMEOUT_USEC=10000000'); time.sleep(0.05)\n")
    (board.programs / "extends.py").write_text(text)
    board.app_file("app", f"""
        exec = ["{'", "'.join(PYTHON)}", "{board.programs}/extends.py"]
        launch = "boot"
        delegate = "signals"
        restart = "never"
        [allowances]
        did-enter-background = "500ms"
        [signals]
        did-enter-background = "SIGUSR1"
        """)
    board.device(sleep={"margin": "300ms"})
    login = board.with_login(delay=2)
    board.start()
    board.wait_app("app", taskState="running")
    login.wait_held("sleep")
    signalled = login.sleep(True)
    assert login.wait_closed("sleep")["t"] - signalled < 2


def test_stopping_is_a_way_to_end(board):
    board.plain("app", "ready", "usr1:notify=STOPPING=1", readiness="notify", liveness="600ms", restart="never",
                allowances={"will_terminate": "900ms"})
    board.start()
    board.wait_active("app")
    board.signal("app", 10)
    # It is not missed by its watchdog any more, but has to be gone in the time of willTerminate.
    report = board.wait_termination("app")
    assert "process-exit" in report["explanation"]


def test_a_barrier_is_passed(board):
    board.plain("app", "ready", readiness="notify")
    board.start()
    board.wait_active("app")
    reader, writer = os.pipe()
    send(notify_socket(board, "app"), b"BARRIER=1", [writer])
    os.close(writer)
    os.set_blocking(reader, False)

    def is_closed():
        try:
            return os.read(reader, 1) == b""
        except BlockingIOError:
            return False

    wait_until(is_closed, "the daemon has closed the barrier's descriptor")
    os.close(reader)


def test_descriptors_that_are_sent_are_closed(board):
    board.plain("app", "ready", readiness="notify")
    board.start()
    board.wait_active("app")
    path = notify_socket(board, "app")
    folder = f"/proc/{board.daemon.pid}/fd"
    before = len(os.listdir(folder))
    reader, writer = os.pipe()
    for _ in range(20):
        send(path, b"FDSTORE=1\nFDNAME=x", [reader, writer, writer])
    os.close(reader)
    os.close(writer)
    wait_until(lambda: len(os.listdir(folder)) <= before, lambda: f"{os.listdir(folder)} descriptors, {before} before")


@pytest.mark.parametrize("message", [
    b"", b"\0", b"=", b"READY", b"READY=2", b"\xff\xfe=\xff", b"WATCHDOG=trigger", b"A" * 60000, b"\n" * 5000,
    b"MAINPID=1\nMAINPID=1\n" * 500,
], ids=lambda message: repr(message[:10]))
def test_messages_that_make_no_sense(board, message):
    (board.programs / "message").write_bytes(message)
    text = ("import os, socket, sys, time\n"
            "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect(os.environ['NOTIFY_SOCKET'])\n"
            "s.send(open(sys.argv[1], 'rb').read()); s.send(b'READY=1'); time.sleep(1000)\n")
    (board.programs / "sends.py").write_text(text)
    board.app_file("app", f"""
        exec = ["{'", "'.join(PYTHON)}", "{board.programs}/sends.py", "{board.programs}/message"]
        launch = "boot"
        readiness = "notify"
        """)
    board.start()
    board.wait_active("app")
    assert not board.terminations()


def test_a_flood_of_messages_does_not_hold_up_others(board):
    text = ("import os, socket\n"
            "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect(os.environ['NOTIFY_SOCKET'])\n"
            "n = 0\n"
            "while True: n += 1; s.send(b'STATUS=%d' % n)\n")
    (board.programs / "floods.py").write_text(text)
    board.app_file("flood", f"""
        exec = ["{'", "'.join(PYTHON)}", "{board.programs}/floods.py"]
        launch = "boot"
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
