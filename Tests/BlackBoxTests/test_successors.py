"""The keeper is killed, and its loop with it: the apps run on, and the next daemon goes on with them."""

import contextlib
import ctypes
import os
import signal
from pathlib import Path

import cgroups
import pytest
from board import toml_file
from loops import kill_loop, replace_in_a_hang, replace_in_a_hook
from service_managers import Store
from waiting import holds_for, wait_until


@pytest.fixture
def store(board):
    made = Store(board)
    yield made
    made.close()


def test_what_runs_runs_on_three_times(board, store):
    board.app("app", "lend")
    board.app("asleep", launch="manual")
    board.plain("plain", "child")
    login = board.with_login(5.0)
    store.start()
    login.wait_held("sleep")
    board.wait_active("app", "plain")
    board.call("Launch", app="asleep", background=True)
    board.wait_app("asleep", taskState="suspended")
    with board.borrow("app") as wire:
        task = wire.call("io.curfew.Application.BeginBackgroundTask", {"name": "upload"})["identifier"]
    board.call("Background", app="app")
    before = {name: board.describe(name) for name in ("app", "asleep", "plain")}
    budget = before["app"]["backgroundTimeRemaining"]
    for number in range(3):
        store.replace()
        login.wait_held("sleep", number + 2)
        for name, app in before.items():
            now = board.describe(name)
            assert (now["mainPID"], now["launches"], now["taskState"], now["scenePhase"]) == (
                app["mainPID"], app["launches"], app["taskState"], app["scenePhase"]), f"{name}:\n{board.log()}"
        assert [held["identifier"] for held in board.call("Describe", app="app")["tasks"]] == [task]
        assert 0 < board.describe("app")["backgroundTimeRemaining"] <= budget
        budget = board.describe("app")["backgroundTimeRemaining"]
    assert board.log().count("curfewd was killed; another goes on with what it had in hand") == 3
    assert sorted(board.instances()) == ["app", "asleep", "plain"]
    assert board.terminations() == []
    # What is heard and done goes on, too.
    with board.borrow("app") as wire:
        wire.call("io.curfew.Application.EndBackgroundTask", {"identifier": task})
    board.wait_app("app", taskState="suspended")
    board.call("Activate", app="app")
    board.wait_active("app")
    login.sleep(True)
    login.wait_closed("sleep", 4)
    assert board.is_frozen("plain")
    login.sleep(False)
    board.wait_active("app", "plain")
    assert board.stop() == 0
    assert board.instances() == []


PR_SET_CHILD_SUBREAPER = 36


