"""curfew try: an app on a private board, where time is skipped."""

import fcntl
import glob
import json
import os
import shlex
import signal
import stat
import subprocess

import cgroups
import pytest
from board import CURFEW, CURFEWD, PROGRAMS, PYTHON, toml_file
from terminal import Terminal
from waiting import PATIENCE, wait_until

APP = [*PYTHON, str(PROGRAMS / "background_app.py")]
ENVIRONMENT = {
    "PATH": os.environ["PATH"], "TERM": "dumb", "SWIFT_BACKTRACE": "enable=no", "CURFEWD": CURFEWD, "TRIAL": "yes",
    "HOME": "/root",
}


def leftovers():
    folders = glob.glob("/tmp/curfew-try-*")
    groups = glob.glob(f"{cgroups.mount_point()}/**/curfew-try-*", recursive=True)
    return set(folders + groups + processes())


def processes():
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                line = file.read()
        except OSError:
            continue
        if b"curfew-try-" in line or b"background_app.py" in line and b"curfew" not in line:
            found.append(f"{path} {line}")
    return found


@pytest.fixture(autouse=True)
def nothing_is_left():
    """A trial removes all it made, whatever became of it. Looked for all over the machine: one at a time, where another
    build is tested beside this one."""
    with open("/tmp/curfew-tests-of-try.lock", "w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        before = leftovers()
        yield
        wait_until(lambda: not leftovers() - before, lambda: f"it is all gone: {leftovers() - before}", 5)


def attempt(script, *arguments, command=(*APP, "end"), options=(), cwd="/"):
    line = [CURFEW, "try", "--script", "-", *options]
    if command:
        line += ["--", *command]
    return subprocess.run(
        line + list(arguments), input=script, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, cwd=cwd,
        check=False)


def verdict(script, **parameters):
    options = ("--json", *parameters.pop("options", ()))
    result = attempt(script, options=options, **parameters)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert "ok" in lines[-1], result
    return result.returncode, lines[-1], lines[:-1]


def test_an_app_that_does_all_in_time_is_ok():
    result = attempt(
        """
        background
        expect task upload
        expect background
        skip 9 minutes          # of the ten it has
        expect tasks
        skip 10 minutes
        wait-for suspended within 10s
        expect no-tasks
        front
        expect active
        sleep
        expect suspended
        wake
        expect active
        memory-warning
        memory-warning critical
        """)
    assert result.returncode == 0, result
    assert result.stdout.endswith("\n\nOK\n") and result.stderr == ""
    for text in ("“in / with yes”", "BackgroundTaskWillExpire returned after", "DidEnterBackground  "):
        assert text in result.stdout


def test_where_nothing_can_be_frozen_it_says_so_and_goes_on():
    script = "while umount -l -t cgroup2 -a; do grep -q ' cgroup2 ' /proc/mounts || break; done; exec \"$@\""
    result = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", CURFEW, "try", "--script", "-", "--", *APP, "end"],
        input="background\nfront\nexpect active\n", env=ENVIRONMENT, capture_output=True, text=True, timeout=60,
        check=False)
    assert result.returncode == 0, result
    assert "Freezing is not available here (no cgroup2 file system is mounted): in background the app" in (
        " ".join(result.stdout.split())), result


def test_the_board_is_played():
    result = attempt("""
        lock
        expect inactive
        unlock
        expect active
        lid closed
        wait-for background
        lid open
        expect active
        charger off
        battery 15
        low-power off
        thermal serious
        charger on
        thermal nominal
        charger off
        battery 4
        skip 6 s
        wait-for ended
        charger on
        wait-for active
    """)
    out = result.stdout
    assert result.returncode == 0 and out.endswith("\n\nOK\n"), out
    for line in [
        "WillResignActive returned", "no app can come to the front: the session is locked", "active -> inactive",
        "apps can come to the front again", "no app can come to the front: the lid is closed", "on battery",
        "battery 15 %", "low power mode", "low power mode is over", "thermal state serious", "external power",
        "thermal state nominal", "the battery is at 4 %", "WillTerminate returned",
    ]:
        assert line in out, f"{line}:\n{out}"


def test_a_task_that_is_never_ended_is_a_kill():
    result = attempt("background\nskip 20min\nwait-for ended\n", command=(*APP, "hold"))
    assert result.returncode == 1 and result.stdout.endswith("\n\n1 kill\n"), result
    for text in ("when the budget of 10 min was spent (backgroundTask 0x2182bad2)", "[background]", "task-budget"):
        assert text in result.stdout


