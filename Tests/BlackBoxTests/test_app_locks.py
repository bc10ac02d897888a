"""Apps that hold delay locks on sleep at logind by themselves."""

import os
import time

import pytest
from waiting import holds_for, wait_until

PROGRAM = 'exec = ["/bin/sleep", "1000"]\n'


def start(board, text=PROGRAM):
    board.app_file("holder", text)
    board.app("other")
    login = board.awake("other", delay=5)
    return login, board.wait_app("holder", scenePhase="active")["mainPID"]


def test_an_app_lets_go_before_it_is_frozen(board):
    login, pid = start(board)
    login.hold_others(("player", "fades out", 0, pid), ("strange", "is no app", 0, os.getpid()))
    login.sleep(True)
    wait_until(lambda: board.is_frozen("other"), board.log)
    holds_for(0.3, lambda: not board.is_frozen("holder") and login.held("sleep") == 1, "it is waited for")
    login.hold_others(("strange", "is no app", 0, os.getpid()))
    closed = login.wait_closed("sleep")
    assert closed["groups"] and all(closed["groups"].values()), closed
    board.wait_log("holder: holds a lock of its own on sleep at logind, “player”: fades out: frozen after it")
    assert "could not be frozen" not in board.log()
    login.sleep(False)
    board.wait_active("other")
    board.wait_app("holder", scenePhase="active")


def test_one_that_does_not_let_go_is_named_and_ended_at_the_next_sleep(board):
    login, pid = start(board)
    login.hold_others(("greedy", "because", 0, pid))
    signalled = login.sleep(True)
    # A bound of its own, within logind's.
    assert 1.5 < login.wait_closed("sleep")["t"] - signalled < 3
    board.wait_log("holder: could not be frozen in time: holds logind's lock on sleep, “greedy”: because")
    login.sleep(False)
    login.wait_held("sleep", 2)
    login.sleep(True)
    login.wait_closed("sleep", 2)
    assert board.wait_termination("holder")["reason"] == "unfreezable"


def test_one_that_lets_go_late_is_frozen_then(board):
    """Frozen with its lock it would cost this sleep all the time that logind waits."""
    login, pid = start(board)
    login.hold_others(("slow", "because", 0, pid))
    login.sleep(True)
    login.wait_closed("sleep")
    board.wait_log("holder: could not be frozen in time: holds logind's lock on sleep, “slow”: because")
    assert not board.is_frozen("holder")
    login.hold_others()
    wait_until(lambda: board.is_frozen("holder"), board.log)
    login.sleep(False)
    board.wait_active("other")
    board.wait_app("holder", scenePhase="active", taskState="running")


def test_one_that_is_never_suspended_is_named_and_ended_at_the_next_sleep(board):
    """Our lock is released without it; logind waits for the app's, as long as it waits at all."""
    login, pid = start(board, PROGRAM + "suspend = false\n")
    login.hold_others(("greedy", "because", 0, pid))
    signalled = login.sleep(True)
    assert login.wait_closed("sleep")["t"] - signalled < 1.5
    board.wait_log(
        "warning: holder: keeps a lock of its own on sleep at logind, which waits for it: “greedy”: because"
    )
    login.sleep(False)
    login.wait_held("sleep", 2)
    login.sleep(True)
    end = board.wait_termination("holder")
    assert end["reason"] == "sleepLockHeld"
    login.hold_others()
    login.sleep(False)


@pytest.mark.parametrize("is_reloaded", [False, True])
def test_one_that_is_never_suspended_and_lets_go_is_not_named(board, is_reloaded):
    login, pid = start(board, PROGRAM + ("" if is_reloaded else "suspend = false\n"))
    if is_reloaded:
        # What its policy says counts at once.
        board.app_file("holder", PROGRAM + "suspend = false\n")
        board.call("Reload")
    for times in (1, 2):
        login.hold_others(("player", "fades out", 0, pid))
        login.wait_held("sleep", times)
        login.sleep(True)
        board.wait_log("holder: holds a lock of its own on sleep at logind, “player”: fades out", times)
        login.hold_others()
        board.wait_log("holder: let go of its lock on sleep at logind", times)
        login.sleep(False)
    assert "keeps a lock of its own" not in board.log()
    assert board.describe("holder")["mainPID"] == pid


