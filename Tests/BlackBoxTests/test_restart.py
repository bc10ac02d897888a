"""After which ends an app is started again, when, and how often."""

import cgroups
import pytest
from waiting import holds_for, wait_until


@pytest.mark.parametrize("restart, behaviour, comes_back", [
    ("on-failure", "die:0:1", True),
    ("on-failure", "abort:0", True),
    ("on-failure", "die:0:0", False),
    ("always", "die:0:0", True),
    ("never", "abort:0", False),
])
def test_after_which_ends(board, restart, behaviour, comes_back):
    board.plain("app", behaviour, restart=restart, restart_delay="1ms", restart_limit=2)
    board.start()
    board.wait_termination("app", 2 if comes_back else 1)
    launches = 2 if comes_back else 1
    holds_for(0.3, lambda: board.describe("app")["launches"] == launches, lambda: str(board.describe("app")))
    report = board.terminations("app")[0]
    assert report["namespace"] == ("crash" if behaviour == "abort:0" else "exit")
    if behaviour == "abort:0":
        assert report["code"] == "0x6"


def test_the_delay_doubles_and_is_never_cut_short(board):
    board.plain("app", "die:0:1", restart_delay="100ms", restart_delay_max="400ms", restart_limit=6)
    board.start()
    board.wait_termination("app", 6)
    starts = [note["t"] for note in board.notes("app", "start")]
    gaps = [after - before for before, after in zip(starts, starts[1:])]
    for gap, delay in zip(gaps, [0.1, 0.2, 0.4, 0.4, 0.4]):
        assert gap >= delay, gaps
    assert max(gaps) < 5


def test_left_down_at_its_limit_until_launched_by_hand(board):
    board.plain("app", "die:0:1", restart_delay="1ms", restart_limit=3)
    board.app("other")
    board.start()
    board.wait_termination("app", 3)
    holds_for(0.4, lambda: board.describe("app")["launches"] == 3, "it is left down")
    assert board.log().count("left down") == 1
    assert board.describe("app")["statusText"] and board.describe("app")["leftDown"] is True
    assert board.describe("other")["leftDown"] is False
    # By hand it begins anew, and has all of its chances again.
    board.call("Activate", app="other")
    board.call("Launch", app="app", background=None)
    board.wait_termination("app", 6)
    holds_for(0.3, lambda: board.describe("app")["launches"] == 6, "it is left down again")
    board.wait_active("other")


def test_launched_by_hand_again_and_again_it_is_never_left_down(board):
    board.plain("app", "usr1:exit=1", launch="manual", restart="never", restart_limit=2)
    board.start()
    for number in range(1, 5):
        board.call("Launch", app="app", background=None)
        board.wait_note("app", "running", number)
        board.signal("app", 10)
        board.wait_termination("app", number)
        board.wait_app("app", taskState="notRunning")


def test_a_stable_uptime_begins_the_count_anew(board):
    board.plain("app", "die:0.4:1", restart_delay="1ms", restart_reset="300ms", restart_limit=2)
    board.start()
    board.wait_termination("app", 4)
    assert "left down" not in board.log()


def test_the_old_instance_is_gone_before_the_new_one_starts(board):
    board.app("app", "grandchild", restart_delay="0s")
    board.start()
    board.wait_active("app")
    for number in (1, 2, 3):
        grandchild = board.wait_note("app", "grandchild", number)["pid"]
        main = board.wait_note("app", "start", number)
        board.wait_app("app", mainPID=main["pid"])
        board.signal("app", 9)
        board.wait_note("app", "start", number + 1)
        wait_until(lambda pid=grandchild: not cgroups.is_alive(pid), "its grandchild is gone")
    board.wait_active("app")
    assert len(board.instances()) == 1
    reports = board.terminations("app")
    assert [(report["namespace"], report["code"]) for report in reports] == [("crash", "0x9")] * 3


def test_a_restart_keeps_the_phase(board):
    board.app("app", "usr1:exit=1", suspend=False, restart_delay="1ms")
    board.start()
    board.wait_active("app")
    board.call("Background", app="app")
    board.signal("app", 10)
    board.wait_app("app", launches=2, scenePhase="background", taskState="running")
    assert board.wait_call("app", "DidFinishLaunching", 2)["parameters"]["reason"] == "restart"
    holds_for(0.2, lambda: board.calls("app")[-1] == "DidFinishLaunching", "nothing follows")


def test_an_end_is_recorded_once_and_kept(board):
    board.app("app", "usr1:abort", restart="never")
    board.start()
    board.wait_active("app")
    board.signal("app", 10)
    board.wait_termination("app")
    first = board.terminations()
    assert len(first) == 1
    assert board.describe("app")["lastTermination"] == first[0]
    assert board.stop() == 0
    board.start()
    board.wait_active("app")
    assert board.terminations()[0] == first[0]
    board.signal("app", 10)
    second = board.wait_termination("app", 2)
    assert second["report"] != first[0]["report"]
    assert board.call("ListTerminations", app=None, since=second["time"])["terminations"] == [second]
    assert board.call("ListTerminations", app="other", since=None)["terminations"] == []
