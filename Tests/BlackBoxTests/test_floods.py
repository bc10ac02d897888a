"""Who talks too much, or never to the end, holds up neither apps nor root."""

import json
import os
import select
import signal
import socket
import subprocess
import time
from pathlib import Path

import lingering
import pytest
from strangers import CROWD, stranger
from waiting import holds_for, wait_until
from wire import Closed, Wire

SOURCE = Path(lingering.__file__).read_text()


@pytest.mark.parametrize("path", ["control", "application"])
def test_one_user_has_a_share_of_the_connections_and_root_its_own(board, path):
    board.app("app")
    board.start()
    board.wait_active("app")
    place = board.control_socket if path == "control" else board.application_socket
    # As for the group of operators.
    os.chmod(board.control_socket, 0o666)
    with stranger(CROWD, place) as crowd:
        try:
            assert int(crowd.stdout.readline()) == 32
            with Wire(place) as wire:
                wire.send("org.varlink.service.GetInfo")
                assert wire.reply()["vendor"] == "Curfew"
            assert board.describe("app")["scenePhase"] == "active"
            # It can be found, and does not fill the log.
            assert board.log().count("of user 65534 is turned away: 32 of a user") == 1
        finally:
            crowd.stdin.close()


# Sends one message to the Application socket, and prints what comes until it is closed.
ONE = """
import socket, sys
client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
client.settimeout(30)
client.connect(sys.argv[1])
text = b""
try:
    client.sendall(b'{"method":"io.curfew.Application.GetState","x":"' + b"x" * int(sys.argv[2]) + b'"}\\0')
    while chunk := client.recv(65536):
        text += chunk
except (BrokenPipeError, ConnectionResetError):
    pass
print(text.decode().replace("\\0", ""))
"""


def test_a_stranger_says_one_short_sentence(board):
    board.start()

    def answer(size):
        with stranger(ONE, board.application_socket, str(size)) as one:
            return one.communicate(timeout=40)[0].strip()

    assert json.loads(answer(3000))["error"] == "io.curfew.Application.NotAnApp"
    assert answer(4096) == ""
    assert answer(2 << 20) == ""


def test_no_message_is_longer_than_64_kib(board):
    board.start()
    for size, is_answered in ((60 << 10, True), (65 << 10, False)):
        with board.wire() as wire:
            try:
                wire.send("io.curfew.Control.Describe", {"app": "x" * size})
                assert wire.receive()["error"] == "io.curfew.Control.NoSuchApp"
            except (Closed, BrokenPipeError):
                assert not is_answered
            else:
                assert is_answered


def test_a_message_that_does_not_end_is_ended(board):
    board.start()
    with board.wire() as slow, board.wire() as idle:
        begun = time.monotonic()
        slow.send_raw(b'{"method":')
        # Said slowly, it is as long.
        for _ in range(7):
            time.sleep(1)  # not a wait: how slowly it speaks
            slow.send_raw(b" ")
        assert slow.is_closed()
        assert 9 < time.monotonic() - begun < 16
        # One that says nothing at all may stay.
        idle.send("io.curfew.Control.DescribeDevice")
        assert "device" in idle.reply()


def test_a_client_that_is_always_in_the_middle_of_a_message_is_served(board):
    board.start()
    message = b'{"method":"io.curfew.Control.DescribeDevice"}\0'
    with board.wire() as wire:
        wire.send_raw(message[:10])
        begun = time.monotonic()
        while time.monotonic() - begun < 12:
            wire.send_raw(message[10:] + message[:10])
            assert "device" in wire.reply()


SPEAKER = """
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(os.environ['NOTIFY_SOCKET'])
n = 0
while True:
    n += 1
    s.send(b'STATUS=%d\\n' % n + b'MAINPID=1\\n' * 300)
"""


def test_floods_of_notify_messages_and_deaf_monitors_hold_up_no_sleep(board):
    program = board.programs / "speaker.py"
    program.write_text(SPEAKER)
    for name in ("one", "two", "three", "four", "five"):
        board.plain(name, exec=["/usr/bin/python3", str(program)])
    for name in ("prompt-a", "prompt-b"):
        board.app(name)
    board.start()
    board.wait_active("prompt-a", "prompt-b")
    deaf = [board.wire() for _ in range(60)]
    for wire in deaf:
        wire.send("io.curfew.Control.Monitor", more=True)
    wait_until(lambda: board.describe("one")["statusText"], "the flood has begun")
    for _ in range(3):
        begun = time.monotonic()
        assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == []
        assert time.monotonic() - begun < 1
        board.call("PrepareForSleep", start=False, kind=None)
        board.wait_active("prompt-a", "prompt-b")
    for wire in deaf:
        wire.close()


def test_of_a_field_said_twice_the_last_counts(board):
    program = board.programs / "twice.py"
    program.write_text("""
import os, socket, subprocess, time
child = subprocess.Popen(["/bin/sleep", "1000"])
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(os.environ['NOTIFY_SOCKET'])
s.send(b'MAINPID=1\\n' * 300 + b'STATUS=first\\nSTATUS=%d\\nMAINPID=%d\\n' % (child.pid, child.pid))
time.sleep(1000)
""")
    board.plain("twice", exec=["/usr/bin/python3", str(program)])
    board.start()
    wait_until(lambda: board.describe("twice")["statusText"], "it has spoken")
    app = board.describe("twice")
    assert app["statusText"] == str(app["mainPID"])
    assert "MAINPID" not in board.log()


