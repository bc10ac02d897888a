"""Delay locks on sleep that apps have, and others took: who has one is found by its descriptor."""

import os
import pwd
import signal
import socket
import subprocess

import family
import pytest
from board import PYTHON
from lockers import GAMES, KINDS, NAMED, Passed, begin, lock_app, user_of
from waiting import holds_for, wait_until

# Serves a file that is called like a lock, has it open, and answers nothing more.
SERVES = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
assert libc.unshare(0x20000) == 0
assert libc.mount(b"none", b"/", None, 0x44000, None) == 0
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
assert libc.mount(b"own", sys.argv[1].encode(), b"fuse", 0, options) == 0
if os.fork() == 0:
    os.close(device)
    file = os.open(sys.argv[1] + "/1.ref", os.O_WRONLY)
    open(sys.argv[2], "w").write("opened")
    os.read(os.pipe()[0], 1)
attributes = struct.pack("<6Q10I", 2, 0, 0, 0, 0, 0, 0, 0, 0, 0o100644, 1, 0, 0, 0, 4096, 0)
answers = {26: struct.pack("<IIIIHHIIHHI7I", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, 0, *[0] * 7),
           1: struct.pack("<4Q2I", 2, 0, 0, 0, 0, 0) + attributes, 14: struct.pack("<QII", 1, 0, 0)}
while True:
    opcode, unique = struct.unpack_from("<IQ", os.read(device, 1 << 17), 4)
    if opcode in answers:
        os.write(device, struct.pack("<IiQ", 16 + len(answers[opcode]), 0, unique) + answers[opcode])
