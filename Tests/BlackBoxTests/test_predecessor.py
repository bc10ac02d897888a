"""Two daemons, one after the other and side by side: no app ever runs twice."""

import subprocess

import board as boards
import cgroups
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


def test_a_second_daemon_on_one_root_leaves_the_first_alone(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    second = subprocess.run(
        [boards.CURFEWD, "--root", board.root, "--cgroup", board.cgroup + "-other"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)
    cgroups.remove(str(board.group) + "-other")
    assert second.returncode == 1
    lines = second.stderr.strip().splitlines()
    assert len(lines) == 1, second.stderr
    assert str(board.daemon.pid) in lines[0]
    assert "another curfewd" in lines[0]
    board.wait_active("app")
    assert board.describe("app")["launches"] == 1
    assert len(board.instances()) == 1


def test_a_second_daemon_on_one_control_group_ends_none_of_its_apps(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    pid = board.describe("app")["mainPID"]
    other = boards.Board()
    try:
        other.plain("mine")
        other.start(cgroup=board.cgroup)
        other.wait_log("in use by another curfewd")
        other.wait_app("mine", taskState="running")
        assert cgroups.is_alive(pid)
        assert board.describe("app")["mainPID"] == pid
        mine = other.describe("mine")["mainPID"]
        assert other.stop() == 0
        wait_until(lambda: not cgroups.is_alive(mine), "its own app is ended")
        assert cgroups.is_alive(pid)
    finally:
        complaints = other.close()
    assert not complaints
