"""A /run without room: the daemon lives, and what it has goes on."""

import os
import subprocess
import time

import pytest
from test_resources import fill, fill_inodes, sleeps_and_wakes
from waiting import holds_for, wait_until
from wire import Wire


def test_a_full_run(board):
    board.tmpfs(f"{board.root}/run", "64k")
    board.app("app", restart_delay="1ms")
    board.start()
    board.wait_active("app")
    fill(f"{board.root}/run")
    sleeps_and_wakes(board)
    board.wait_active("app")
    board.signal("app", 9)
    board.wait_app("app", launches=2, scenePhase="active")
    board.plain("new")
    board.call("Reload")
    board.wait_active("new")
    # Nor does a daemon that starts there need more.
    assert board.stop() == 0
    fill(f"{board.root}/run")
    board.start()
    board.wait_active("app", "new")


def test_a_run_without_inodes(board):
    board.tmpfs(f"{board.root}/run", "64k,nr_inodes=40")
    board.app("app", restart_delay="1ms")
    board.start()
    board.wait_active("app")
    fill_inodes(f"{board.root}/run")
    board.plain("new", restart="never")
    board.call("Reload")
    # It needs a notify socket there. One line says so, and who has one goes on.
    report = board.wait_termination("new")
    assert report["namespace"] == "launchFailure"
    assert "No space left on device" in report["explanation"]
    assert str(board.run) in report["explanation"]
    board.signal("app", 9)
    board.wait_app("app", launches=2, scenePhase="active")
    for path in os.listdir(f"{board.root}/run"):
        if path.startswith("filler"):
            os.unlink(f"{board.root}/run/{path}")
    board.call("Launch", app="new", background=None)


def test_a_run_without_inodes_when_the_daemon_starts(board):
    """It lives, so that the board's watchdog is fed, and can be asked once there is room."""
    board.tmpfs(f"{board.root}/run", "64k,nr_inodes=4")
    board.app("app", launch="manual")
    fill_inodes(f"{board.root}/run")
    board.start(wait=False)
    board.wait_log("curfewd 0.1.0 started")
    for line in board.log().splitlines():
        if "No space left on device" in line:
            assert str(board.run) in line
    assert board.log().count("tried again every 5 s") == 3
    holds_for(6, lambda: not (board.run / "io.curfew.Control").exists(), "there is no room at the next try")
    subprocess.run(["mount", "-o", "remount,nr_inodes=60", f"{board.root}/run"], check=True)
    wait_until(board.answers, board.log)
    board.wait_log("all sockets are open now")
    board.call("Launch", app="app", background=None)
    board.wait_active("app")
    with Wire(str(board.run / "apps/app")) as wire:
        assert wire.call("org.varlink.service.GetInfo")["vendor"] == "Curfew"


def test_an_app_that_starts_before_there_is_room_for_all_sockets_is_heard_then(board):
    board.tmpfs(f"{board.root}/run", "64k,nr_inodes=60")
    board.app("app", restart="always", restart_delay="100ms", restart_delay_max="100ms", restart_limit=1000)
    # Its folders are there, and so is its lock.
    board.start()
    assert board.stop() == 0
    for _ in range(5):
        fill_inodes(f"{board.root}/run")
        begun = time.monotonic()
        board.start(wait=False)
        board.wait_log("tried again every 5 s")
        subprocess.run(["mount", "-o", "remount,nr_inodes=90", f"{board.root}/run"], check=True)
        wait_until((board.run / "apps/app").exists, "it has a socket of its own")
        with Wire(str(board.run / "apps/app")) as wire:
            is_first = not (board.run / "io.curfew.Application").exists()
            assert wire.call("org.varlink.service.GetInfo")["vendor"] == "Curfew"
        if is_first:
            return
        # On a busy machine the daemon may have tried again meanwhile.
        assert time.monotonic() - begun > 4.5
        assert board.stop() == 0
        subprocess.run(["mount", "-o", "remount,nr_inodes=60", f"{board.root}/run"], check=True)
    pytest.fail("the app never started before the socket of all was open")