def test_a_handler_that_hangs_is_a_kill_and_the_app_goes_on():
    code, end, _ = verdict("background\nfront\nexpect active\n", command=(*APP, "hang"))
    assert (code, end["summary"], end["failedStep"]) == (1, "1 kill", None)
    handlers = {handler["handler"]: handler for handler in end["handlers"]}
    assert handlers["DidEnterBackground"]["overruns"] == 1
    assert 5 <= handlers["DidEnterBackground"]["longestSeconds"] < 6
    assert handlers["DidFinishLaunching"]["calls"] == 2


def test_an_end_that_hangs_is_a_kill_too():
    code, end, _ = verdict("front\n", command=(*APP, "slow"))
    assert (code, end["summary"]) == (1, "1 kill")
    assert end["kills"][0]["explanation"].startswith("process-exit")


def test_a_crash_is_a_failure():
    code, end, _ = verdict("background\nwait-for ended\n", command=(*APP, "crash"))
    assert (code, end["summary"]) == (1, "1 failed end")
    assert end["failures"][0]["namespace"] == "crash"
    assert end["failures"][0]["output"][0] == "in / with yes"


def test_a_step_that_does_not_hold_ends_the_script():
    result = attempt("front\n\nexpect suspended\nskip 1h\n")
    assert result.returncode == 1
    assert "script:3: expect suspended: not so: the app is active, and holds no task" in result.stdout
    assert "skip" not in result.stdout and result.stdout.endswith("\n\n1 failed step\n")
    result = attempt("wait-for task upload within 200ms")
    assert "script:1: wait-for task upload within 200ms: not so" in result.stdout
    # So does one that is refused.
    code, end, _ = verdict("sleep\nfront\n")
    assert code == 1 and end["failedStep"] == "script:2: front: not done: sleeping"


def test_an_apps_file_is_the_app(tmp_path):
    log = tmp_path / "log"
    file = tmp_path / "uploader.toml"
    file.write_text(toml_file({
        "exec": [*APP, "hold"], "user": "nobody-here" if os.geteuid() else "root", "after": ["storage"],
        "launch": "boot", "delegate": "varlink", "background": {"task_budget": "60s"},
    }))
    code, end, lines = verdict("background\nskip 2min\nwait-for ended\n", command=(), options=("--app", str(file)))
    assert (code, end["app"], end["ok"], end["summary"]) == (1, "uploader", False, "1 kill")
    kill, = end["kills"]
    assert (kill["namespace"], kill["code"], kill["timeAllowance"]) == ("backgroundTask", "0x2182bad2", 60.0)
    task, = end["tasks"]
    assert (task["name"], task["ended"]) == ("upload", "expired")
    assert 59 < task["secondsHeld"] < 62
    assert lines[-1]["time"] > 120
    code, end, _ = verdict("background\nskip 2min\nexpect suspended\n", options=("--app", str(file)))
    assert (code, end["summary"]) == (0, "OK")

    hook = [*PYTHON, "-c", f"import os; open({str(log)!r}, 'a').write(os.environ['CURFEW_EVENT'] + ' ')"]
    file.write_text(toml_file({
        "exec": ["/usr/bin/sleep", "1000"], "delegate": "hooks",
        "hooks": {"did_enter_background": hook, "will_enter_foreground": hook},
    }))
    code, end, _ = verdict("background\nfront\n", command=(), options=("--app", str(file)))
    assert code == 0 and len(log.read_text().split()) == 2
    assert {handler["handler"] for handler in end["handlers"]} >= {"DidEnterBackground", "WillEnterForeground"}


@pytest.mark.skipif(os.geteuid() != 0, reason="sandboxes are root's to make")
@pytest.mark.parametrize("user", ["root", "auto", "daemon"])
def test_an_app_in_a_sandbox_says_what_it_has_to_say(tmp_path, user):
    file = tmp_path / "uploader.toml"
    look = f"echo $(id -u) $(ls -A /tmp); exec {shlex.join([*APP, 'end'])}"
    file.write_text(toml_file({
        "exec": ["/bin/sh", "-c", look], "delegate": "varlink", "sandbox": "default",
        "read_only_paths": [str(PROGRAMS)], "user": user,
    }))
    code, end, lines = verdict("background\nexpect task upload\nfront\n", command=(), options=("--app", str(file)))
    assert (code, end["summary"]) == (0, "OK"), lines
    first, second = [line["says"] for line in lines if "says" in line]
    user_id, *seen = first.split()
    assert (user_id == "0") == (user == "root") and second == "in / with None"
    # Its /tmp is its own, but for what it was shown.
    assert all(f"/tmp/{name}/" in f"{PROGRAMS}/" or name.startswith("curfew-try-") for name in seen), seen


