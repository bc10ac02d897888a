"""The client libraries under the real daemon: the same app in Swift, Python and C goes the whole way."""

import os
import subprocess

import pytest
from board import PROGRAMS, REPOSITORY
from waiting import holds_for, wait_until

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
    walk = Walk(board, walker, background={"task_budget": "3s"})
    login = board.with_login()
    board.start()
    walk.wait(*LAUNCH)
    login.wait_held("sleep")

    # Background with a task: it runs on, is told in time, ends it, and is suspended.
    board.call("Background", app="walk")
    told = LAUNCH + BACK + ["began upload 3"]
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
    told += BACK + ["began upload 3"]
    walk.wait(*told)
    login.sleep(False)
    told += ["WillEnterForeground", "ended upload", "DidBecomeActive"]
    walk.wait(*told)
    board.call("Terminate", app="walk", force=None)
    walk.wait(*told, "WillTerminate user")
    assert board.terminations("walk")[0]["namespace"] == "user"
    assert "handler" not in board.log(), board.log()


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
        [os.environ.get("CURFEW", str(REPOSITORY / ".build/debug/curfew")), "--root", board.root, "report", "--last"],
        capture_output=True, text=True, check=True).stdout
    for word in ("0x2182bad2", "1 s", "task-budget"):
        assert word in told, told


def test_keep_awake_from_each_language(board, walker):
    walk = Walk(board, walker, "keep-awake", background={"task_policy": "keep-awake"})
    login = board.with_login()
    board.start()
    walk.wait(*LAUNCH)
    board.call("Background", app="walk")
    login.wait_held("idle:sleep")
    walk.wait(*LAUNCH, *BACK, "began upload 600")
    board.call("Activate", app="walk")
    login.wait_closed("idle:sleep")


def test_a_policy_that_does_not_allow_it_is_told(board, walker):
    walk = Walk(board, walker, "keep-awake")
    board.start()
    walk.wait(*LAUNCH)
    board.call("Background", app="walk")
    wait_until(lambda: len(walk.lines()) == 5, lambda: f"it was denied: {walk.lines()}")
    assert walk.lines()[4].startswith("denied ")
    assert "task-policy" in walk.lines()[4]
    board.wait_app("walk", taskState="suspended")


def test_an_app_behind_a_wrapper_attaches_by_itself(board, walker):
    walk = Walk(board, walker, command=["/bin/sh", "-c", 'exec 3<&-; exec "$@"', "sh"])
    board.start()
    walk.wait(*LAUNCH)
    board.call("Background", app="walk")
    walk.wait(*LAUNCH, *BACK, "began upload 600")


def test_power_and_heat_reach_each_language(board, walker):
    walk = Walk(board, walker)
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


def test_outside_of_curfew_it_says_so_once(walker, tmp_path):
    words, environment = walker
    variables = {key: value for key, value in os.environ.items() if not key.startswith("CURFEW")}
    process = subprocess.Popen(
        [*words, str(tmp_path / "trace.txt")], env={**variables, **environment}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        assert "curfew" in line.lower()
        holds_for(0.2, lambda: process.poll() is None, "it goes on all the same")
    finally:
        process.terminate()
        rest = process.communicate(timeout=20)[1]
    assert rest.lower().count("curfew try") <= 1
