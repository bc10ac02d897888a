"""The handshake with logind: announced, walked through, released in time, and undone."""

import cgroups
from waiting import holds_for, wait_until

TO_SLEEP = ["WillResignActive", "DidEnterBackground"]
LAUNCH = ["DidFinishLaunching", "DidBecomeActive"]
BACK = ["WillEnterForeground", "DidBecomeActive"]


def asleep(board, login, number=1):
    """The closing of the lock, once the daemon says that the device is asleep."""
    closing = login.wait_closed("sleep", number)
    board.wait_sleep("asleep")
    return closing


def test_the_whole_handshake(board):
    board.device(sleep={"margin": "400ms"})
    board.app("prompt")
    board.app("slow", "slow:DidEnterBackground:0.3", allowances={"did_enter_background": "1500ms"})
    board.app("hanging", "hang:DidEnterBackground", "grandchild", allowances={"did_enter_background": "600ms"})
    board.app("exempt", suspend=False)
    board.app("behind", start="background")
    board.plain("plain")
    login = board.with_login(delay=3)
    board.start()
    board.wait_active("prompt", "slow", "hanging", "exempt", "plain")
    login.wait_held("sleep")
    login.wait_held("shutdown")
    hanging = [note["pid"] for note in board.notes("hanging") if note["event"] in ("start", "grandchild")]

    signalled = login.sleep(True)
    closing = asleep(board, login)

    # Before logind's own limit, and not before the hanging one had all of its time.
    assert closing["t"] - signalled < 3.0
    assert closing["t"] - signalled >= 0.6
    # When the lock was closed, who is not exempt was frozen or dead, with its grandchildren.
    groups = {name.rpartition(".")[0]: frozen for name, frozen in closing["groups"].items()}
    assert groups == {"prompt": True, "slow": True, "behind": True, "plain": True, "exempt": False}
    assert not [pid for pid in hanging if cgroups.is_alive(pid)]
    assert login.held("shutdown") == 1
    assert len(login.events("closed")) == 1

    for name in ("prompt", "slow", "exempt"):
        assert board.calls(name) == LAUNCH + TO_SLEEP
    assert board.calls("behind") == ["DidFinishLaunching"]
    told = board.wait_call("hanging", "DidEnterBackground")["parameters"]["deadline"]
    assert told == 0.6

    report = board.terminations("hanging")[0]
    assert report["namespace"] == "watchdog"
    assert report["code"] == "0x8badf00d"
    assert report["event"] == "DidEnterBackground"
    assert report["timeAllowance"] == 0.6
    assert report["wallSeconds"] >= 0.6
    assert report["report"]
    assert "scene-update" in report["explanation"]
    assert len(board.terminations()) == 1
    assert board.describe("hanging")["taskState"] == "notRunning"
    assert board.describe("prompt")["taskState"] == "suspended"
    assert board.describe("prompt")["scenePhase"] == "background"
    assert board.describe("exempt")["taskState"] == "running"

    woken = login.sleep(False)
    login.wait_held("sleep", 2)
    assert login.events("inhibit", what="sleep")[1]["t"] > woken
    board.wait_sleep("awake")
    board.wait_active("prompt", "slow", "exempt", "plain")
    for name in ("prompt", "slow", "exempt"):
        assert board.calls(name) == LAUNCH + TO_SLEEP + BACK
    # Who was in background before stays there; who was killed comes back.
    assert board.calls("behind") == ["DidFinishLaunching"]
    board.wait_active("hanging")
    assert board.wait_note("hanging", "start", 2)["t"] > woken
    assert board.notes("hanging", "start")[1]["environment"]["CURFEW_LAUNCH_REASON"] == "restart"


def test_apps_that_answer_at_once_do_not_wait_for_the_limit(board):
    for number in range(5):
        board.app(f"app-{number}")
    login = board.with_login(delay=10)
    board.start()
    board.wait_active(*[f"app-{number}" for number in range(5)])
    login.wait_held("sleep")
    signalled = login.sleep(True)
    assert login.wait_closed("sleep")["t"] - signalled < 5
    assert all(login.events("closed")[0]["groups"].values())


