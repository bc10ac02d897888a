"""Who may read a directory can hold its lock for as long as it likes, in the midst of that, and have signals sent for
each file in it that another reads: those in which the loop makes, moves and reads files are for root alone."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from board import toml_file
from strangers import stranger
from waiting import wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

# Which of them it can open, as getdents(2) and F_NOTIFY need it.
OPENER = """
import json, os, sys
opened = []
for path in json.loads(sys.stdin.readline()):
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECTORY))
        opened.append(path)
    except PermissionError:
        pass
print(json.dumps(opened), flush=True)
"""


def directories(board):
    return [str(path) for path in [
        board.run, board.run / "apps", board.run / "notify", Path(board.root) / "var/lib/curfew",
        Path(board.root) / "var/lib/curfew-apps", board.apps_group, board.instance("app"), board.instance("other")]]


@pytest.fixture
def apps(board):
    for name in ("app", "other"):
        board.app_file(name, toml_file({
            "exec": ["/bin/sleep", "1000"], "sandbox": "default", "launch": "boot"}))
    board.start()
    board.wait_active("app", "other")
    return board


def test_no_stranger_lists_the_directories_of_the_daemon(apps):
    with stranger(OPENER) as opener:
        opened, _ = opener.communicate(json.dumps(directories(apps)) + "\n", timeout=20)
    assert json.loads(opened) == []


def test_no_app_lists_its_own_groups_directory(apps):
    user = os.stat(f"/proc/{apps.describe('app')['mainPID']}").st_uid
    assert user != 0
    with stranger(OPENER, user=user) as opener:
        opened, _ = opener.communicate(json.dumps(directories(apps)) + "\n", timeout=20)
    assert json.loads(opened) == []


def test_what_was_open_to_all_before_an_upgrade_is_closed(apps):
    board = apps
    paths = directories(board)
    # This one never was.
    paths.remove(str(Path(board.root) / "var/lib/curfew"))
    for path in paths:
        os.chmod(path, 0o755)
    board.call("Upgrade")
    with stranger(OPENER) as opener:
        opened, _ = opener.communicate(json.dumps(paths) + "\n", timeout=20)
    assert json.loads(opened) == []


CALLER = """
import socket, sys
with socket.socket(socket.AF_UNIX) as device:
    device.settimeout(20)
    device.connect(sys.argv[1])
    device.sendall(b'{"method":"io.curfew.Application.Describe"}\\0')
    device.recv(65536)
sys.stdin.read()
"""


def test_nothing_is_looked_up_of_a_stranger(apps):
    """It can keep the lock of its own directory in /proc, and who opens a file there waits for that."""
    board, opened = apps, f"{apps.root}/opened"
    tracer = subprocess.Popen(
        ["strace", "-qq", "-e", "trace=openat", "-o", opened, "-p", str(board.loop())], stderr=subprocess.DEVNULL)
    try:
        status, traced = Path(f"/proc/{board.loop()}/status"), f"TracerPid:\t{tracer.pid}"
        wait_until(lambda: traced in status.read_text(), "it is traced")
        with stranger(CALLER, str(board.run / "io.curfew.Application")) as caller:
            caller.communicate(timeout=20)
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
    assert f"/proc/{caller.pid}/" not in Path(opened).read_text()