def test_what_logind_said_last_holds_while_it_does_not_say(board):
    login, pid = start(board)
    login.hold_others(("player", "fades out", 0, pid))
    login.sleep(True)
    board.wait_log("holder: holds a lock of its own on sleep at logind, “player”: fades out: frozen after it")
    asked = len(login.events("listed"))
    login.fail_lists(5)
    wait_until(lambda: len(login.events("listed")) > asked + 6, board.log)
    assert not board.is_frozen("holder")
    login.hold_others()
    wait_until(lambda: board.is_frozen("holder"), board.log)
    login.sleep(False)


def test_one_that_keeps_logind_busy_is_named_and_ended_too(board):
    """The answer comes when what waited for it is frozen."""
    login, pid = start(board)
    login.hold_others(("greedy", "because", 0, pid))
    login.be_busy(0.4)
    signalled = login.sleep(True)
    wait_until(lambda: board.is_frozen("other"), board.log)
    assert time.monotonic() - signalled < 0.35, "it waits for logind"
    board.wait_log("holder: could not be frozen in time: holds logind's lock on sleep, “greedy”: because")
    login.sleep(False)
    login.wait_held("sleep", 2)
    login.sleep(True)
    assert board.wait_termination("holder")["reason"] == "unfreezable"
    login.sleep(False)


def test_one_that_logind_names_late_is_thawed_to_let_go(board):
    login, pid = start(board)
    login.hold_others(("player", "fades out", 0, pid))
    login.be_busy(0.4)
    login.sleep(True)
    wait_until(lambda: board.is_frozen("holder"), board.log)
    wait_until(lambda: not board.is_frozen("holder"), board.log)
    login.hold_others()
    wait_until(lambda: board.is_frozen("holder"), board.log)
    login.sleep(False)
    assert "could not be frozen" not in board.log()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_others_locks_do_not_hide_it(board):
    login, pid = start(board)
    crowd = [("crowd", "x", 4321, 1_000_000 + number) for number in range(1500)]
    login.hold_others(*crowd, ("player", "fades out", 0, pid))
    login.sleep(True)
    board.wait_log("holder: holds a lock of its own on sleep at logind, “player”")
    login.hold_others()
    wait_until(lambda: board.is_frozen("holder"), board.log)
    login.sleep(False)


def test_one_is_named_however_much_it_says(board):
    login, pid = start(board)
    login.hold_others(("greedy" + "!" * 300_000, "because" * 30_000, 0, pid))
    login.sleep(True)
    board.wait_log("holder: could not be frozen in time: holds logind's lock on sleep, “greedy!")
    assert all(len(line) < 1000 for line in board.log().splitlines())
    login.sleep(False)


def test_a_logind_that_is_gone_is_waited_for_by_no_app(board):
    login, pid = start(board)
    login.hold_others(("player", "fades out", 0, pid))
    login.sleep(True)
    wait_until(lambda: board.is_frozen("other"), board.log)
    holds_for(0.2, lambda: not board.is_frozen("holder"), "it is waited for")
    begun = time.monotonic()
    login.kill_manager()
    wait_until(lambda: board.is_frozen("holder"), board.log)
    assert time.monotonic() - begun < 1 and "could not be frozen" not in board.log()


def test_a_sleep_that_began_while_logind_was_away_waits_for_them_too(board):
    login, pid = start(board)
    login.kill_manager()
    board.wait_log("no logind")
    login.start_manager(sleeping=True, others=[["shutdown:sleep", "player", "fades out", "delay", 0, pid]])
    board.wait_log("holder: holds a lock of its own on sleep at logind, “player”: fades out: frozen after it")
    wait_until(lambda: board.is_frozen("other"), board.log)
    assert not board.is_frozen("holder")
    login.hold_others()
    wait_until(lambda: board.is_frozen("holder"), board.log)
    login.sleep(False)
    board.wait_active("other")


