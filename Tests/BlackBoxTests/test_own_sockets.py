"""Connections that wait in one queue: a flood of them, and those who have a socket of their own."""

import contextlib
import os
import pwd
import signal
import socket
import subprocess

import pytest
from board import CURFEW
from strangers import CROWD, stranger
from waiting import wait_until
from wire import Wire

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

# Connects without end, until a connection is closed without an answer.
STORM = """
import socket, sys
def connect():
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.connect(sys.argv[1])
    return client
for _ in range(100_000):
    connect().close()
    if _ % 100 == 0:
        client = connect()
        try:
            client.sendall(b'{"method":"org.varlink.service.GetInfo"}\\0')
            if not client.recv(65536):
                break
        except (BrokenPipeError, ConnectionResetError):
            break
print("turned away", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("path", ["control", "application"])
def test_a_user_that_connects_without_end_is_turned_away_and_no_other(board, path):
    board.start()
    place = board.control_socket if path == "control" else board.application_socket
    os.chmod(board.control_socket, 0o666)
    with stranger(STORM, place) as storm, stranger(CROWD, place, user=65533) as other:
        assert storm.stdout.readline() == "turned away\n"
        assert int(other.stdout.readline()) == 32
        board.wait_log("user 65534 is turned away")
        for process in (storm, other):
            process.stdin.close()


@contextlib.contextmanager
def crowded(board, place):
    """While the loop stands, and no other connection has room in the queue of this socket."""
    loop = board.loop()
    os.kill(loop, signal.SIGSTOP)
    clients = []
    try:
        with pytest.raises(BlockingIOError):
            for _ in range(1000):
                clients.append(socket.socket(socket.AF_UNIX))
                clients[-1].setblocking(False)
                clients[-1].connect(place)
        yield
    finally:
        os.kill(loop, signal.SIGCONT)
        for client in clients:
            client.close()


def test_an_app_has_a_socket_of_its_own(board):
    """No stranger stands before it there, or can knock."""
    board.app("app", user="nobody", environment={"SAID": "x"})
    board.start()
    board.wait_active("app")
    place = board.notes("app", "start")[-1]["environment"]["CURFEW_SOCKET"]
    assert place == str(board.run / "apps/app")
    status = os.stat(place)
    assert (status.st_mode & 0o777, status.st_uid) == (0o600, pwd.getpwnam("nobody").pw_uid)
    with crowded(board, board.application_socket), socket.socket(socket.AF_UNIX) as own:
        own.settimeout(1)
        own.connect(place)
    with Wire(place) as wire:
        wire.send("org.varlink.service.GetInfo")
        assert wire.reply()["vendor"] == "Curfew"
    os.unlink(board.apps_folder / "app.toml")
    board.call("Reload")
    wait_until(lambda: not os.path.exists(place), "it goes with its app")


def test_root_has_a_socket_of_its_own(board):
    board.start()
    place = board.control_socket + ".root"
    status = os.stat(place)
    assert (status.st_mode & 0o777, status.st_uid) == (0o600, 0)
    with crowded(board, board.control_socket), socket.socket(socket.AF_UNIX) as own:
        own.settimeout(1)
        own.connect(place)
    wait_until(board.answers, "it goes on, and the queue is empty")
    with contextlib.ExitStack() as stack:
        # All that root may have at the operators' socket.
        wires = [stack.enter_context(Wire(board.control_socket)) for _ in range(64)]
        for wire in wires:
            wire.send("org.varlink.service.GetInfo")
            assert wire.reply()["vendor"] == "Curfew"
        done = subprocess.run([CURFEW, "--root", board.root, "status"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
