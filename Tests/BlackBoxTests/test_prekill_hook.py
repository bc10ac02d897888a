"""systemd-oomd's word before it kills: the hook that it calls, with this test as systemd-oomd."""

import os
import signal
import subprocess
import sys

import cgroups
from memory import start
from wire import Wire

NOTIFY = "io.systemd.oom.Prekill.Notify"
NOBODY = 65534
OOMD = 64999


def hook_folder(board):
    folder = board.run.parent / "systemd/oomd.prekill.hook"
    folder.mkdir(parents=True)
    return folder


def group_name(board, name):
    """As /proc/PID/cgroup has it."""
    return "/" + str(board.instance(name).relative_to(cgroups.mount_point()))


def test_systemd_oomd_announces_its_kill(board):
    socket = hook_folder(board) / "io.curfew"
    board.app("camera", restart="never")
    board.app("other", restart="never")
    board.start(hears=True)
    board.wait_active("camera", "other")
    with Wire(str(socket)) as wire:
        assert wire.call(NOTIFY, {"cgroup": group_name(board, "camera")}) == {}
    board.wait_log("systemd-oomd is about to end it")
    for name in ("camera", "other"):
        board.signal(name, signal.SIGKILL)
    report = board.wait_termination("camera")
    assert (report["namespace"], report["code"]) == ("jetsam", "0x9")
    assert "systemd-oomd" in report["explanation"]
    assert board.wait_termination("other")["namespace"] == "crash"
    assert board.stop() == 0
    assert not socket.exists()


def test_other_groups_are_answered_at_once(board):
    socket = hook_folder(board) / "io.curfew"
    board.app("camera", restart="never")
    board.start(hears=True)
    board.wait_active("camera")
    apps = "/" + str(board.apps_group.relative_to(cgroups.mount_point()))
    with Wire(str(socket)) as wire:
        for group in ("/", "", "/user.slice/user-0.slice", "/../..", "x" * 4096, apps, f"{apps}/camera.99"):
            assert wire.call(NOTIFY, {"cgroup": group}) == {}, group
        # The interface can be asked for, and nothing else of ours is there.
        told = wire.call("org.varlink.service.GetInterfaceDescription", {"interface": "io.systemd.oom.Prekill"})
        assert "method Notify(cgroup: string) -> ()" in told["description"]
        assert wire.call("org.varlink.service.GetInfo")["interfaces"] == [
            "org.varlink.service", "io.systemd.oom.Prekill"]
    assert "systemd-oomd" not in board.log()
    board.signal("camera", signal.SIGKILL)
    assert board.wait_termination("camera")["namespace"] == "crash"


CALL = """
import sys
sys.path.insert(0, sys.argv[1])
from wire import Closed, Wire
try:
    with Wire(sys.argv[2]) as wire:
        print(wire.call(sys.argv[3], {"cgroup": sys.argv[4]}))
except (Closed, BrokenPipeError):
    print("closed")
"""


def test_only_root_and_systemd_oomd_are_believed(board, memory):
    socket = hook_folder(board) / "io.curfew"
    board.app("camera")
    start(board, memory, PLAYED_OOMD=str(OOMD))
    board.wait_active("camera")
    for folder in (board.run.parent.parent, board.run.parent, socket.parent.parent, socket.parent):
        folder.chmod(0o755)
    source = os.path.dirname(os.path.abspath(__file__))
    command = [sys.executable, "-B", "-c", CALL, source, str(socket), NOTIFY, group_name(board, "camera")]
    for user, answer, is_believed in ((NOBODY, "closed", False), (OOMD, "{}", True), (0, "{}", True)):
        before = board.log().count("systemd-oomd is about to end it")
        said = subprocess.run(command, user=user, capture_output=True, text=True, timeout=20, check=False)
        assert said.stdout.strip() == answer, f"{user}: {said.stderr}"
        assert board.log().count("systemd-oomd is about to end it") == before + is_believed, user


def test_systemd_oomd_comes_later(board):
    board.app("camera")
    board.start(hears=True)
    board.wait_active("camera")
    socket = hook_folder(board) / "io.curfew"
    board.call("Reload")
    with Wire(str(socket)) as wire:
        assert wire.call(NOTIFY, {"cgroup": "/"}) == {}
    inode = socket.stat().st_ino
    board.call("Reload")
    assert socket.stat().st_ino == inode
    assert board.stop() == 0
    # A hook that cannot be made is said once.
    socket.write_text("another program's")
    board.start(hears=True)
    board.wait_active("camera")
    board.call("Reload")
    assert board.log().count("systemd-oomd's kills are not announced") == 1
    assert socket.read_text() == "another program's"
    # And made by a reload, once it can be.
    socket.unlink()
    board.call("Reload")
    with Wire(str(socket)) as wire:
        assert wire.call(NOTIFY, {"cgroup": "/"}) == {}
    assert board.stop() == 0
    assert not socket.exists()


def test_a_client_that_keeps_the_hook_busy_keeps_no_other_out(board):
    socket = hook_folder(board) / "io.curfew"
    board.app("camera")
    board.start(hears=True)
    board.wait_active("camera")
    idle = [Wire(str(socket)) for _ in range(40)]
    with Wire(str(socket)) as wire:
        assert wire.call(NOTIFY, {"cgroup": group_name(board, "camera")}) == {}
    for wire in idle:
        wire.close()
    # It is not ended by a word.
    assert board.describe("camera")["taskState"] == "running" and board.terminations() == []