def test_what_the_app_says_is_its_own_to_say():
    before = set(glob.glob("/tmp/curfew-try-*"))
    process = start()
    folder, = set(glob.glob("/tmp/curfew-try-*")) - before
    paths = [path for place, _, _ in os.walk(folder) for path in glob.glob(f"{place}/*")]
    assert len(paths) > 5
    modes = {path: os.lstat(path).st_mode for path in paths}
    # Sockets are for apps, as on a board.
    writable = [path for path, mode in modes.items() if mode & 0o022 and not stat.S_ISSOCK(mode)]
    writable += [path for path, mode in modes.items() if stat.S_ISFIFO(mode)]
    process.send_signal(signal.SIGINT)
    process.wait(PATIENCE)
    assert writable == []


def test_a_program_that_cannot_be_started_is_a_failure(tmp_path):
    file = tmp_path / "uploader.toml"
    file.write_text(toml_file({"exec": ["/usr/bin/not-there"], "restart": "never"}))
    code, end, _ = verdict("expect ended\n", command=(), options=("--app", str(file)))
    assert (code, end["failures"][0]["namespace"]) == (1, "launchFailure"), end


def test_a_program_that_knows_nothing_of_curfew(tmp_path):
    # It may be frozen before its first word; once in front again it has the time for it.
    result = attempt(
        "background\nexpect suspended\nfront\nwait-for ended\n",
        command=("sh", "-c", "pwd; echo \"$TRIAL\" >&2; exec sleep 3"), options=("--delegate", "none"), cwd=tmp_path)
    assert result.returncode == 0, result
    assert f"“{tmp_path}”" in result.stdout and "“yes”" in result.stdout


def start(*options):
    process = subprocess.Popen(
        [CURFEW, "try", "--json", "--script", "-", *options, "--", *APP, "end"], env=ENVIRONMENT,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdin.write("background\nwait-for ended within 10min\n")
    process.stdin.close()
    for line in process.stdout:
        if json.loads(line).get("text", "").startswith("wait-for"):
            return process
    raise AssertionError(process.stderr.read())


def test_interrupted_it_leaves_nothing():
    process = start()
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    assert "everything the trial made has been removed" in process.stderr.read()


def test_a_daemon_that_dies_is_a_failure_and_nothing_is_left():
    before = processes()
    process = start()
    # The keeper, and the loop that is its child.
    daemon, _ = sorted(int(path.split("/")[2]) for path in processes() if "--trial" in path and path not in before)
    os.kill(daemon, signal.SIGKILL)
    assert process.wait(PATIENCE) == 1
    assert "its curfewd ended" in process.stderr.read()


def test_its_reader_is_gone():
    process = start()
    process.stdout.close()
    assert process.wait(PATIENCE) == 130


def on_a_terminal():
    terminal = Terminal([CURFEW, "try", "--", *APP, "end"], ENVIRONMENT)
    cooked = terminal.settings()
    terminal.wait_for("q quit")
    return terminal, cooked


def test_keys_do_what_they_say():
    terminal, cooked = on_a_terminal()
    try:
        assert terminal.settings() != cooked
        for keys, text in [
            ("b", "begins task"), ("t", "holds “upload”"), ("5", "step     skip 5 min"),
            ("1", "step     skip 1 min"), ("5", "BackgroundTaskWillExpire returned"),
            ("f", "WillEnterForeground returned"), ("m", "memory-warning"), ("s", "sleep 1 asleep"),
            ("w", "awake, sleep 1 is over"), ("l", "no app can come to the front: the session is locked"),
            ("l", "apps can come to the front again"), ("h", "thermal state serious"), ("c", "on battery"),
            ("p", "low power mode"),
        ]:
            terminal.press(keys)
            terminal.wait_for(text)
        terminal.press("q")
        assert terminal.wait_end() == 0
        assert b"OK" in terminal.output
        assert terminal.settings() == cooked
    finally:
        terminal.close()


def test_keys_need_a_terminal():
    result = subprocess.run(
        [CURFEW, "try", "--", "true"], env=ENVIRONMENT, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        timeout=PATIENCE, check=False)
    assert result.returncode == 2 and "Keys need a terminal" in result.stderr


def test_the_terminal_is_as_it_was():
    for key, number in (("\x03", 0), ("\x1c", 0), ("", signal.SIGTERM), ("", signal.SIGHUP)):
        terminal, cooked = on_a_terminal()
        try:
            if key:
                terminal.press(key)
            else:
                os.kill(terminal.pid, number)
            assert terminal.wait_end() == 130, (key, number)
            assert terminal.settings() == cooked, (key, number)
        finally:
            terminal.close()