def test_a_sleep_that_was_not_called_off_waits_for_them_too(board):
    """The end of the one before is heard late: only the answer to a question tells that this one goes on."""
    login, pid = start(board)
    login.hold_others(("player", "fades out", 0, pid))
    login.sleep(True)
    wait_until(lambda: board.is_frozen("other"), board.log)
    login.say_late("PrepareForSleep", False)
    board.wait_log("holds a lock of its own on sleep", 2)
    wait_until(lambda: board.is_frozen("other"), board.log)
    holds_for(0.2, lambda: not board.is_frozen("holder"), "it is waited for")
    login.hold_others()
    wait_until(lambda: board.is_frozen("holder"), board.log)
    login.sleep(False)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("pid", [4_000_000, None])
def test_a_lock_that_was_left_to_a_child_is_its_app_s_by_the_user(board, pid):
    login, _ = start(board, PROGRAM + 'sandbox = "default"\n')
    user = os.stat(f"{board.root}/var/lib/curfew-apps/holder").st_uid
    ended = os.spawnv(os.P_WAIT, "/bin/true", ["true"])
    assert ended == 0
    # Of a process that is gone, or of one that has its pid by now.
    login.hold_others(("left", "behind", user, pid or os.getpid()))
    login.sleep(True)
    wait_until(lambda: board.is_frozen("other"), board.log)
    holds_for(0.3, lambda: not board.is_frozen("holder"), "it is waited for")
    login.hold_others()
    login.wait_closed("sleep")


def test_a_logind_that_does_not_say_holds_up_nothing(board):
    login, pid = start(board)
    login.hold_others(*[("many", "x" * 200, 0, pid)] * 2000)
    signalled = login.sleep(True)
    assert login.wait_closed("sleep")["t"] - signalled < 3
    login.sleep(False)
    board.wait_active("other")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_lock_is_no_apps_by_a_pid_alone(board):
    """Its taker's pid may have been given to a process of the app's since."""
    login, pid = start(board, PROGRAM + 'user = "nobody"\n')
    login.hold_others(("stranger", "left it", 1234, pid))
    signalled = login.sleep(True)
    assert login.wait_closed("sleep")["t"] - signalled < 1
    assert board.is_frozen("holder") and "holds a lock" not in board.log()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_lock_that_was_left_is_its_apps_by_a_named_user_too(board):
    login, _ = start(board, PROGRAM + 'user = "nobody"\n')
    login.hold_others(("left", "behind", 65534, 4_000_000))
    login.sleep(True)
    board.wait_log("holder: holds a lock of its own on sleep at logind, “left”")
    login.hold_others()
    login.wait_closed("sleep")
    assert board.is_frozen("holder") and "could not be frozen" not in board.log()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_lock_of_roots_is_no_apps_for_its_user_alone(board):
    login, _ = start(board, PROGRAM + 'user = "root"\n')
    login.hold_others(("cron", "is no app", 0, 4_000_000))
    signalled = login.sleep(True)
    assert login.wait_closed("sleep")["t"] - signalled < 1


def test_it_is_frozen_soon_after_it_has_let_go(board):
    login, pid = start(board)
    login.hold_others(("player", "fades out", 0, pid))
    login.sleep(True)
    wait_until(lambda: board.is_frozen("other"), board.log)
    begun = time.monotonic()
    login.hold_others()
    wait_until(lambda: board.is_frozen("holder"), board.log)
    assert time.monotonic() - begun < 0.45


