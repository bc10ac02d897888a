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
from wire import Closed, Wire

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

# For each line, connects until there is no room in the queue.
FILLER = """
import socket, sys
for _ in sys.stdin:
    clients = []
    try:
        while len(clients) < 1000:
            clients.append(socket.socket(socket.AF_UNIX))
            clients[-1].setblocking(False)
            clients[-1].connect(sys.argv[1])
    except BlockingIOError:
        print("full", flush=True)
"""


@pytest.mark.parametrize("path", ["control", "application"])
def test_a_user_that_connects_too_often_is_turned_away_and_no_other(board, path):
    """Nor is it at another socket."""
    board.start()
    place = {"control": board.control_socket, "application": board.application_socket}[path]
    os.chmod(board.control_socket, 0o666)
    loop = board.loop()
    with stranger(FILLER, place) as filler:

        def is_turned_away():
            """The loop takes all of them at once, unless the machine is slow: then they are within their time."""
            os.kill(loop, signal.SIGSTOP)
            try:
                filler.stdin.write("\n")
                filler.stdin.flush()
                assert filler.stdout.readline() == "full\n"
            finally:
                os.kill(loop, signal.SIGCONT)
            return board.answers() and "user 65534 is turned away: it connects to " in board.log()

        wait_until(is_turned_away, board.log)
        elsewhere = board.control_socket if path != "control" else board.application_socket
        # Within its time, it would be out of it there too.
        with stranger(CROWD, place, user=65533) as other, stranger(CROWD, elsewhere) as same:
            for process in (other, same):
                assert int(process.stdout.readline()) == 32
                process.stdin.close()
        filler.stdin.close()


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


def is_answered(place):
    try:
        with Wire(place) as wire:
            wire.send("org.varlink.service.GetInfo")
            return wire.reply()["vendor"] == "Curfew"
    except (Closed, OSError):
        return False


@pytest.mark.parametrize("user", ["nobody", "root"])
def test_an_app_has_a_socket_of_its_own(board, user):
    """No stranger stands before it there, or can knock."""
    board.app("app", user=user, environment={"SAID": "x"})
    board.start()
    board.wait_active("app")
    place = board.notes("app", "start")[-1]["environment"]["CURFEW_SOCKET"]
    assert place == str(board.run / "apps/app")
    status = os.stat(place)
    assert (status.st_mode & 0o777, status.st_uid) == (0o600, pwd.getpwnam(user).pw_uid)
    with crowded(board, board.application_socket), socket.socket(socket.AF_UNIX) as own:
        own.settimeout(1)
        own.connect(place)
    # Once those that were in the queue are gone: there are 64 of root's at a time.
    wait_until(lambda: is_answered(place), board.log)
    os.unlink(board.apps_folder / "app.toml")
    board.call("Reload")
    wait_until(lambda: not os.path.exists(place), "it goes with its app")


def test_an_app_s_socket_that_is_gone_is_made_anew_and_what_lies_there_is_not_touched(board, tmp_path):
    board.app("app", user="nobody")
    board.start()
    board.wait_active("app")
    place = board.run / "apps/app"

    place.unlink()
    board.call("Terminate", app="app", force=True)
    board.call("Launch", app="app", background=None)
    assert is_answered(str(place))
    place.unlink()
    secret = tmp_path / "secret"
    secret.write_text("root's")
    place.symlink_to(secret)
    before = secret.stat()
    board.call("Terminate", app="app", force=True)
    assert "no socket" in str(board.error("Launch", app="app", background=None).parameters)
    assert (secret.stat().st_uid, secret.stat().st_mode) == (before.st_uid, before.st_mode)
    assert place.is_symlink() and secret.read_text() == "root's"


def test_what_a_killed_loop_has_left_keeps_no_app_from_its_socket(board):
    board.app("app", user="nobody", launch="manual")
    board.start()
    board.call("Launch", app="app", background=None)
    board.wait_active("app")
    old = board.loop()
    os.kill(old, signal.SIGKILL)
    wait_until(lambda: board.loop() not in (None, old) and board.answers(), board.log)
    board.call("Launch", app="app", background=None)
    wait_until(lambda: board.describe("app")["scenePhase"] == "active", board.log)
    assert is_answered(str(board.run / "apps/app"))


def test_root_has_a_socket_of_its_own(board):
    board.start()
    place = board.control_socket + ".root"
    status = os.stat(place)
    assert (status.st_mode & 0o777, status.st_uid) == (0o600, 0)
    with crowded(board, board.control_socket), socket.socket(socket.AF_UNIX) as own:
        own.settimeout(1)
        own.connect(place)
    wait_until(lambda: is_answered(board.control_socket), "it goes on, and those that were in the queue are gone")
    with contextlib.ExitStack() as stack:
        def is_turned_away():
            wire = stack.enter_context(Wire(board.control_socket))
            try:
                wire.send("org.varlink.service.GetInfo")
                return not wire.reply()
            except (Closed, OSError):
                return True

        wait_until(is_turned_away, "root has all that it may have at the operators' socket")
        done = subprocess.run([CURFEW, "--root", board.root, "status"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
