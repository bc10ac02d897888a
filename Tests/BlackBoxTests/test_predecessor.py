"""Two daemons, one after the other and side by side: no app ever runs twice."""

import os
import shutil
import signal
import subprocess

import board as boards
import cgroups
import pytest
from waiting import holds_for, wait_until


def test_what_a_killed_daemon_left_is_ended_before_anything_starts(board):
    board.app("app", "grandchild")
    board.plain("plain", "ignore-term", "child")
    board.app("gone", launch="manual")
    board.start()
    board.wait_active("app", "plain")
    board.call("Launch", app="gone", background=True)
    board.wait_app("gone", taskState="suspended")
    assert board.is_frozen("gone")
    board.wait_note("app", "grandchild")
    board.wait_note("plain", "child")
    first = {note["pid"] for name in ("app", "plain", "gone") for note in board.notes(name)}
    board.kill()
    # It spares its apps.
    holds_for(0.2, lambda: all(cgroups.is_alive(pid) for pid in first), "the apps live on")
    # And its socket lies there.
    assert (board.run / "io.curfew.Control").exists()
    board.start()
    board.wait_active("app", "plain")
    assert not [pid for pid in first if cgroups.is_alive(pid)]
    assert board.instances() == ["app", "plain"]
    assert len(board.notes("app", "start")) == 2
    board.wait_log("left by an earlier curfewd")
    for name in ("app", "plain", "gone"):
        report = board.terminations(name)[-1]
        assert "an earlier curfewd had left it" in report["explanation"] and report["reason"] == "daemonDied"


def test_what_has_ended_by_itself_meanwhile_was_not_ended_by_the_next(board):
    board.app_file("app", 'exec = ["/bin/sleep", "1000"]\nlaunch = "boot"\n')
    board.start()
    board.wait_app("app", scenePhase="active")
    pid = board.describe("app")["mainPID"]
    board.kill()
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not cgroups.is_alive(pid), "it has ended")
    board.start()
    board.wait_app("app", scenePhase="active")
    report = board.terminations("app")[-1]
    assert report["explanation"] == "it ended while no curfewd watched; how is not known", report


def test_killed_in_the_middle_of_a_handshake(board):
    board.app("app", "slow:DidEnterBackground:1")
    login = board.awake("app")
    login.sleep(True)
    board.wait_call("app", "DidEnterBackground")
    board.kill()
    # The kernel closes the lock of a dead daemon.
    login.wait_closed("sleep")
    board.start()
    board.wait_sleep("asleep")
    login.sleep(False)
    board.wait_active("app")
    login.wait_held("sleep", 2)
    assert len(board.instances()) == 1


@pytest.mark.parametrize("loses_run", [False, True])
def test_a_second_daemon_on_one_root_leaves_the_first_alone(board, loses_run):
    board.app("app")
    board.start()
    board.wait_active("app")
    if loses_run:
        os.rename(board.run, str(board.run) + "-away")
    second = subprocess.run(
        [boards.CURFEWD, "--root", board.root, "--cgroup", board.cgroup + "-other"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)
    cgroups.remove(str(board.group) + "-other")
    assert second.returncode == 1
    lines = second.stderr.strip().splitlines()
    assert len(lines) == 1, second.stderr
    assert str(board.daemon.pid) in lines[0]
    assert "another curfewd" in lines[0]
    if loses_run:
        shutil.rmtree(board.run)
        os.rename(str(board.run) + "-away", board.run)
    board.wait_active("app")
    assert board.describe("app")["launches"] == 1
    assert len(board.instances()) == 1


def test_a_second_daemon_on_one_control_group_starts_nothing(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    pid = board.describe("app")["mainPID"]
    other = boards.Board()
    try:
        other.plain("mine")
        second = subprocess.run(
            [boards.CURFEWD, "--root", other.root, "--cgroup", board.cgroup],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)
        assert second.returncode == 1
        lines = second.stderr.strip().splitlines()
        assert len(lines) == 1, second.stderr
        assert "another curfewd has the control group" in lines[0] and str(board.group) in lines[0]
        assert board.describe("app")["mainPID"] == pid
        assert len(board.instances()) == 1
    finally:
        complaints = other.close()
    assert not complaints


# Run by a user that is no app: waits for every lock that it can have on the files and folders named.
LOCKER = """
import fcntl, os, struct, sys, threading
held = []
def wait(path, flags, kind):
    try:
        held.append(os.open(path, flags))
        if kind is None:
            fcntl.flock(held[-1], fcntl.LOCK_EX)
        else:
            fcntl.fcntl(held[-1], 38, struct.pack("hhqqi", kind, 0, 0, 0, 0))
    except OSError:
        pass
for path in sys.argv[1:]:
    for flags in (os.O_RDWR, os.O_WRONLY, os.O_RDONLY):
        for kind in (None, fcntl.F_WRLCK, fcntl.F_RDLCK):
            threading.Thread(target=wait, args=[path, flags, kind], daemon=True).start()
print("waits", flush=True)
sys.stdin.read()
os._exit(0)
"""


def test_a_stranger_that_locks_what_it_can_keeps_no_daemon_from_starting(board):
    board.plain("app")
    board.start()
    board.wait_app("app", taskState="running")
    places = [path for folder in (board.run, board.group) for path in [folder, *folder.rglob("*")]]
    with subprocess.Popen(["/usr/bin/python3", "-c", LOCKER, *map(str, places)], user=65534, group=65534,
                          extra_groups=[], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stranger:
        try:
            assert stranger.stdout.readline() == "waits\n"
            board.kill()
            board.start()
            board.wait_app("app", taskState="running")
            assert len(board.instances()) == 1
        finally:
            stranger.stdin.close()
