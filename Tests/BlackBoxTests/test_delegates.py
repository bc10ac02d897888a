"""Apps whose delegates do not keep to the rules. Each has a neighbour that must not notice."""

import signal

import pytest
from waiting import holds_for, wait_until

TO_SLEEP = ["WillResignActive", "DidEnterBackground"]


@pytest.fixture
def neighbour(board):
    board.app("neighbour")
    yield board
    app = board.describe("neighbour")
    assert (app["launches"], app["taskState"]) == (1, "running")


def sleep_and_wake(board):
    killed = board.call("PrepareForSleep", start=True, kind=None)["killed"]
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_active("neighbour")
    return killed


def test_an_answer_of_no_use_is_no_answer(neighbour):
    """The deadline runs, and ends the app."""
    board = neighbour
    useless = {
        "garbage": "garbage:DidEnterBackground", "huge": "huge:DidEnterBackground", "half": "half:DidEnterBackground",
        "close": "close:DidEnterBackground", "late": "slow:DidEnterBackground:1.2",
        "stopped": "stop:DidEnterBackground",
    }
    for name, behaviour in useless.items():
        board.app(name, behaviour, "grandchild", restart="never", allowances={"did_enter_background": "700ms"})
    board.app("bytewise", "dribble:any")
    board.start()
    board.wait_active(*useless, "bytewise", "neighbour")
    assert sorted(sleep_and_wake(board)) == sorted(useless)
    board.wait_active("bytewise")
    assert board.calls("neighbour")[2:4] == TO_SLEEP
    for name in useless:
        [report] = board.terminations(name)
        assert (report["code"], report["event"]) == ("0x8badf00d", "DidEnterBackground"), name
        assert report["wallSeconds"] >= 0.7, name
        answered = [note["handler"] for note in board.notes(name, "answered")]
        assert ("DidEnterBackground" in answered) == (name in ("garbage", "huge", "half")), name
        # What is no message is said; what ends or stays away is not.
        said = board.log().count(f"{name}: its delegate connection was closed")
        assert said == (name in ("garbage", "huge")), name


def test_an_answer_to_no_call_ends_the_connection(neighbour):
    """No call has a reply any more: the next deadline ends the app."""
    board = neighbour
    limits = {"did_finish_launching": "800ms", "did_become_active": "800ms", "will_resign_active": "400ms"}
    board.app("twice", "twice:DidBecomeActive", restart="never", allowances=limits)
    board.app("unasked", "unasked", restart="never", allowances=limits)
    board.start()
    for name in ("twice", "unasked"):
        board.wait_log(f"warning: {name}: its delegate connection was closed: a reply to no call")
    board.wait_active("neighbour", "twice")
    assert "twice" in sleep_and_wake(board)
    for name in ("twice", "unasked"):
        assert board.wait_termination(name)["code"] == "0x8badf00d", name
        assert board.describe(name)["launches"] == 1, name


def test_it_stops_itself_while_nothing_is_asked(neighbour):
    board = neighbour
    board.app("app", "usr1:stop", restart_delay="1ms", allowances={"will_resign_active": "500ms"})
    board.start()
    board.wait_active("app", "neighbour")
    board.signal("app", 10)
    board.wait_note("app", "signal")
    holds_for(0.2, lambda: not board.terminations(), "it was not asked for anything")
    assert sleep_and_wake(board) == ["app"]
    board.wait_active("app")
    assert board.wait_termination("app")["event"] == "WillResignActive"


def test_an_error_is_an_answer(neighbour):
    """That it has no such handler goes without saying."""
    board = neighbour
    errors = {
        "lacks": "org.varlink.service.MethodNotImplemented",
        "knows-none": "org.varlink.service.MethodNotFound",
        "fails": "com.example.Oops",
    }
    for name, error in errors.items():
        board.app(name, f"error:any:{error}")
    board.start()
    board.wait_active(*errors, "neighbour")
    assert sleep_and_wake(board) == []
    board.wait_active(*errors)
    for name, error in errors.items():
        assert (error in board.log()) == (name == "fails"), error


def test_it_ends_inside_a_handler(neighbour):
    board = neighbour
    board.app("app", "crash:WillResignActive", restart="never")
    board.start()
    board.wait_active("neighbour", "app")
    error = board.error("Background", app="app")
    assert error.name == "io.curfew.Control.AppEnded"
    [report] = board.terminations("app")
    assert (report["namespace"], int(report["code"], 16), report["event"]) == ("crash", 6, "WillResignActive")
    assert error.parameters["termination"] == report


def test_it_fills_its_stdout(neighbour):
    board = neighbour
    board.app("app", "spam:4194304")
    board.start()
    board.wait_active("neighbour")
    board.wait_note("app", "spammed")
    board.wait_active("app")
    assert sleep_and_wake(board) == []


def test_a_delegate_it_has_replaced_outlives_it(neighbour):
    """A process that holds the other end answers when the app is long gone."""
    board = neighbour
    board.app("app", "lend", "hang:WillResignActive", restart="never")
    # What is freed is overwritten: a use of it does not go unnoticed.
    board.start(environment={"MALLOC_PERTURB_": "165"})
    board.wait_active("app", "neighbour")
    first, second = board.borrow("app"), board.borrow("app")
    with board.wire() as control:
        control.send("io.curfew.Control.Background", {"app": "app"})
        board.wait_call("app", "WillResignActive")
        for wire in (first, second):
            wire.call("io.curfew.Application.AttachDelegate", {}, upgrade=True)
            assert wire.receive()["method"] == "io.curfew.Delegate.WillResignActive"
        assert first.is_closed()
        board.call("Terminate", app="app", force=True)
    for wire in (first, second):
        with pytest.raises(BrokenPipeError):
            wire.send_raw(b'{"parameters":{}}\0')


def test_one_that_is_attached_in_an_end_hears_the_time_that_is_left_with_what_the_app_asked_for(neighbour):
    board = neighbour
    board.app("app", "lend", "hang:WillTerminate", "usr1:notify=EXTEND_TIMEOUT_USEC=60000000", restart="never")
    board.start()
    board.wait_active("app", "neighbour")

    def attach():
        wire = board.borrow("app")
        wires.append(wire)
        wire.call("io.curfew.Application.AttachDelegate", {}, upgrade=True)
        return wire.receive()["parameters"]["deadline"]

    wires = []
    with board.wire() as control:
        control.send("io.curfew.Control.Terminate", {"app": "app"})
        board.wait_call("app", "WillTerminate")
        assert 0 < attach() <= 1
        board.signal("app", signal.SIGUSR1)
        wait_until(lambda: attach() > 1, "it has more time")
        board.call("Terminate", app="app", force=True)


def test_the_one_it_was_started_with_is_closed_when_another_is_attached(neighbour):
    board = neighbour
    board.app("app", "lend")
    board.start()
    board.wait_active("app", "neighbour")
    wire = board.borrow("app")
    wire.call("io.curfew.Application.AttachDelegate", {}, upgrade=True)
    board.wait_note("app", "delegate-closed")


def test_an_answer_to_no_call_over_one_that_was_attached_is_said_too(neighbour):
    board = neighbour
    board.app("app", "lend", restart="never")
    board.start()
    board.wait_active("app")
    wire = board.borrow("app")
    wire.call("io.curfew.Application.AttachDelegate", {}, upgrade=True)
    wire.send_raw(b'{"parameters":{}}\0')
    board.wait_log("warning: app: its delegate connection was closed: a reply to no call")
