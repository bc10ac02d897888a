"""Apps whose delegates do not keep to the rules. Each has a neighbour that must not notice."""

import pytest
from waiting import holds_for

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


def test_it_answers_twice(neighbour):
    board = neighbour
    board.app("app", "twice:any", restart="never")
    board.start()
    board.wait_active("neighbour")
    board.wait_note("app", "call")
    # A reply that was not asked for breaks the protocol; what counts is that the daemon says so, and stands.
    sleep_and_wake(board)
    assert board.calls("app").count("DidFinishLaunching") == 1
    assert board.calls("neighbour")[2:4] == TO_SLEEP


def test_it_answers_before_it_is_asked(neighbour):
    board = neighbour
    board.app("app", "unasked", restart="never", allowances={"did_finish_launching": "800ms"})
    board.start()
    board.wait_active("neighbour")
    board.wait_note("app", "running")
    sleep_and_wake(board)


@pytest.mark.parametrize("answer", ["garbage", "huge", "half", "close"])
def test_its_answer_is_of_no_use(neighbour, answer):
    """It counts as no answer: the deadline runs, and ends the app."""
    board = neighbour
    board.app("app", f"{answer}:DidEnterBackground", restart="never", allowances={"did_enter_background": "700ms"})
    board.start()
    board.wait_active("app", "neighbour")
    assert sleep_and_wake(board) == ["app"]
    report = board.wait_termination("app")
    assert report["code"] == "0x8badf00d"
    assert report["event"] == "DidEnterBackground"
    assert report["wallSeconds"] >= 0.7
    if answer in ("garbage", "huge"):
        assert board.log().count("app: its delegate connection was closed") == 1


def test_its_answer_comes_late(neighbour):
    board = neighbour
    board.app("app", "slow:DidEnterBackground:0.9", "grandchild", restart="never",
              allowances={"did_enter_background": "500ms"})
    board.start()
    board.wait_active("app", "neighbour")
    assert sleep_and_wake(board) == ["app"]
    assert board.wait_termination("app")["wallSeconds"] >= 0.5
    assert not [n for n in board.notes("app", "answered") if n["handler"] == "DidEnterBackground"]


def test_its_answer_comes_just_in_time_or_just_not(neighbour):
    """A race that either may win, and that may break neither."""
    board = neighbour
    for number in range(6):
        board.app(f"app-{number}", f"slow:DidEnterBackground:{0.49 + number * 0.004}",
                  allowances={"did_enter_background": "500ms"}, restart="never")
    board.start()
    board.wait_active(*[f"app-{number}" for number in range(6)], "neighbour")
    killed = sleep_and_wake(board)
    assert sorted(killed) == sorted(report["app"] for report in board.terminations())
    for report in board.terminations():
        assert report["code"] == "0x8badf00d"


def test_its_answer_comes_byte_by_byte(neighbour):
    board = neighbour
    board.app("app", "dribble:any")
    board.start()
    board.wait_active("app", "neighbour")
    assert sleep_and_wake(board) == []
    board.wait_active("app")


@pytest.mark.parametrize("name, is_said", [
    ("org.varlink.service.MethodNotImplemented", False),
    ("org.varlink.service.MethodNotFound", False),
    ("com.example.Oops", True),
])
def test_it_answers_with_an_error(neighbour, name, is_said):
    board = neighbour
    board.app("app", f"error:any:{name}")
    board.start()
    board.wait_active("app", "neighbour")
    assert sleep_and_wake(board) == []
    board.wait_active("app")
    assert (name in board.log()) == is_said


@pytest.mark.parametrize("handler", ["DidFinishLaunching", "DidBecomeActive", "WillResignActive", "WillTerminate"])
@pytest.mark.parametrize("way", ["exit", "crash"])
def test_it_ends_inside_a_handler(neighbour, handler, way):
    board = neighbour
    behaviour = f"exit:{handler}:3" if way == "exit" else f"crash:{handler}"
    board.app("app", behaviour, restart="never")
    board.start()
    board.wait_active("neighbour")
    if handler in ("WillResignActive", "WillTerminate"):
        board.wait_active("app")
    if handler == "WillResignActive":
        error = board.error("Background", app="app")
        assert error.name == "io.curfew.Control.AppEnded"
    if handler == "WillTerminate":
        board.call("Terminate", app="app", force=None)
    report = board.wait_termination("app")
    if handler == "WillTerminate":
        assert report["namespace"] == "user"
    else:
        assert report["namespace"] == way
        assert int(report["code"], 16) == (3 if way == "exit" else 6)
        assert report["event"] == handler
    assert len(board.terminations("app")) == 1


def test_it_fills_its_stdout(neighbour):
    board = neighbour
    board.app("app", "spam:4194304")
    board.start()
    board.wait_active("neighbour")
    board.wait_note("app", "spammed")
    board.wait_active("app")
    assert sleep_and_wake(board) == []


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