@contextlib.contextmanager
def adopts():
    """What the killed daemon has started is ours: the part of init."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0)


def test_how_it_ends_is_known_where_the_kernel_says(board, store):
    """As its parent reaps it (Linux 6.15)."""
    board.plain("app", restart="never")
    store.start()
    board.wait_active("app")
    with adopts():
        store.replace()
        pid = board.wait_running("app")
        os.kill(pid, signal.SIGSEGV)
        os.waitpid(pid, 0)
    end = board.wait_termination("app")
    assert end["namespace"] == ("crash" if kernel() >= (6, 15) else "unknown"), end


def kernel():
    return tuple(int(part) for part in os.uname().release.split(".")[:2])


def test_how_it_has_ended_meanwhile_is_said_not_to_be_known(board, store):
    board.plain("app", restart="never")
    store.start()
    board.wait_active("app")
    pid = board.wait_running("app")
    with adopts():
        board.kill()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    store.start()
    assert "could not learn how" in board.wait_termination("app")["explanation"]
    board.wait_app("app", taskState="notRunning")


def test_a_hook_under_way_is_waited_for(board, store):
    def replace(runs):
        wait_until(lambda: os.path.exists(runs), "the hook runs")
        # By the second answer the loop knows of that.
        assert [board.describe("app")["scenePhase"] for _ in range(2)] == ["inactive"] * 2
        store.replace()
        holds_for(0.3, lambda: board.describe("app")["scenePhase"] == "inactive", "its hook runs")

    replace_in_a_hook(board, store.start, replace)


def test_an_app_that_hangs_is_ended_after_its_time_all_the_same(board, store):
    replace_in_a_hang(board, store.start, store.replace)


@pytest.fixture
def first(board, store):
    """The pid of an app of a daemon whose state is kept."""
    board.app("app")
    store.start()
    board.wait_active("app")
    store.wait_kept("state")
    return board.describe("app")["mainPID"]


def test_nothing_is_kept_of_a_daemon_that_ended_in_order(board, store, first):
    assert board.stop() == 0
    wait_until(lambda: not store.names(), store.names)
    store.start()
    board.wait_active("app")
    assert board.describe("app")["mainPID"] != first
    assert "goes on with what it had in hand" not in board.log()


def test_what_is_handed_over_and_damaged_is_a_new_start(board, store, first):
    board.kill()
    with store.lock:
        for descriptor in store.kept["state"]:
            os.ftruncate(descriptor, 100)
    store.start()
    board.wait_active("app")
    assert board.describe("app")["mainPID"] != first
    assert len(board.instances()) == 1


def test_no_lock_of_logind_s_is_kept_where_no_daemon_runs(board, store):
    board.app("app")
    login = board.with_login(5.0)
    store.start()
    login.wait_held("sleep")
    board.wait_active("app")
    board.kill()
    login.wait_closed("sleep")
    store.start()
    login.wait_held("sleep", 2)
    board.wait_active("app")


def test_a_hundred_apps_outlive_ten_loops_and_three_keepers(board, store):
    names = [f"app-{number}" for number in range(100)]
    for name in names:
        board.app_file(name, 'exec = ["/bin/sleep", "1000"]\nlaunch = "boot"\n')
    store.start()
    board.wait_active(*names)
    pids = {name: board.describe(name)["mainPID"] for name in names}
    for number in range(13):
        if number % 4 == 3:
            store.replace()
        else:
            kill_loop(board)
        assert {name: board.describe(name)["mainPID"] for name in names} == pids, board.log()
    assert sorted(board.instances()) == sorted(names)
    assert board.terminations() == []
    for name in names:
        assert cgroups.processes(board.instance(name)) == [pids[name]]


@pytest.mark.parametrize(("program", "hook"), [
    ("echo here >/tmp/mark; exec sleep 1000", "grep here /tmp/mark"),
    # In a mount namespace that is in its own hands, with another /usr: not that, at any rate.
    ("exec unshare -Urm sh -c 'mount -t tmpfs x /usr/share; exec sleep 1000'", "test -d /usr/share/doc"),
])
def test_a_hook_sees_what_its_app_was_given(board, store, program, hook):
    board.app_file("app", toml_file({
        "exec": ["/bin/sh", "-c", program], "sandbox": "default", "restrict_namespaces": False, "launch": "boot",
        "delegate": "hooks", "hooks": {"did-enter-background": ["/bin/sh", "-c", hook]}}))
    store.start()
    board.wait_active("app")
    if board.describe("app")["sandboxLacks"]:
        pytest.skip("no whole sandbox here")
    pid = board.describe("app")["mainPID"]
    wait_until(lambda: Path(f"/proc/{pid}/comm").read_text() == "sleep\n", board.log)
    store.replace()
    board.call("Background", app="app")
    board.wait_app("app", scenePhase="background")
    assert board.describe("app")["statusText"] is None


def test_an_upgrade_keeps_what_was_taken_over(board, store):
    board.plain("app", restart="never")
    store.start()
    board.wait_active("app")
    store.replace()
    pid = board.wait_running("app")
    main = board.daemon.pid
    board.call("Upgrade")
    assert board.daemon.pid == main and board.describe("app")["mainPID"] == pid
    os.kill(pid, signal.SIGKILL)
    board.wait_termination("app")
    board.wait_app("app", taskState="notRunning")
    # What an upgrade keeps the next daemon has, too.
    board.call("Launch", app="app", background=None)
    pid = board.describe("app")["mainPID"]
    store.replace()
    assert board.describe("app")["mainPID"] == pid