def test_one_that_lets_go_in_its_handler_is_no_culprit(board):
    board.app("holder", "slow:DidEnterBackground:0.8", allowances={"did_enter_background": "3s"})
    login = board.awake("holder", delay=5)
    login.hold_others(("player", "fades out", 0, board.wait_running("holder")))
    signalled = login.sleep(True)
    # It holds the lock when logind is asked, and has let go when it is to be frozen.
    board.wait_log("holder: holds a lock of its own on sleep at logind, “player”")
    login.hold_others()
    assert 0.8 <= login.wait_closed("sleep")["t"] - signalled < 1.7
    assert board.is_frozen("holder") and "could not be frozen" not in board.log()


def test_a_lock_counts_in_no_sleep_that_logind_does_not_announce(board):
    """What was answered in one that was called off is not held against the app in an operator's."""
    login, pid = start(board)
    login.hold_others(("player", "fades out", 0, pid))
    login.sleep(True)
    board.wait_log("holder: holds a lock of its own on sleep at logind, “player”")
    login.sleep(False)
    board.wait_active("other")
    for _ in range(2):
        begun = time.monotonic()
        assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == []
        assert time.monotonic() - begun < 1 and board.is_frozen("holder")
        board.call("PrepareForSleep", start=False, kind=None)
        board.wait_active("other")
    assert "could not be frozen" not in board.log()


def test_a_lock_counts_on_the_way_to_sleep_only(board):
    board.app("holder", "slow:DidEnterBackground:0.8", allowances={"did_enter_background": "3s"})
    login = board.awake("holder", delay=5)
    login.hold_others(("player", "fades out", 0, board.wait_running("holder")))
    login.sleep(True)
    board.wait_call("holder", "DidEnterBackground")
    login.sleep(False)
    board.wait_active("holder")
    board.call("Background", app="holder")
    wait_until(lambda: board.is_frozen("holder"), board.log)
    assert "could not be frozen" not in board.log()


def start_suspended(board):
    login, pid = start(board, PROGRAM + 'restart = "never"\n')
    board.call("Background", app="holder")
    wait_until(lambda: board.is_frozen("holder"), board.log)
    return login, pid


def test_one_that_was_suspended_before_is_frozen_again_where_the_sleep_ends_first(board):
    login, pid = start_suspended(board)
    login.hold_others(("player", "fades out", 0, pid))
    login.sleep(True)
    wait_until(lambda: not board.is_frozen("holder"), board.log)
    login.sleep(False)
    board.wait_active("other")
    wait_until(lambda: board.is_frozen("holder"), board.log)
    assert "could not be frozen" not in board.log()


def test_one_that_was_suspended_before_is_thawed_to_let_go(board):
    login, pid = start_suspended(board)
    login.hold_others(("player", "fades out", 0, pid))
    login.sleep(True)
    wait_until(lambda: not board.is_frozen("holder"), board.log)
    login.hold_others()
    wait_until(lambda: board.is_frozen("holder"), board.log)
    assert "could not be frozen" not in board.log()
    login.sleep(False)
    board.wait_active("other")
    assert board.is_frozen("holder")


def test_one_that_was_suspended_and_does_not_let_go_is_ended_at_the_next_sleep(board):
    login, pid = start_suspended(board)
    login.hold_others(("greedy", "because", 0, pid))
    login.sleep(True)
    board.wait_log("holder: could not be frozen in time: holds logind's lock on sleep, “greedy”: because")
    login.sleep(False)
    login.wait_held("sleep", 2)
    login.sleep(True)
    assert board.wait_termination("holder")["reason"] == "unfreezable"


def test_a_logind_that_goes_in_the_middle_of_a_question_is_waited_for_by_no_app(board):
    login, pid = start(board)
    login.hold_others(("player", "fades out", 0, pid))
    login.sleep(True)
    board.wait_log("holder: holds a lock of its own on sleep")
    login.be_busy(1.5)
    count = len(login.events("listed"))
    # The one before may have been answered as it was made busy.
    wait_until(lambda: len(login.events("listed")) > count + 1, "it is asked again")
    login.kill_manager()
    wait_until(lambda: board.is_frozen("holder"), board.log)