def test_handlers_of_different_apps_run_side_by_side(board):
    names = [f"app-{number}" for number in range(4)]
    for name in names:
        board.app(name, "slow:DidEnterBackground:0.8")
    login = board.with_login(delay=5)
    board.start()
    board.wait_active(*names)
    login.wait_held("sleep")
    login.sleep(True)
    asleep(board, login)
    begun = [board.wait_call(name, "DidEnterBackground")["t"] for name in names]
    notes = [note for name in names for note in board.notes(name, "answered")]
    answered = [note["t"] for note in notes if note["handler"] == "DidEnterBackground"]
    assert max(begun) < min(answered)
    assert not board.terminations()


def test_will_resign_active_gets_half_and_the_rest_is_told(board):
    board.device(sleep={"margin": "500ms"})
    board.app("hanging", "hang:WillResignActive")
    board.app("slow", "slow:WillResignActive:0.5")
    login = board.with_login(delay=2.5)
    board.start()
    board.wait_active("hanging", "slow")
    login.wait_held("sleep")
    signalled = login.sleep(True)
    closing = asleep(board, login)
    assert closing["t"] - signalled < 2.5
    report = board.wait_termination("hanging")
    assert report["event"] == "WillResignActive"
    assert report["timeAllowance"] <= 1.0
    # What is left of two seconds after half of one, and never more than its own five.
    assert 0 < board.wait_call("slow", "DidEnterBackground")["parameters"]["deadline"] <= 1.51
    assert len(board.terminations()) == 1


def test_the_allowance_follows_logind_from_sleep_to_sleep(board):
    board.app("app", allowances={"will_resign_active": "20s", "did_enter_background": "20s"})
    login = board.with_login(delay=4)
    board.start()
    board.wait_active("app")
    for number, (delay, most) in enumerate([(4, 3.5), (12, 11.5), (2, 1.5)], start=1):
        login.wait_held("sleep", number)
        login.set_delay(delay)
        login.sleep(True)
        asleep(board, login, number)
        told = board.wait_call("app", "DidEnterBackground", number)["parameters"]["deadline"]
        assert most - 1.2 < told <= most
        assert board.device_state()["inhibitDelayMax"] == delay
        login.sleep(False)
        board.wait_active("app")


def test_an_allowance_of_less_than_a_second_freezes_without_handlers(board):
    board.app("app")
    board.plain("plain")
    login = board.with_login(delay=0.8)
    board.start()
    board.wait_active("app", "plain")
    login.wait_held("sleep")
    signalled = login.sleep(True)
    closing = asleep(board, login)
    assert closing["t"] - signalled < 0.8
    assert len(closing["groups"]) == 2 and all(closing["groups"].values())
    assert board.calls("app") == LAUNCH
    login.sleep(False)
    board.wait_sleep("awake")
    wait_until(lambda: not board.is_frozen("app"), "the app is thawed")
    board.wait_active("app")
    # It never heard of the sleep, so it hears nothing of its end.
    assert board.calls("app") == LAUNCH
    assert not board.terminations()


def test_doubled_edges_are_one_sleep(board):
    board.app("app", "slow:DidEnterBackground:0.3")
    login = board.with_login()
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    login.sleep(True)
    login.sleep(True)
    asleep(board, login)
    login.sleep(True)
    assert board.device_state()["sleepId"] == 1
    login.sleep(False)
    login.sleep(False)
    login.wait_held("sleep", 2)
    board.wait_active("app")
    holds_for(0.3, lambda: board.device_state()["sleepState"] == "awake", "it stays awake")
    assert board.calls("app") == LAUNCH + TO_SLEEP + BACK
    assert len(login.events("inhibit", what="sleep")) == 2
    assert login.held("sleep") == 1


def test_an_end_without_a_beginning_changes_nothing(board):
    board.app("app")
    login = board.with_login()
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    login.sleep(False)
    # A second sleep shows that the edge was heard and left behind.
    login.sleep(True)
    asleep(board, login)
    assert board.calls("app") == LAUNCH + TO_SLEEP
    assert len(login.events("inhibit", what="sleep")) == 1


def test_a_lost_end_does_not_lose_the_next_sleep(board):
    board.app("app")
    login = board.with_login()
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    login.sleep(True)
    asleep(board, login)
    # The end is never signalled, and the next sleep begins.
    login.sleep(True)
    board.wait_sleep("asleep")
    assert board.is_frozen("app")
    login.sleep(False)
    board.wait_active("app")
    login.wait_held("sleep", 2)


