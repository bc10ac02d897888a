"""A board that runs out of something, or never had it."""

import json
import os
import resource
import socket
import subprocess

import board as boards
import cgroups
import family
import pytest
from board import CURFEW
from waiting import wait_until
from wire import Closed


def fill(folder):
    """Leaves no byte."""
    with open(f"{folder}/filler", "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass


def lacks_room(board):
    """What was said of a full disk, but that no events are recorded on it."""
    return [line for line in board.log().splitlines()
            if "No space left" in line and "recording of events" not in line]


def fill_inodes(folder):
    """Leaves no inode."""
    try:
        for number in range(100_000):
            os.close(os.open(f"{folder}/filler-{number}", os.O_CREAT | os.O_WRONLY))
    except OSError:
        pass


def sleeps_and_wakes(board):
    board.call("PrepareForSleep", start=True, kind=None)
    board.call("PrepareForSleep", start=False, kind=None)


# Descriptors.

def is_answered(board):
    try:
        return board.call("DescribeDevice", timeout=1)
    except (OSError, Closed):
        return None


def test_no_descriptors_for_more_apps(board):
    board.app("aaa-first")
    for number in range(30):
        board.app(f"app-{number:02}", restart="never")
    board.start(wait=False, limits={resource.RLIMIT_NOFILE: (64, 64)})
    wait_until(lambda: "Too many open files" in board.log(), lambda: f"it says what is wrong:\n{board.log()}")
    # Who runs, runs on.
    running = board.instances()
    assert "aaa-first" in running and len(running) < 31
    assert cgroups.is_alive(board.wait_note("aaa-first", "start")["pid"])
    # Where apps leave there is room again.
    launched = [name for name in board.instances() if name != "aaa-first"]
    assert launched
    for name in launched:
        os.kill(board.wait_note(name, "running")["pid"], 9)
    wait_until(lambda: is_answered(board), "the daemon answers")
    for name in launched:
        board.wait_app(name, taskState="notRunning")
    failed = [report for report in board.terminations() if report["namespace"] == "launchFailure"]
    assert failed and all("Too many open files" in report["explanation"] for report in failed)
    down = failed[0]["app"]
    board.call("Launch", app=down, background=None)
    board.wait_active(down)
    assert len(board.notes("aaa-first", "start")) == 1


def test_clients_take_all_descriptors(board):
    board.app("app", restart_delay="1ms")
    board.start(limits={resource.RLIMIT_NOFILE: (40, 40)})
    board.wait_active("app")
    clients = []
    for _ in range(60):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client.settimeout(0.5)
        try:
            client.connect(board.control_socket)
        except OSError:
            pass
        clients.append(client)
    assert is_answered(board) is None
    for client in clients:
        client.close()
    wait_until(lambda: is_answered(board), "it serves again")
    sleeps_and_wakes(board)
    board.wait_active("app")
    assert board.describe("app")["launches"] == 1


# Disks.

@pytest.mark.parametrize("way", ["full", "read-only"])
def test_a_state_that_cannot_be_written(board, way):
    folder = f"{board.root}/var/lib"
    board.tmpfs(folder, "16k")
    board.state.mkdir()
    board.app("app", restart_delay="1ms")
    board.app("other")
    board.start()
    board.wait_active("app", "other")
    if way == "full":
        fill(folder)
    else:
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    for number in (1, 2):
        board.signal("app", 9)
        board.wait_app("app", launches=number + 1, scenePhase="active")
    # Why they ended is known all the same, as long as the daemon lives.
    reports = board.terminations("app")
    assert len(reports) == 2
    assert len({report["report"] for report in reports}) == 2
    said = "No space left on device" if way == "full" else "Read-only file system"
    assert said in board.log()
    assert board.describe("other")["launches"] == 1


def test_room_for_reports_is_set_aside(board):
    folder = f"{board.root}/var/lib"
    board.tmpfs(folder, "1m")
    board.state.mkdir()
    board.app("app", restart_delay="1ms")
    board.start()
    board.wait_active("app")
    fill(folder)
    for _ in range(30):
        board.call("Terminate", app="app", force=True)
        board.call("Launch", app="app", background=None)
    assert len((board.state / "reports.jsonl").read_text().splitlines()) == 30
    assert not lacks_room(board)


def test_the_mark_of_a_sleep_needs_no_room(board):
    board.tmpfs(f"{board.root}/run", "64k,nr_inodes=60")
    board.app("app")
    login = board.awake("app")
    fill(f"{board.root}/run")
    fill_inodes(f"{board.root}/run")
    for number in (1, 2):
        login.sleep(True)
        board.wait_sleep("asleep")
        assert (board.run / "asleep").exists() and (board.run / "announced").read_text().strip().isdigit()
        login.sleep(False)
        board.wait_active("app")
        wait_until(lambda: not (board.run / "announced").exists(), board.log)
        assert not (board.run / "asleep").exists()
        login.wait_held("sleep", number + 1)
    assert not lacks_room(board)


def test_the_mark_of_a_sleep_is_made_though_its_place_was_taken_away(board):
    board.tmpfs(f"{board.root}/run", "64k,nr_inodes=60")
    board.app("app")
    login = board.awake("app")
    os.unlink(board.run / "asleep.spare")
    for number in (1, 2):
        login.sleep(True)
        board.wait_sleep("asleep")
        assert (board.run / "asleep").exists()
        os.unlink(board.run / "asleep")
        login.sleep(False)
        board.wait_active("app")
        wait_until(lambda: not (board.run / "announced").exists(), board.log)
        login.wait_held("sleep", number + 1)
        # There is room again for the next one.
        fill(f"{board.root}/run")
        fill_inodes(f"{board.root}/run")


def test_room_is_set_aside_for_the_next_file_of_reports_too(board):
    folder = f"{board.root}/var/lib"
    board.tmpfs(folder, "2m")
    board.state.mkdir()
    line = '{"app":"old","x":"' + "y" * 900 + '"}\n'
    (board.state / "reports.jsonl").write_text(line * ((256 << 10) // len(line) + 1))
    board.app("app")
    board.start()
    board.wait_active("app")
    for number in range(31):
        board.call("Terminate", app="app", force=True)
        board.call("Launch", app="app", background=None)
        if number == 0:
            wait_until((board.state / "reports.jsonl.1").exists, board.log)
            fill(folder)
    assert not lacks_room(board)


def test_what_a_full_disk_did_not_take_is_written_once_it_has_room(board):
    folder = f"{board.root}/var/lib"
    board.tmpfs(folder, "16k")
    board.state.mkdir()
    reports = board.state / "reports.jsonl"
    # What is left of its page takes a part of the next line.
    first = '{"report": "1", "app": "app", "time": "2026-01-01T00:00:00.000Z", "x": "'
    first += "x" * (4000 - len(first)) + '"}\n'
    reports.write_text(first)
    board.app("app", restart_delay="1ms")
    board.start()
    board.wait_active("app")
    fill(folder)
    for number in (1, 2):
        board.signal("app", 9)
        board.wait_app("app", launches=number + 1, scenePhase="active")
    assert reports.read_text() == first
    assert [report["report"] for report in board.terminations("app")] == ["1", "2", "3"]
    os.unlink(f"{folder}/filler")
    board.signal("app", 9)
    board.wait_app("app", launches=4, scenePhase="active")
    # In order, and no half line among them.
    assert [json.loads(line)["report"] for line in reports.read_text().splitlines()] == ["1", "2", "3", "4"]
    last = subprocess.run(
        [CURFEW, "--root", board.root, "report", "--last", "--json"], capture_output=True, text=True, timeout=30,
        check=True)
    assert json.loads(last.stdout)["report"] == "4"


# Control groups.

def test_without_a_control_group_it_goes_on_without_freezing(board):
    board.app("app", "grandchild", restart_delay="1ms")
    board.app("hanging", "hang:DidEnterBackground", restart="never", allowances={"did_enter_background": "500ms"})
    board.plain("notifies", "ready", "ping", readiness="notify", liveness="700ms")
    board.start(cgroup="/proc/nowhere")
    board.wait_active("app", "hanging", "notifies")
    problem = board.device_state()["freezingProblem"]
    assert problem and board.log().count(f"no control groups: {problem}; ") == 1
    answer = board.call("PrepareForSleep", start=True, kind=None)
    assert answer["killed"] == ["hanging"]
    assert board.describe("app")["taskState"] == "running"
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_active("app", "notifies")
    # GetState is answered as well as can be; neither side crashes.
    board.signal("app", 9)
    board.wait_app("app", launches=2, scenePhase="active")
    main = board.describe("app")["mainPID"]
    board.call("Terminate", app="app", force=True)
    assert not cgroups.is_alive(main)


def test_a_group_that_cannot_be_made(board):
    controllers = (board.group.parent / "cgroup.controllers").read_text().split()
    names = [f"app-{number}" for number in range(3)]
    for name in names:
        board.plain(name, limits={"memory_max": "192M", "memory_high": "128M", "processes": 64})
    board.start()
    # The apps run, whether their limits can be had or not.
    board.wait_active(*names)
    assert board.log().count("limits need") == (0 if {"memory", "pids"} <= set(controllers) else 1)
    limit = board.group / "cgroup.max.descendants"
    limit.write_text("4")
    board.plain("new", restart="never")
    board.call("Reload")
    report = board.wait_termination("new")
    assert report["namespace"] == "launchFailure"
    assert "new." in report["explanation"] and "apps" in report["explanation"]
    board.wait_active(*names)
    limit.write_text("max")
    board.call("Launch", app="new", background=None)
    board.wait_active("new")


# The bus.

def test_a_bus_that_comes_later(board):
    board.app("app")
    login = board.with_login()
    login.kill_bus()
    os.unlink(login.socket)
    board.start()
    board.wait_active("app")
    board.wait_log("no logind")
    assert board.device_state()["inhibitDelayMax"] is None
    sleeps_and_wakes(board)
    login.start_bus()
    sleeps_and_wakes(board)
    assert board.log().count("no logind") == 1
    login.start_manager()
    login.wait_held("sleep")
    login.wait_held("shutdown")
    assert board.log().count("no logind") == 1
    login.sleep(True)
    login.wait_closed("sleep")
    board.wait_sleep("asleep")


# The command line.

def test_the_command_line():
    for arguments, status, said in [
            (["--version"], 0, "curfewd "), (["--help"], 0, "--root"), (["--nonsense"], 2, "--nonsense"),
            (["--root"], 2, "--root"), (["argument"], 2, "argument"),
            (["--root", "/proc/nowhere"], 1, "/proc/nowhere")]:
        ended = subprocess.run(
            [boards.CURFEWD, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20,
            check=False)
        assert ended.returncode == status, arguments
        assert said in (ended.stdout if status == 0 else ended.stderr), arguments
        assert status != 1 or len(ended.stderr.strip().splitlines()) == 1, arguments


def test_closed_standard_descriptors(board):
    """Started with none of them, it must not hand its own sockets to apps as their stdout."""
    board.app("app")
    command = [boards.CURFEWD, "--root", board.root, "--cgroup", board.cgroup]
    board.daemon = subprocess.Popen(
        ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command],
        env={"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={board.root}/no-bus", "SWIFT_BACKTRACE": "enable=no"})
    wait_until(board.answers, "the daemon answers")
    board.wait_active("app")
    start = board.notes("app", "start")[-1]
    daemons = family.descriptors(board.loop())
    for number in ("0", "1", "2"):
        name = start["descriptors"][number]
        assert name == "/dev/null" or name.startswith("socket:") and name not in daemons, start["descriptors"]
    assert board.device_state()["sleepState"] == "awake"
