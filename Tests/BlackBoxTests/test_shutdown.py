"""The end of the board, and the end of the daemon."""

import cgroups
import pytest
from waiting import wait_until


def ended_at(board, name):
    """When an app was told to end, and when it had answered."""
    told = board.wait_call(name, "WillTerminate")["t"]
    answered = [note["t"] for note in board.notes(name, "answered") if note["handler"] == "WillTerminate"]
    return told, answered[0]


def test_a_shutdown_ends_clients_before_their_servers(board):
    board.app("storage", "slow:WillTerminate:0.1")
    board.app("camera", "slow:WillTerminate:0.2", after=["storage"])
    board.app("screen", "slow:WillTerminate:0.2", after=["storage"])
    board.app("recorder", "slow:WillTerminate:0.1", after=["camera"])
    login = board.with_login(delay=6)
    board.start()
    board.wait_active("storage", "camera", "screen", "recorder")
    login.wait_held("shutdown")
    signalled = login.shutdown(True)
    closing = login.wait_closed("shutdown")
    assert closing["t"] - signalled < 6
    assert closing["groups"] == {}
    times = {name: ended_at(board, name) for name in ("storage", "camera", "screen", "recorder")}
    assert times["recorder"][1] <= times["camera"][0]
    assert times["camera"][1] <= times["storage"][0]
    assert times["screen"][1] <= times["storage"][0]
    # One wave: side by side.
    reports = {report["app"]: report for report in board.terminations()}
    assert {report["namespace"] for report in reports.values()} == {"shutdown"}
    assert len(board.terminations()) == 4
    assert board.wait_call("camera", "WillTerminate")["parameters"]["reason"] == "shutdown"
    assert login.held("sleep") == 1
    denial = board.error("Launch", app="camera", background=None)
    assert denial.name.endswith("Denied") and denial.parameters["kind"] == "shuttingDown"


def test_who_hangs_at_shutdown_is_killed_in_time(board):
    board.app("storage", "hang:WillTerminate", allowances={"will_terminate": "20s"})
    board.app("camera", "hang:WillTerminate", after=["storage"], allowances={"will_terminate": "20s"})
    board.plain("deaf", "ignore-term", allowances={"will_terminate": "20s"})
    login = board.with_login(delay=3)
    board.start()
    board.wait_active("storage", "camera", "deaf")
    login.wait_held("shutdown")
    signalled = login.shutdown(True)
    closing = login.wait_closed("shutdown")
    assert closing["t"] - signalled < 3
    assert closing["groups"] == {}
    # Two waves share what there is; the second one got its part.
    told = board.wait_call("storage", "WillTerminate")
    assert told["t"] - signalled < 2.2
    assert told["parameters"]["deadline"] > 0.5


def test_a_cancelled_shutdown_brings_the_apps_back(board):
    board.app("app")
    login = board.with_login()
    board.start()
    board.wait_active("app")
    login.wait_held("shutdown")
    login.shutdown(True)
    login.wait_closed("shutdown")
    login.shutdown(False)
    board.wait_active("app")
    assert board.describe("app")["launches"] == 2
    login.wait_held("shutdown", 2)


def test_a_shutdown_cancelled_half_way_brings_the_apps_back(board):
    board.app("app", "slow:WillTerminate:0.6", allowances={"will_terminate": "3s"})
    login = board.with_login()
    board.start()
    board.wait_active("app")
    login.wait_held("shutdown")
    login.shutdown(True)
    board.wait_call("app", "WillTerminate")
    login.shutdown(False)
    board.wait_app("app", launches=2, scenePhase="active", taskState="running")


def test_sigterm_ends_the_apps_in_order_and_the_daemon_with_0(board):
    board.app("storage")
    board.app("camera", "grandchild", "slow:WillTerminate:0.2", after=["storage"])
    board.plain("plain", "grandchild")
    board.start()
    board.wait_active("storage", "camera", "plain")
    pids = [note["pid"] for name in ("storage", "camera", "plain") for note in board.notes(name)]
    assert board.stop() == 0
    assert not [pid for pid in pids if cgroups.is_alive(pid)]
    assert ended_at(board, "camera")[1] <= ended_at(board, "storage")[0]
    assert board.notes("plain", "signal")[0]["number"] == 15
    assert board.instances() == []
    # Why they ended is known to the next daemon.
    board.start()
    kept = {report["app"]: report["namespace"] for report in board.terminations()}
    assert kept == {"storage": "shutdown", "camera": "shutdown", "plain": "shutdown"}


PHASES = {
    "launching": ["hang:DidFinishLaunching"],
    "waiting for READY=1": [],
    "becoming active": ["hang:DidBecomeActive"],
    "active": [],
    "preparing for sleep": ["hang:DidEnterBackground"],
    "asleep": [],
    "going to background": ["hang:WillResignActive"],
    "suspended": [],
    "terminating": ["hang:WillTerminate"],
    "ignoring SIGTERM": ["ignore-term"],
    "stopped": ["stop:DidBecomeActive"],
    "about to restart": ["die:0:1"],
}


def reach(board, phase):
    """Brings the app into a phase, and the daemon is not waited for."""
    if phase in ("launching", "becoming active", "stopped"):
        board.wait_call("app", {"launching": "DidFinishLaunching"}.get(phase, "DidBecomeActive"))
    elif phase == "waiting for READY=1":
        board.wait_note("app", "running")
    elif phase == "about to restart":
        board.wait_termination("app")
    else:
        board.wait_active("app")
    wire = board.wire()
    if phase == "preparing for sleep":
        wire.send("io.curfew.Control.PrepareForSleep", {"start": True, "kind": None})
        board.wait_call("app", "DidEnterBackground")
    elif phase == "asleep":
        wire.call("io.curfew.Control.PrepareForSleep", {"start": True, "kind": None})
    elif phase == "going to background":
        wire.send("io.curfew.Control.Background", {"app": "app"})
        board.wait_call("app", "WillResignActive")
    elif phase == "suspended":
        wire.call("io.curfew.Control.Background", {"app": "app"})
        wait_until(lambda: board.is_frozen("app"), "it is frozen")
    elif phase == "terminating":
        wire.send("io.curfew.Control.Terminate", {"app": "app", "force": None})
        board.wait_call("app", "WillTerminate")
    return wire


@pytest.mark.parametrize("phase", list(PHASES))
def test_sigterm_in_each_phase(board, phase):
    keys = {"readiness": "notify"} if phase == "waiting for READY=1" else {}
    limits = {"will_terminate": "500ms", "did_enter_background": "2s", "will_resign_active": "1s",
              "did_finish_launching": "1s", "did_become_active": "1s"}
    board.app("app", *PHASES[phase], "grandchild", allowances=limits, restart_delay="10s", **keys)
    board.app("other")
    board.start()
    with reach(board, phase):
        assert board.stop() == 0
    pids = {note["pid"] for name in ("app", "other") for note in board.notes(name)}
    assert not [pid for pid in pids if cgroups.is_alive(pid)]
    assert board.instances() == []
    # Every end is recorded exactly once.
    board.app_file("app", "exec = [1]")
    board.start()
    assert len(board.terminations("app")) == 1