def test_a_sleep_cancelled_half_way_brings_everyone_back(board):
    board.app("slow", "slow:DidEnterBackground:0.7")
    board.app("prompt")
    login = board.with_login()
    board.start()
    board.wait_active("slow", "prompt")
    login.wait_held("sleep")
    login.sleep(True)
    board.wait_call("slow", "DidEnterBackground")
    login.sleep(False)
    board.wait_sleep("awake")
    board.wait_active("slow", "prompt")
    assert board.calls("slow") == LAUNCH + TO_SLEEP + BACK
    assert not board.is_frozen("slow") and not board.is_frozen("prompt")
    assert not board.terminations()
    # The lock is there for the next sleep.
    wait_until(lambda: login.held("sleep") == 1, "the lock is held")
    login.sleep(True)
    wait_until(lambda: login.held("sleep") == 0, "the lock is closed")
    board.wait_sleep("asleep")


def test_a_launch_under_way_is_frozen_and_goes_on_after(board):
    board.app("starting", "slow:DidFinishLaunching:1.2", allowances={"did_finish_launching": "3s"})
    login = board.with_login(delay=1.6)
    board.device(sleep={"margin": "500ms"})
    board.start()
    login.wait_held("sleep")
    begun = board.wait_call("starting", "DidFinishLaunching")["t"]
    signalled = login.sleep(True)
    closing = asleep(board, login)
    assert closing["t"] - signalled < 1.6
    if closing["t"] - begun < 1.2:
        assert closing["groups"] == {"starting.1": True}
    # Longer than its allowance: its clock stands still.
    holds_for(2.2, lambda: not board.terminations(), "no app is killed in its sleep")
    login.sleep(False)
    board.wait_active("starting")
    assert board.describe("starting")["launches"] == 1
    assert not board.terminations()


def test_a_frozen_app_is_not_missed_by_its_watchdog(board):
    board.plain("pinging", "ready", "ping", readiness="notify", liveness="700ms")
    login = board.with_login()
    board.start()
    board.wait_active("pinging")
    login.wait_held("sleep")
    login.sleep(True)
    asleep(board, login)
    holds_for(1.5, lambda: board.describe("pinging")["taskState"] == "suspended", "it stays frozen")
    login.sleep(False)
    board.wait_active("pinging")
    pings = len(board.notes("pinging", "notified"))
    wait_until(lambda: len(board.notes("pinging", "notified")) > pings + 3, "it pings again")
    assert not board.terminations()


def test_an_app_that_was_stopped_overruns_and_is_killed(board):
    board.app("stopped", "stop:DidEnterBackground", allowances={"did_enter_background": "500ms"})
    board.app("prompt")
    login = board.with_login(delay=3)
    board.start()
    board.wait_active("stopped", "prompt")
    login.wait_held("sleep")
    signalled = login.sleep(True)
    closing = asleep(board, login)
    assert 0.5 <= closing["t"] - signalled < 3
    assert board.wait_termination("stopped")["code"] == "0x8badf00d"
    assert list(closing["groups"].values()) == [True]


def test_clients_freeze_before_their_servers(board):
    board.app("storage")
    board.app("camera", "slow:DidEnterBackground:0.6", after=["storage"])
    login = board.with_login()
    board.start()
    board.wait_active("storage", "camera")
    login.wait_held("sleep")
    login.sleep(True)
    board.wait_call("camera", "DidEnterBackground")
    wait_until(lambda: board.describe("storage")["scenePhase"] == "background", "storage is ready")
    answered = []
    while not answered:
        frozen = board.is_frozen("storage")
        answered = [n for n in board.notes("camera", "answered") if n["handler"] == "DidEnterBackground"]
        assert answered or not frozen, "storage was frozen while camera may still need it"
    assert all(asleep(board, login)["groups"].values())


def test_the_lock_is_not_inherited_by_apps(board):
    board.app("app")
    login = board.with_login()
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    # Started while both locks and the bus are open.
    board.call("Terminate", app="app", force=None)
    board.call("Launch", app="app", background=None)
    last = board.notes("app", "start")[-1]
    assert set(last["descriptors"]) - {"0", "1", "2", "3"} <= {"4", "5"}, last["descriptors"]
    assert not [name for name in last["descriptors"].values() if "bus" in name or "cgroup" in name]
    login.sleep(True)
    asleep(board, login)