# Sends TCP sockets that wait 5 s when they are closed, and closes its own.
LINGERING = SOURCE + """
import sys
server = listener()
client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
client.connect(sys.argv[1])
kept = []
for _ in range(4):
    tcp, keeps = lingering(server)
    kept.append(keeps)
    try:
        socket.send_fds(client, [b'{"method":"org.varlink.service.GetInfo"}\\0'], [tcp.fileno()])
        print("sent", end=" ")
    except PermissionError:
        print("refused", end=" ")
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
    tcp.close()
print(flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(tuple(int(part) for part in os.uname().release.split(".")[:2]) < (6, 16),
                    reason="the kernel cannot refuse descriptors (SO_PASSRIGHTS, Linux 6.16)")
def test_descriptors_whose_close_waits_hold_up_nothing(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    with stranger(LINGERING, board.application_socket) as sender:
        try:
            assert sender.stdout.readline().split() == ["refused"] * 4
            begun = time.monotonic()
            assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == []
            assert time.monotonic() - begun < 1
            board.call("PrepareForSleep", start=False, kind=None)
        finally:
            sender.stdin.close()


# An app that sends the same to its notify socket, in vain words and as a barrier, and speaks on.
LINGERING_APP = SOURCE + """
import os, time
server = listener()
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.connect(os.environ['NOTIFY_SOCKET'])
kept = []
for word in (b"FDSTORE=1", b"BARRIER=1"):
    tcp, keeps = lingering(server)
    kept.append(keeps)
    notify.send(b"STATUS=before")
    socket.send_fds(notify, [word], [tcp.fileno()])
    tcp.close()
notify.send(b"STATUS=after")
time.sleep(1000)
"""


def test_an_apps_descriptors_hold_up_its_own_messages_only(board):
    program = board.programs / "lingering.py"
    program.write_text(LINGERING_APP)
    board.plain("lingering", exec=["/usr/bin/python3", str(program)])
    board.app("app")
    board.start()
    board.wait_active("app")
    wait_until(lambda: board.describe("lingering")["statusText"] == "before", "it has spoken")
    begun = time.monotonic()
    assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == []
    assert time.monotonic() - begun < 1
    board.call("PrepareForSleep", start=False, kind=None)
    wait_until(lambda: board.describe("lingering")["statusText"] == "after", "its own are heard in the end", 15)
    assert "came with descriptors" in board.log()


# An app that sends a pipe to its notify socket, in a vain word, and speaks on.
SENDS_A_PIPE = """
import os, socket
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.connect(os.environ['NOTIFY_SOCKET'])
notify.send(b"STATUS=before")
os.read(os.open(os.environ['GO'], os.O_RDONLY), 1)
reads, writes = os.pipe()
socket.send_fds(notify, [b"FDSTORE=1"], [writes])
os.close(writes)
notify.send(b"STATUS=after")
os.read(reads, 1)
notify.send(b"STATUS=closed")
os.read(os.pipe()[0], 1)
"""
PIDS = Path("/sys/fs/cgroup/pids")


@pytest.mark.skipif(os.geteuid() != 0 or not os.access(PIDS / "cgroup.procs", os.W_OK),
                    reason="needs root and the old pids controller")
def test_descriptors_wait_until_a_thread_can_be_had_for_them(board, tmp_path):
    program, go = board.programs / "sends.py", tmp_path / "go"
    program.write_text(SENDS_A_PIPE)
    os.mkfifo(go)
    board.plain("sends", exec=["/usr/bin/python3", str(program)], environment={"GO": str(go)})
    board.start()
    wait_until(lambda: board.describe("sends")["statusText"] == "before", "it has spoken")
    group = PIDS / f"curfew-test-{os.getpid()}"
    group.mkdir()
    try:
        (group / "pids.max").write_text("1")
        (group / "cgroup.procs").write_text(str(board.loop()))
        go.write_text("x")
        holds_for(0.5, lambda: board.describe("sends")["statusText"] == "before", "what came is left where it is")
        (group / "pids.max").write_text("max")
        wait_until(lambda: board.describe("sends")["statusText"] == "closed", board.log)
    finally:
        board.kill()
        group.rmdir()


def test_operators_come_before_strangers(board):
    """All speak while the daemon stands; whom it answers first is what it looked at first."""
    board.start()
    call = json.dumps({"method": "org.varlink.service.GetInfo", "parameters": {}}).encode() + b"\0"
    clients = [socket.socket(socket.AF_UNIX) for _ in range(31)]
    for stranger in clients[:-1]:
        stranger.connect(board.application_socket)
    clients[-1].connect(board.control_socket)
    board.device_state()
    loop = board.loop()
    os.kill(loop, signal.SIGSTOP)
    for client in clients:
        client.sendall(call)
    poll = select.poll()
    for client in clients:
        poll.register(client, select.POLLIN)
    os.kill(loop, signal.SIGCONT)
    answered, before = 0, None
    while before is None:
        ready = [descriptor for descriptor, _ in poll.poll(20_000)]
        assert ready, "all are answered"
        # Of those that are ready at the same look the order is not known.
        if clients[-1].fileno() in ready:
            before = answered
        answered += len(ready)
        for descriptor in ready:
            poll.unregister(descriptor)
    # A turn of a group is 16.
    assert before <= 16
    for client in clients:
        client.close()