"""
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
STUCK = "{}: could not be frozen in time: holds logind's lock on sleep, “stray”: because"
UNKNOWN = "“stray”: because; no process was found that has it"


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__.lower())
def lock(request, board):
    return request.param(board, board.with_login())


def test_who_has_it_lets_go_before_it_is_frozen(board, lock):
    login = board.login
    login.sleep(True)
    wait_until(lambda: board.is_frozen("other") and board.is_frozen(lock.innocent), board.log)
    holds_for(0.3, lambda: not board.is_frozen(lock.holder) and login.held("sleep") == 1, "it is waited for")
    os.kill(lock.pid, signal.SIGUSR1)
    closed = login.wait_closed("sleep")
    assert login.wait_let_go(lock.fifo)["t"] < closed["t"]
    assert closed["groups"] and all(closed["groups"].values()), closed
    board.wait_log(NAMED.format(lock.holder))
    assert board.log().count("holds a lock") == 1 and "could not be frozen" not in board.log()
    login.sleep(False)
    board.wait_active("other")
    board.wait_app(lock.holder, scenePhase="active", taskState="running")


def test_who_has_it_for_two_sleeps_is_ended_and_the_third_is_in_time(board, lock):
    login = board.login
    login.sleep(True)
    login.wait_closed("sleep")
    board.wait_log(STUCK.format(lock.holder) + ("; giver took it" if isinstance(lock, Passed) else ""))
    assert not board.is_frozen(lock.holder)
    login.sleep(False)
    login.wait_held("sleep", 2)
    login.sleep(True)
    assert board.wait_termination(lock.holder)["reason"] == "unfreezable"
    login.wait_let_go(lock.fifo)
    login.wait_closed("sleep", 2)
    login.sleep(False)
    login.wait_held("sleep", 3)
    signalled = login.sleep(True)
    assert login.wait_closed("sleep", 3)["t"] - signalled < 1
    login.sleep(False)
    board.wait_active("other")
    assert board.terminations(lock.innocent) == [] and NAMED.format(lock.innocent) not in board.log()
    assert UNKNOWN not in board.log()


def test_who_has_it_and_was_suspended_is_thawed_to_let_go(board):
    login = board.with_login()
    lock = Passed(board, login)
    board.call("Background", app="taker")
    wait_until(lambda: board.is_frozen("taker"), board.log)
    login.sleep(True)
    wait_until(lambda: not board.is_frozen("taker"), board.log)
    os.kill(lock.pid, signal.SIGUSR1)
    login.wait_let_go(lock.fifo)
    wait_until(lambda: board.is_frozen("taker"), board.log)
    login.sleep(False)
    board.wait_active("other")
    assert "could not be frozen" not in board.log()


@pytest.mark.skipif(not os.path.exists("/dev/fuse"), reason="needs FUSE")
def test_a_file_for_which_no_program_answers_holds_up_no_search(board):
    login = board.with_login()
    place, opened = board.journals / "own", board.journals / "opened"
    place.mkdir()
    with subprocess.Popen([*PYTHON, "-c", SERVES, place, opened], start_new_session=True) as server:
        try:
            wait_until(opened.exists, "it has its file open")
            lock = Passed(board, login)
            login.sleep(True)
            board.wait_log(NAMED.format("taker"))
            os.kill(lock.pid, signal.SIGUSR1)
            login.wait_closed("sleep")
            login.sleep(False)
            login.wait_held("sleep", 2)
            login.hold_others(("stray", "because", 70_001, 4_000_000))
            login.sleep(True)
            board.wait_log(UNKNOWN)
            login.sleep(False)
        finally:
            os.killpg(server.pid, signal.SIGKILL)


def test_a_search_that_outlasts_its_sleep_is_made_again_in_the_next_which_waits_for_it(board):
    login = board.with_login()
    Passed(board, login)
    # It looks for the holders.
    os.kill(board.daemon.pid, signal.SIGSTOP)
    try:
        login.sleep(True)
        login.wait_closed("sleep")
        login.sleep(False)
        login.wait_held("sleep", 2)
        board.wait_active("other")
        login.sleep(True)
        wait_until(lambda: board.describe("other")["scenePhase"] != "active", board.log)
        holds_for(0.2, lambda: not board.is_frozen("taker"), "its search is waited for")
    finally:
        os.kill(board.daemon.pid, signal.SIGCONT)
    board.wait_log(NAMED.format("taker"))
    assert not board.is_frozen("taker")
    login.sleep(False)


def test_one_that_is_looked_for_in_vain_is_said_once_a_sleep(board):
    login = board.with_login()
    lock_app(board, "gone", "idle", launch="manual")
    begin(board, login)
    user = 70_001  # of the apps' own
    login.hold_others(("stray", "because", user, 4_000_000), ("stray", "because", user, 4_000_001))
    for number in (1, 2):
        signalled = login.sleep(True)
        assert login.wait_closed("sleep", number)["t"] - signalled < 1
        board.wait_log(UNKNOWN, number)
        login.sleep(False)
        login.wait_held("sleep", number + 1)
    assert board.log().count("no process was found") == 2 and f"of user {user}" in board.log()


def test_one_that_is_let_go_while_it_is_looked_for_is_not_said_to_be_lost(board):
    login, _, own = held_outside(board)
    os.close(own)
    login.hold_others(("stray", "because", pwd.getpwnam("games").pw_uid, 4_000_000))
    login.forget_others()
    login.be_busy(0.2)
    login.sleep(True)
    login.wait_closed("sleep")
    wait_until(lambda: len(login.events("listed")) >= 2, login.events)
    login.sleep(False)
    board.wait_active("other")
    assert "stray" not in board.log()


def test_one_that_was_handed_on_when_its_holder_is_ended_is_looked_for_again(board):
    login = board.with_login()
    fifo = login.make_lock()
    meetings = [str(board.journals / name) for name in ("first-meeting", "second-meeting")]
    lock_app(board, "first", "get", meetings[0])
    lock_app(board, "giver", "give", fifo, meetings[0])
    lock_app(board, "second", "get", meetings[1], suspend=False)
    begin(board, login)
    board.wait_note("first", "has")
    board.wait_termination("giver")
    login.show_lock(fifo, "stray", "because", user_of(board, "giver"), board.notes("giver")[0]["pid"])
    login.sleep(True)
    login.wait_closed("sleep")
    login.sleep(False)
    login.wait_held("sleep", 2)
    login.sleep(True)
    board.wait_log(NAMED.format("first"), 2)
    hand(fifo, meetings[1])
    assert board.wait_termination("first")["reason"] == "unfreezable"
    board.wait_log("second: holds a lock of its own on sleep at logind, “stray”")
    login.sleep(False)


def hand(fifo, meeting):
    """Gives a lock to the app that waits for one there."""
    own = os.open(fifo, os.O_WRONLY)
    with socket.socket(socket.AF_UNIX) as giver:
        wait_until(lambda: giver.connect_ex(meeting) == 0, "it listens")
        socket.send_fds(giver, [b"x"], [own])
        giver.recv(1)
    os.close(own)


def test_one_that_either_of_two_holders_hands_on_is_looked_for_again(board):
    login = board.with_login()
    fifo = login.make_lock()
    meetings = [str(board.journals / f"meeting-{number}") for number in range(3)]
    lock_app(board, "first", "get", meetings[0])
    lock_app(board, "second", "get", meetings[1])
    lock_app(board, "third", "get", meetings[2], suspend=False)
    lock_app(board, "giver", "give", fifo, meetings[0])
    begin(board, login)
    board.wait_note("first", "has")
    board.wait_termination("giver")
    hand(fifo, meetings[1])
    board.wait_note("second", "has")
    login.show_lock(fifo, "stray", "because", user_of(board, "giver"), board.notes("giver")[0]["pid"])
    login.sleep(True)
    for name in ("first", "second"):
        board.wait_log(NAMED.format(name))
    # The later of the two in what the keeper has found.
    order = sorted(("first", "second"), key=lambda name: board.log().index(NAMED.format(name)))
    hand(fifo, meetings[2])
    os.kill(board.notes(order[1], "has")[0]["pid"], signal.SIGKILL)
    board.wait_termination(order[1])
    board.wait_log("third: holds a lock of its own on sleep at logind, “stray”")
    login.sleep(False)


def test_a_search_leaves_no_descriptor(board):
    login = board.with_login()
    lock_app(board, "gone", "idle", launch="manual")
    begin(board, login)
    login.hold_others(("stray", "because", 70_001, 4_000_000))
    counts = []
    for number in range(1, 6):
        login.sleep(True)
        login.wait_closed("sleep", number)
        board.wait_log("no process was found", number)
        login.sleep(False)
        login.wait_held("sleep", number + 1)
        counts.append(len(family.descriptors(board.daemon.pid)))
    # One of them is the keeper's for our own lock, which it has a moment after us.
    wait_until(lambda: len(family.descriptors(board.daemon.pid)) <= max(counts[:2]), lambda: str(counts))


def test_apps_whose_locks_leave_none_for_ours_are_ended(board):
    """Of any kind: logind has 8192 for all."""
    login = board.with_login(refuse=["shutdown:sleep", "sleep"])
    user = pwd.getpwnam("games").pw_uid
    lock_app(board, "greedy", "idle", launch="manual", **GAMES)
    lock_app(board, "innocent", "idle", user="daemon", group="daemon")
    board.start("--trial")
    board.wait_active("innocent")
    wait_until(lambda: len(login.events("listed")) == 2, login.events)
    board.call("Launch", app="greedy", background=None)
    board.wait_log("greedy: is active")
    # Only now: the answer to the second question may still be on its way.
    others = [("shutdown", "many", "because", pwd.getpwnam("daemon").pw_uid, 4_000_000)] * 255
    login.show_others(*others, *[("shutdown", "many", "because", user, 4_000_000)] * 256)
    with board.wire() as wire:
        wire.call("io.curfew.Trial.Skip", {"seconds": 31})
    assert board.wait_termination("greedy")["reason"] == "lockTableFilled"
    # Ours is asked for again as soon as it is gone.
    wait_until(lambda: len(login.events("refused", what="sleep")) >= 4, login.events)
    assert board.terminations("innocent") == []


def held_outside(board):
    """Two apps share a user, and no process of theirs has the lock: logind, its FIFO, and our end of it."""
    login = board.with_login()
    for name in ("first", "second"):
        lock_app(board, name, "idle", **GAMES)
    begin(board, login)
    fifo = login.make_lock()
    return login, fifo, os.open(fifo, os.O_WRONLY)


def test_one_that_rests_with_a_process_of_no_app_is_said_so(board):
    """With the bus, say, in a message that is not read."""
    login, fifo, own = held_outside(board)
    login.show_lock(fifo, "stray", "because", pwd.getpwnam("games").pw_uid, 4_000_000)
    login.sleep(True)
    board.wait_log(f"“stray”: because; pid {os.getpid()}, which is no app's, has it now")
    os.close(own)
    login.sleep(False)


def test_one_that_a_process_of_no_app_has_is_its_own_business(board):
    """A person's, of the user that apps have too."""
    login, fifo, own = held_outside(board)
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, pass_fds=[own], user="games") as person:
        os.close(own)
        login.show_lock(fifo, "stray", "because", pwd.getpwnam("games").pw_uid, person.pid)
        signalled = login.sleep(True)
        assert login.wait_closed("sleep")["t"] - signalled < 1
        login.sleep(False)
        board.wait_active("other")
        assert "stray" not in board.log()
        person.stdin.close()


