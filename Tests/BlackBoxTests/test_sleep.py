"""The handshake with logind: announced, walked through, released in time, and undone."""

from pathlib import Path

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
    login = board.awake("prompt", "slow", "hanging", "exempt", "plain", delay=3)
    login.wait_held("shutdown")
    hanging = [note["pid"] for note in board.notes("hanging") if note["event"] in ("start", "grandchild")]

    signalled = login.sleep(True)
    closing = asleep(board, login)

    # Before logind's own limit, and not before the hanging one had all of its time.
    assert 0.6 <= closing["t"] - signalled < 3.0
    # When the lock was closed, who is not exempt was frozen or dead, with its grandchildren.
    groups = {name.rpartition(".")[0]: frozen for name, frozen in closing["groups"].items()}
    assert groups == {"prompt": True, "slow": True, "behind": True, "plain": True, "exempt": False}
    assert not [pid for pid in hanging if cgroups.is_alive(pid)]
    assert login.held("shutdown") == 1
    assert len(login.events("closed")) == 1

    for name in ("prompt", "slow", "exempt"):
        assert board.calls(name) == LAUNCH + TO_SLEEP
    assert board.calls("behind") == ["DidFinishLaunching"]
    assert board.wait_call("hanging", "DidEnterBackground")["parameters"]["deadline"] == 0.6

    [report] = board.terminations()
    assert (report["app"], report["namespace"], report["code"]) == ("hanging", "watchdog", "0x8badf00d")
    assert (report["event"], report["timeAllowance"]) == ("DidEnterBackground", 0.6)
    assert report["wallSeconds"] >= 0.6
    assert report["report"]
    assert "scene-update" in report["explanation"]
    assert board.describe("hanging")["taskState"] == "notRunning"
    prompt = board.describe("prompt")
    assert (prompt["taskState"], prompt["scenePhase"]) == ("suspended", "background")
    assert board.describe("exempt")["taskState"] == "running"

    woken = login.sleep(False)
    login.wait_held("sleep", 2)
    assert login.events("inhibit", what="sleep")[1]["t"] > woken
    board.wait_sleep("awake")
    board.wait_active("prompt", "slow", "exempt", "plain")
    for name in ("prompt", "slow", "exempt"):
        assert board.calls(name) == LAUNCH + TO_SLEEP + BACK
    # Who was in background before stays there; who was killed comes back; who has no delegate is never told.
    assert board.calls("behind") == ["DidFinishLaunching"]
    board.wait_active("hanging")
    start = board.wait_note("hanging", "start", 2)
    assert start["t"] > woken and start["environment"]["CURFEW_LAUNCH_REASON"] == "restart"
    assert [note["event"] for note in board.notes("plain")] == ["start", "running"]
    assert not board.is_frozen("plain")


def test_an_allowance_of_less_than_a_second_freezes_without_handlers(board):
    board.app("app")
    board.plain("plain")
    login = board.awake("app", "plain", delay=3)
    # logind does not announce it: it is read anew for each sleep.
    login.set_delay(0.8)
    signalled = login.sleep(True)
    closing = asleep(board, login)
    assert board.device_state()["inhibitDelayMax"] == 0.8
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


def test_a_sleep_cancelled_half_way_brings_everyone_back(board):
    board.app("slow", "slow:DidEnterBackground:0.7")
    board.app("prompt")
    login = board.awake("slow", "prompt")
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


def test_clients_freeze_before_their_servers(board):
    board.app("storage")
    board.app("camera", "slow:DidEnterBackground:0.6", after=["storage"])
    login = board.awake("storage", "camera")
    login.sleep(True)
    board.wait_call("camera", "DidEnterBackground")
    board.wait_app("storage", scenePhase="background")

    def camera_is_ready():
        frozen = board.is_frozen("storage")
        answered = [note for note in board.notes("camera", "answered") if note["handler"] == "DidEnterBackground"]
        assert answered or not frozen, "storage was frozen while camera may still need it"
        return answered

    wait_until(camera_is_ready, "camera answers")
    assert all(asleep(board, login)["groups"].values())


def test_the_clock_of_a_handler_stands_still_in_a_sleep(board):
    board.device(sleep={"margin": "500ms"})
    board.app("starting", "slow:DidFinishLaunching:1.8", allowances={"did_finish_launching": "2s"})
    login = board.with_login(delay=1.6)
    board.start()
    login.wait_held("sleep")
    board.wait_call("starting", "DidFinishLaunching")
    signalled = login.sleep(True)
    closing = asleep(board, login)
    assert closing["t"] - signalled < 1.6
    assert closing["groups"] == {"starting.1": True}
    # In all longer than its allowance.
    holds_for(1.2, lambda: not board.terminations(), "no app is killed in its sleep")
    login.sleep(False)
    board.wait_active("starting")
    assert board.describe("starting")["launches"] == 1
    assert not board.terminations()


def suspends(board, **values):
    """What the kernel counts of its sleeps."""
    folder = Path(board.root) / "sys/power/suspend_stats"
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in values.items():
        (folder / name).write_text(f"{value}\n")


def test_the_kernel_says_whether_the_board_has_slept(board):
    suspends(board, success=4, fail=1, last_failed_dev="", last_failed_errno=0, last_failed_step="")
    board.app("app")
    login = board.awake("app")
    refused = {"fail": 2, "last_failed_dev": "usb1", "last_failed_errno": -16, "last_failed_step": "suspend"}
    for number, (counted, said) in enumerate([
        (refused, "warning: sleep 1: the board did not sleep; the kernel refused (device usb1, step suspend: Device or "
                  "resource busy)"),
        # Another one, of which the kernel was not asked.
        ({}, "warning: sleep 2: the board did not sleep CURFEW"),
        # On some boards CLOCK_MONOTONIC runs on in s2idle: only the kernel knows of it.
        ({"success": 5}, "info: sleep 3: awake"),
    ], start=1):
        login.wait_held("sleep", number)
        login.sleep(True)
        login.wait_closed("sleep", number)
        suspends(board, **counted)
        login.sleep(False)
        board.wait_active("app")
        board.wait_log(said)
    assert board.log().count("did not sleep") == 2
    assert board.calls("app") == LAUNCH + (TO_SLEEP + BACK) * 3
