"""After which ends an app is started again, when, and how often."""

import cgroups
from waiting import holds_for, wait_until


def test_an_app_that_ends_again_and_again_is_left_down_until_launched_by_hand(board):
    board.plain("app", "die:0:1", restart_delay="100ms", restart_delay_max="200ms", restart_limit=7)
    # Each time it was up for long enough: the first in a row.
    board.plain("stable", "die:0.4:1", restart_delay="1ms", restart_reset="300ms", restart_limit=2)
    board.app("other")
    board.start()
    board.wait_termination("app", 7)
    board.wait_termination("stable", 4)
    starts = [note["t"] for note in board.notes("app", "start")]
    gaps = [after - before for before, after in zip(starts, starts[1:])]
    assert all(gap >= delay for gap, delay in zip(gaps, [0.1] + [0.2] * 5)), gaps
    # Doubled without a limit they were 6.3 s.
    assert sum(gaps) < 6, gaps
    holds_for(0.3, lambda: board.describe("app")["launches"] == 7, "it is left down")
    assert board.log().count("left down") == 1
    assert board.describe("app")["statusText"]
    assert [board.describe(name)["leftDown"] for name in ("app", "stable", "other")] == [True, False, False]
    # By hand it begins anew, and has all of its chances again.
    board.call("Launch", app="app", background=None)
    board.wait_termination("app", 14)
    holds_for(0.3, lambda: board.describe("app")["launches"] == 14, "it is left down again")
    assert board.describe("app")["leftDown"] is True
    board.wait_active("other")


def test_the_old_instance_is_gone_before_the_new_one_starts(board):
    board.app("app", "grandchild", "child", "usr1:exit=0", restart_delay="0s")
    board.start()
    board.wait_active("app")
    for number in (1, 2, 3):
        left = [board.wait_note("app", kind, number)["pid"] for kind in ("grandchild", "child")]
        main = board.wait_note("app", "start", number)
        board.wait_app("app", mainPID=main["pid"])
        board.signal("app", 9)
        board.wait_note("app", "start", number + 1)
        assert not [pid for pid in left if cgroups.is_alive(pid)]
    board.wait_active("app")
    assert len(board.instances()) == 1
    reports = board.terminations("app")
    assert [(report["namespace"], report["code"]) for report in reports] == [("crash", "0x9")] * 3
    # So it is where no other is started.
    left = [board.wait_note("app", kind, 4)["pid"] for kind in ("grandchild", "child")]
    board.signal("app", 10)
    board.wait_app("app", taskState="notRunning")
    wait_until(lambda: not [pid for pid in left if cgroups.is_alive(pid)], "what it left behind is gone")
    wait_until(lambda: not (board.apps_group / "app.4").exists(), "its group is removed")
    report = board.wait_termination("app", 4)
    assert (report["namespace"], report["code"]) == ("exit", "0x0")


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
