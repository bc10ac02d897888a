"""The end of the board, and the end of the daemon."""

import cgroups
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
    login = board.awake("storage", "camera", "screen", "recorder", delay=6)
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
    # Cancelled, it brings all of them back.
    login.shutdown(False)
    board.wait_active(*times)
    assert {app["launches"] for app in board.list().values()} == {2}
    login.wait_held("shutdown", 2)


def test_who_hangs_at_shutdown_is_killed_in_time(board):
    board.app("storage", "hang:WillTerminate", allowances={"will_terminate": "20s"})
    board.app("camera", "hang:WillTerminate", after=["storage"], allowances={"will_terminate": "20s"})
    board.plain("deaf", "ignore-term", allowances={"will_terminate": "20s"})
    login = board.awake("storage", "camera", "deaf", delay=2)
    login.wait_held("shutdown")
    signalled = login.shutdown(True)
    closing = login.wait_closed("shutdown")
    assert closing["t"] - signalled < 2
    assert closing["groups"] == {}
    # Two waves share what there is; the second one got its part.
    told = board.wait_call("storage", "WillTerminate")
    assert told["t"] - signalled < 1.3
    assert told["parameters"]["deadline"] > 0.4


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


def test_sigterm_in_the_middle_of_a_handler_of_a_sleep_and_of_a_stop(board):
    limits = {"will_terminate": "500ms", "did_enter_background": "1s", "did_become_active": "1500ms"}
    apps = {"preparing": "hang:DidEnterBackground", "suspended": "child", "stopped": "stop:DidBecomeActive"}
    for name, behaviour in apps.items():
        board.app(name, behaviour, "grandchild", allowances=limits, restart="never")
    board.start()
    board.wait_active("preparing", "suspended")
    board.wait_call("stopped", "DidBecomeActive")
    board.call("Background", app="suspended")
    wait_until(lambda: board.is_frozen("suspended"), "it is frozen")
    with board.wire() as hook:
        hook.send("io.curfew.Control.PrepareForSleep", {"start": True, "kind": None})
        board.wait_call("preparing", "DidEnterBackground")
        assert board.stop() == 0
    pids = {note["pid"] for name in apps for note in board.notes(name)}
    assert not [pid for pid in pids if cgroups.is_alive(pid)]
    assert board.instances() == []
    # Every end is recorded exactly once.
    for name in apps:
        board.app_file(name, "exec = [1]")
    board.start()
    assert sorted(report["app"] for report in board.terminations()) == sorted(apps)
