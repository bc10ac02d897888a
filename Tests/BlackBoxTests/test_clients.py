"""The client libraries under the real daemon: the same app in Swift, Python and C goes the whole way."""

import os
import subprocess

import pytest
from board import CURFEW, PROGRAMS, REPOSITORY
from waiting import wait_until

CLIENTS = REPOSITORY / "Sources" / "Clients"
LAUNCH = ["DidFinishLaunching boot", "DidBecomeActive"]
BACK = ["WillResignActive", "DidEnterBackground"]
FRONT = ["WillEnterForeground", "DidBecomeActive"]


@pytest.fixture(scope="session")
def c_walk(tmp_path_factory):
    program = tmp_path_factory.mktemp("walk") / "walk"
    os.chmod(program.parent, 0o755)
    subprocess.run(
        ["cc", "-std=c11", "-O1", "-g", "-fsanitize=address,undefined", f"-I{CLIENTS / 'c'}", str(PROGRAMS / "walk.c"),
         str(CLIENTS / "c" / "curfew.c"), "-o", str(program)], check=True)
    return [str(program)]


@pytest.fixture(params=["swift", "python", "c"])
def walker(request):
    """The command of the walking app in one language, and its environment."""
    if request.param == "c":
        return request.getfixturevalue("c_walk"), {}
    if request.param == "python":
        return ["/usr/bin/python3", str(PROGRAMS / "walk.py")], {"PYTHONPATH": str(CLIENTS / "python")}
    return [str(REPOSITORY / ".build/debug/walk")], {"SWIFT_BACKTRACE": "enable=no"}


class Walk:
    """The app on a board, and the lines it writes."""

    def __init__(self, board, walker, *arguments, command=None, **keys):
        self.board = board
        self.trace = board.journals / "walk.txt"
        words, environment = walker
        board.app(
            "walk", exec=[*(command or []), *words, str(self.trace), *arguments], **keys)
        board.samples.discard("walk")
        # As a table of its own: toml_file writes tables of one level.
        file = board.apps_folder / "walk.toml"
        lines = "".join(f'{name} = "{value}"\n' for name, value in environment.items())
        file.write_text(file.read_text() + f"\n[environment]\n{lines}")

    def lines(self):
        return self.trace.read_text().splitlines() if self.trace.exists() else []

    def wait(self, *expected):
        wait_until(
            lambda: self.lines() == list(expected),
            lambda: f"it wrote {expected}: {self.lines()}\n{self.board.log()}")


def test_the_whole_way(board, walker):
    board.device(sleep={"task_grace": "200ms"})
    walk = Walk(board, walker, background={"task_budget": "2s"})
    login = board.with_login()
    board.start()
    walk.wait(*LAUNCH)
    login.wait_held("sleep")

    # Background with a task: it runs on, is told in time, ends it, and is suspended.
    board.call("Background", app="walk")
    told = LAUNCH + BACK + ["began upload 2"]
    walk.wait(*told)
    assert not board.is_frozen("walk")
    [task] = board.call("Describe", app="walk")["tasks"]
    assert task["name"] == "upload"
    told += ["BackgroundTaskWillExpire upload", "ended upload"]
    walk.wait(*told)
    board.wait_app("walk", taskState="suspended")
    assert board.call("Describe", app="walk")["tasks"] == []

    # In front again, then asleep with a task held, and awake.
    board.call("Activate", app="walk")
    told += FRONT
    walk.wait(*told)
    login.sleep(True)
    board.wait_sleep("asleep")
    assert board.is_frozen("walk")
    told += BACK + ["began upload 2"]
    walk.wait(*told)
    login.sleep(False)
    told += ["WillEnterForeground", "ended upload", "DidBecomeActive"]
    walk.wait(*told)
    board.call("Terminate", app="walk", force=None)
    walk.wait(*told, "WillTerminate user")
    assert board.terminations("walk")[0]["namespace"] == "user"
    assert "handler" not in board.log(), board.log()


@pytest.mark.parametrize("walker", ["python"], indirect=True)
def test_a_task_that_overruns_is_killed_and_the_report_says_why(board, walker):
    walk = Walk(board, walker, "overrun", background={"task_budget": "1s"})
    board.start()
    walk.wait(*LAUNCH)
    board.call("Background", app="walk")
    end = board.wait_termination("walk")
    assert (end["namespace"], end["code"], end["timeAllowance"]) == ("backgroundTask", "0x2182bad2", 1.0)
    assert end["cpuSeconds"] >= 0
    walk.wait(*LAUNCH, *BACK, "began upload 1", "BackgroundTaskWillExpire upload")
    told = subprocess.run(
        [CURFEW, "--root", board.root, "report", "--last"], capture_output=True, text=True, check=True).stdout
    for word in ("0x2182bad2", "1 s", "task-budget"):
        assert word in told, told


def test_an_app_behind_a_wrapper_attaches_by_itself(board, walker):
    walk = Walk(board, walker, command=["/bin/sh", "-c", 'exec 3<&-; exec "$@"', "sh"])
    board.start()
    walk.wait(*LAUNCH)
    board.call("Background", app="walk")
    walk.wait(*LAUNCH, *BACK, "began upload 600")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_an_app_that_gives_up_roots_rights_is_heard_by_the_socket_of_all(board, walker):
    """Its own is root's alone: to its tasks, and to a delegate that it attaches by itself."""
    walk = Walk(
        board, walker, user="root",
        command=["/bin/sh", "-c", 'exec 3<&-; exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"', "sh"])
    board.start()
    walk.wait(*LAUNCH)
    board.call("Background", app="walk")
    walk.wait(*LAUNCH, *BACK, "began upload 600")
    assert os.stat(f"/proc/{board.describe('walk')['mainPID']}").st_uid == 65534


def test_power_heat_and_a_denial_reach_each_language(board, walker):
    walk = Walk(board, walker, "keep-awake")
    board.device(policy={"debounce": "100ms"})
    board.start("--trial")
    walk.wait(*LAUNCH)
    told = list(LAUNCH)

    def hears(call, *lines):
        call()
        told.extend(lines)
        walk.wait(*told)

    def played(**condition):
        with board.wire() as wire:
            wire.call("io.curfew.Trial.SetCondition", condition)

    def low_power(enabled):
        board.call("SetLowPowerMode", enabled=enabled)

    hears(lambda: low_power(True), "PowerStateDidChange external - low")
    hears(lambda: low_power(None), "PowerStateDidChange external - normal")
    hears(lambda: played(externalPower=False), "PowerStateDidChange battery - normal")
    hears(lambda: played(batteryLevel=0.55), "PowerStateDidChange battery 55 normal")
    hears(lambda: played(externalPower=True), "PowerStateDidChange external 55 normal")
    hears(lambda: played(thermalState="serious"), "ThermalStateDidChange serious")
    hears(lambda: played(thermalState="nominal"), "ThermalStateDidChange nominal")
    # Its task-policy does not let it keep the board awake.
    board.call("Background", app="walk")
    wait_until(lambda: len(walk.lines()) == len(told) + 3, lambda: f"it was denied: {walk.lines()}")
    assert walk.lines()[-3:-1] == BACK
    assert walk.lines()[-1].startswith("denied ") and "task-policy" in walk.lines()[-1]
    board.wait_app("walk", taskState="suspended")
