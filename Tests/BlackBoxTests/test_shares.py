"""How much of the loop's time others may use: apps' words, strangers' connections, many users at once."""

import os
import statistics
import subprocess
import time
from pathlib import Path

import pytest
from strangers import stranger
from waiting import holds_for, wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def share(board, span=2.0):
    """Of a processor, that the loop uses."""
    stat = Path(f"/proc/{board.loop()}/schedstat")

    def used():
        return int(stat.read_text().split()[0]) / 1e9

    before, begun = used(), time.monotonic()
    holds_for(span, lambda: True, "time passes")
    return (used() - before) / (time.monotonic() - begun)


def app_of(board, name, code):
    program = Path(board.root) / f"{name}.py"
    program.write_text(code)
    program.chmod(0o755)
    board.app_file(name, f'exec = ["/usr/bin/python3", "{program}", "{Path(board.root) / name}.said"]\n')


# As long as it runs, by several processes; its file says that a thousand times its words have been taken.
FLOOD = """
import os, socket, sys
sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sender.connect(os.environ["NOTIFY_SOCKET"])
others = [os.getpid(), os.spawnv(os.P_NOWAIT, "/bin/sleep", ["sleep", "1000"])]
number = 0
os.fork(), os.fork()
while True:
    sender.send(b"%s")
    number += 1
    if number == 1000:
        open(sys.argv[1], "a").close()
"""


@pytest.mark.parametrize("words", ['STATUS=%d" % number + b"', 'MAINPID=%d" % others[number % 2] + b"', 'X=1'])
def test_what_an_app_says_without_end_takes_a_share(board, words):
    app_of(board, "talker", FLOOD.replace("%s", words))
    board.app("prompt")
    login = board.awake("prompt")
    board.wait_active("talker")
    assert share(board) < 0.25
    signalled = login.sleep(True)
    assert login.wait_closed("sleep")["t"] - signalled < 1.5
    login.sleep(False)
    board.wait_active("prompt", "talker")


def test_an_app_that_talks_without_end_cuts_no_monitor_off(board):
    app_of(board, "talker", FLOOD.replace("%s", 'MAINPID=%d" % others[number % 2] + b"'))
    board.start()
    board.wait_active("talker")
    with board.wire() as wire:
        wire.send("io.curfew.Control.Monitor", {}, more=True)
        # It does not read: each of four thousand, told by itself, would be more than 1 MiB that waits.
        said = Path(board.root) / "talker.said"
        wait_until(said.exists, "a thousand messages of one of its four processes have been taken")
        board.app_file("last", 'exec = ["/bin/sleep", "1000"]\nlaunch = "manual"\n')
        board.call("Reload")
        wait_until(lambda: wire.reply().get("app") == "last", "it hears what is new")


ATTACHER = """
import socket, sys, time
for _ in range(200):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.connect(sys.argv[1])
    client.sendall(b'{"method":"io.curfew.Application.AttachDelegate","upgrade":true}\\0')
    client.recv(1 << 16)
    client.sendall(b'{"parameters":{}}\\0' * 3)
    while client.recv(1 << 16):
        pass
    client.close()
time.sleep(1000)
"""


def test_delegates_that_are_attached_and_lost_without_end_do_not_fill_the_journal(board):
    program = Path(board.root) / "attacher.py"
    program.write_text(ATTACHER)
    board.app_file("attacher", f'exec = ["/usr/bin/python3", "{program}", "{board.application_socket}"]\n'
                               'delegate = "varlink"\n')
    board.start()
    board.wait_log("attacher: its delegate connection was closed")
    board.wait_log("more of the kind is left out")
    assert board.log().count("its delegate connection was closed") < 61


TALKER = """
import os, socket, time
sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sender.connect(os.environ["NOTIFY_SOCKET"])
for number in range(100000):
    sender.send(b"STATUS=%d" % number)
    time.sleep(0.05)
"""


def test_a_monitor_hears_each_of_an_apps_words(board):
    app_of(board, "talker", TALKER)
    board.start()
    board.wait_active("talker")
    with board.wire() as wire:
        wire.send("io.curfew.Control.Monitor", {}, more=True)
        heard = set()

        def hears():
            change = wire.reply()
            if change["kind"] == "app":
                heard.add(change["detail"]["statusText"])
            return len(heard) > 4

        wait_until(hears, lambda: f"it hears {heard}")