@pytest.mark.parametrize("change", [{"what": "shutdown:idle"}, {"mode": "block"}, {"user": 70_002}, {"pid": 4_000_002}])
def test_it_is_looked_for_by_all_that_logind_says(board, change):
    """Another lock of the app's that is none on sleep, or that another process took, is none that logind waits for."""
    login = board.with_login()
    fifo = login.make_lock()
    lock_app(board, "first", "inherit", fifo, **GAMES)
    lock_app(board, "second", "idle", **GAMES)
    begin(board, login)
    taker = board.wait_note("first", "has")["taker"]
    user = pwd.getpwnam("games").pw_uid
    login.show_lock(fifo, **{"who": "x", "why": "y", "user": user, "pid": taker, "what": "sleep", "mode": "delay",
                             "listed": False, **change})
    login.hold_others(("stray", "because", user, taker))
    signalled = login.sleep(True)
    board.wait_log(UNKNOWN)
    # As no process has it, both answer for it.
    for name in ("first", "second"):
        board.wait_log(f"{name}: answers for a lock that its user took on sleep at logind, “stray”")
    login.hold_others()
    assert login.wait_closed("sleep")["t"] - signalled < 1
    assert "holds a lock of its own" not in board.log()
    login.sleep(False)


def test_apps_answer_for_what_is_not_found_if_their_user_took_it(board):
    """In a queue of io_uring's, say, where no process has it open."""
    login, fifo, own = held_outside(board)
    os.close(own)
    login.hold_others(("stray", "because", pwd.getpwnam("games").pw_uid, 4_000_000))
    for number in (1, 2):
        signalled = login.sleep(True)
        assert login.wait_closed("sleep", number)["t"] - signalled < 4
        login.sleep(False)
        login.wait_held("sleep", number + 1)
    for name in ("first", "second"):
        assert board.wait_termination(name)["reason"] == "unfreezable"
    board.wait_log("first: could not be frozen in time: holds logind's lock on sleep, “stray”: because; "
                   "no process was found that has it, and its user took it")


def test_what_was_let_go_leaves_its_place_in_the_search_to_others(board):
    """Sixteen of a user's are looked for at a time."""
    login, fifo, own = held_outside(board)
    os.close(own)
    user = pwd.getpwnam("games").pw_uid
    rows = [("stray", "because", user, 4_000_000 + one) for one in range(17)]
    login.hold_others(*rows)
    login.sleep(True)
    board.wait_log("first: answers for a lock")
    login.hold_others(rows[-1])
    holds_for(0.5, lambda: not board.is_frozen("first"), "it is waited for")
    login.hold_others()
    wait_until(lambda: board.is_frozen("first"), board.log)
    login.sleep(False)


def test_logind_is_asked_no_more_after_a_sleep(board):
    board.app("app")
    login = board.awake("app")
    for count in (1, 2):
        login.sleep(True)
        login.wait_closed("sleep", count)
        asked = len(login.events("listed"))
        holds_for(0.5, lambda: len(login.events("listed")) == asked, "what has slept asks nothing")
        login.sleep(False)
        board.wait_active("app")
        login.wait_held("sleep", count + 1)
        holds_for(0.5, lambda: len(login.events("listed")) == asked, "what is awake asks nothing")
