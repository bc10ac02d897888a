"""Processes of apps that have the keeper trace them, as any child can its parent: it hears of their stops, which are
no ends, and hide those of others."""

import subprocess

import family
import pytest
from board import toml_file
from sandboxed import in_sandbox
from waiting import holds_for, wait_until


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Where it is built."""
    built = tmp_path_factory.mktemp("traceme") / "traceme"
    source = __file__.rsplit("/", 1)[0] + "/programs/traceme.c"
    subprocess.run(["cc", "-O1", "-pthread", "-o", str(built), source], check=True)
    return built


def traced(board, program, role, **keys):
    installed = board.programs / "traceme"
    installed.write_bytes(program.read_bytes())
    installed.chmod(0o755)
    board.app_file("traced", toml_file({
        "exec": [str(installed), str(board.journal("traced")), role], "launch": "boot", "restart": "never",
        **in_sandbox(board), **keys}))


def test_a_stop_is_no_end_and_what_it_was_stopped_for_comes(board, program):
    traced(board, program, "once")
    board.app("other")
    board.start()
    board.wait_active("other")
    pid = board.wait_note("traced", "heard")["pid"]
    holds_for(0.3, lambda: not board.terminations("traced"), "it runs")
    assert board.describe("traced")["mainPID"] == pid
    board.call("Terminate", app="traced")
    assert board.wait_termination("traced")["namespace"] == "user"


def test_one_that_does_it_again_is_killed(board, program):
    traced(board, program, "twice")
    board.start()
    end = board.wait_termination("traced")
    assert end["explanation"] == "killed by signal 9", end
    assert len(board.notes("traced", "heard")) == 1


def test_orphans_that_do_it_hold_up_nothing(board, program):
    traced(board, program, "orphans", limits={"processes": 64})
    board.app("other", restart_delay="1ms")
    login = board.awake("other")
    board.wait_note("traced", "made")
    for launches in (2, 3, 4):
        board.signal("other", 9)
        board.wait_app("other", launches=launches, scenePhase="active")
    board.wait_active("other")
    signalled = login.sleep(True)
    assert login.wait_closed("sleep")["t"] - signalled < 2
    login.sleep(False)
    board.call("Terminate", app="traced", force=True)
    board.wait_termination("traced")
    wait_until(
        lambda: not [pid for pid in family.children(board.daemon.pid) if family.state(pid) == "Z"], "all are reaped")
    assert board.log().count("have themselves traced by curfewd") == 1
