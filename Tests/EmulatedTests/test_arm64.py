"""One walk through everything that touches the kernel, the message bus and the files in another way than a test of a
module does: each would show a wrong layout, alignment or system call of the architecture."""

import json
import struct
from pathlib import Path

import board as boards

BUILT = Path(boards.REPOSITORY) / ".build/device-arm64"
AARCH64 = 183


def test_they_are_arm64_programs():
    for name in ("curfewd", "curfew"):
        head = (BUILT / name).read_bytes()[:20]
        assert head[:5] == b"\x7fELF\x02"
        assert struct.unpack_from("<H", head, 18)[0] == AARCH64


def test_versions(tool):
    assert tool("--version", program=boards.CURFEWD).split()[-1] == tool("--version").split()[-1]


def test_check(board, tool):
    board.app("right", description="ä, ß and 雪")
    tool("--root", board.root, "--check", program=boards.CURFEWD)
    tool("--root", board.root, "check")
    board.app_file("wrong", 'exec = ["/bin/true"]\ndelgate = "none"\n')
    said = tool("--root", board.root, "check", status=1)
    assert "wrong.toml:2" in said and "delegate" in said


def test_sleep_and_wake(board, tool):
    board.app("prompt", description="ä, ß and 雪")
    board.app("hanging", "hang:DidEnterBackground", allowances={"did_enter_background": "600ms"}, restart="never")
    board.plain("plain")
    login = board.with_login(delay=5)
    board.start()
    board.wait_active("prompt", "hanging", "plain")
    login.wait_held("sleep")
    status = json.loads(tool("--root", board.root, "status", "--json"))
    described = {app["name"]: app for app in status["apps"]}
    assert described["prompt"]["description"] == "ä, ß and 雪"
    assert {name: app["scenePhase"] for name, app in described.items()} == dict.fromkeys(described, "active")

    signalled = login.sleep(True)
    closing = login.wait_closed("sleep")
    assert closing["t"] - signalled < 5
    board.wait_sleep("asleep")
    groups = {name.rpartition(".")[0]: frozen for name, frozen in closing["groups"].items()}
    assert groups == {"prompt": True, "plain": True}
    report = board.wait_termination("hanging")
    assert report["code"] == "0x8badf00d" and report["event"] == "DidEnterBackground"
    assert "0x8badf00d" in tool("--root", board.root, "report", "--last")

    login.sleep(False)
    login.wait_held("sleep", 2)
    board.wait_active("prompt", "plain")
    assert board.calls("prompt") == [
        "DidFinishLaunching", "DidBecomeActive", "WillResignActive", "DidEnterBackground", "WillEnterForeground",
        "DidBecomeActive"]


def test_restart_and_tasks(board, tool):
    board.app("worker", "task:upload", restart_delay="10ms")
    board.start()
    board.wait_active("worker")
    tool("--root", board.root, "background", "worker")
    board.wait_app("worker", scenePhase="background")
    board.signal("worker", 9)
    board.wait_termination("worker")
    board.wait_active("worker")
    tool("--root", board.root, "terminate", "worker")
    board.wait_app("worker", taskState="notRunning")