STORM = """
import socket, sys
print("begins", flush=True)
while True:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.connect(sys.argv[1])
    client.close()
"""


def test_connections_that_come_and_go_take_a_share(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    with stranger(STORM, board.application_socket) as storm:
        try:
            assert storm.stdout.readline() == "begins\n"
            assert share(board) < 0.5
            assert board.describe("app")["scenePhase"] == "active"
        finally:
            storm.kill()


# One person with many user ids.
USERS = """
import os, socket, sys
for user in range(70000, 70000 + 30):
    if os.fork() == 0:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client.connect(sys.argv[1])
        call = b'{"method":"io.curfew.Control.Reload"}\\0'
        client.sendall(call * 8)
        os.write(1, b"begins\\n")
        while client.recv(1 << 16):
            client.sendall(call)
        os._exit(0)
for _ in range(30):
    os.wait()
"""


# What another user has to wait for one answer each.
LIGHT = """
import socket, sys, time
times = []
for _ in range(5):
    begun = time.monotonic()
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.connect(sys.argv[1])
    client.sendall(b'{"method":"io.curfew.Control.DescribeDevice"}\\0')
    assert client.recv(1 << 16)
    times.append(time.monotonic() - begun)
    client.close()
    time.sleep(0.2)
print(sorted(times)[2])
"""


def as_user(user, code, *arguments):
    """What it prints; "" if it fails."""
    return stranger(code, *arguments, user=user).communicate(timeout=60)[0]


# Leaves calls that wait for no answer on as many connections as a user has, and is gone.
GHOST = """
import socket, sys
call = b'{"method":"io.curfew.Control.Reload","oneway":true}\\0'
clients = []
for _ in range(32):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.connect(sys.argv[1])
    client.setblocking(False)
    clients.append(client)
for client in clients:
    try:
        while True:
            client.sendall(call * 100)
    except BlockingIOError:
        pass
print(len(clients))
"""


def test_what_users_that_are_gone_have_left_keeps_no_other_out(board):
    for number in range(20):
        board.app_file(f"app-{number}", 'exec = ["/bin/sleep", "1000"]\nlaunch = "manual"\n')
    board.start()
    os.chmod(board.control_socket, 0o666)
    for user in (70001, 70002):
        assert as_user(user, GHOST, board.control_socket) == "32\n"
    wait_until(lambda: as_user(70003, LIGHT, board.control_socket), board.log, 5)


def test_many_users_share_what_all_may_use(board):
    for number in range(20):
        board.app_file(f"app-{number}", 'exec = ["/bin/sleep", "1000"]\nlaunch = "manual"\n')
    board.app("prompt")
    login = board.awake("prompt")
    os.chmod(board.control_socket, 0o666)
    crowd = subprocess.Popen(["/usr/bin/python3", "-c", USERS, board.control_socket], stdout=subprocess.PIPE,
                             text=True, process_group=0)
    try:
        for _ in range(30):
            assert crowd.stdout.readline() == "begins\n"
        assert share(board) < 0.5
        times = []
        for _ in range(10):
            begun = time.monotonic()
            board.describe("prompt")
            times.append(time.monotonic() - begun)
        assert statistics.median(times) < 0.5, times
        # Who has asked for little comes first.
        assert float(as_user(71000, LIGHT, board.control_socket)) < 0.6
        signalled = login.sleep(True)
        assert login.wait_closed("sleep")["t"] - signalled < 1.5
    finally:
        os.killpg(crowd.pid, 9)
        crowd.wait()
    login.sleep(False)
    board.wait_active("prompt")


def test_a_connection_has_one_monitor(board):
    """More would wait for the end of the first, and be told of every change meanwhile."""
    board.app("app")
    board.start()
    board.wait_active("app")
    with board.wire() as wire:
        for _ in range(60):
            wire.send("io.curfew.Control.Monitor", {}, more=True)
        # 1 MiB of changes, were each told sixty times.
        for number in range(40):
            board.call("Background" if number % 2 == 0 else "Activate", app="app")
        kinds = []
        wait_until(lambda: kinds.append(wire.reply()) or len(kinds) > 60, "it hears on")
