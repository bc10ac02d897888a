"""The keeper and its loop: no start is waited for, and a loop that dies is replaced."""

import contextlib
import fcntl
import os
import pwd
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import cgroups
import family
import pytest
from test_hooks_and_signals import write_hook
from waiting import wait_until

DELAY = 5.0


def test_without_control_groups_a_session_ends_with_its_leader(board):
    board.plain("app", "child", restart="never")
    board.start(cgroup="/proc/nowhere")
    board.wait_active("app")
    child = board.wait_note("app", "child")["pid"]
    with family.ends([child]):
        os.kill(board.wait_running("app"), signal.SIGKILL)
    board.wait_app("app", taskState="notRunning")


@contextlib.contextmanager
def lease(path):
    """The kernel lets no exec of this file go on, for 45 s, or until its owner gives way: it does not."""
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError as error:
        os.close(file)
        pytest.skip(f"no leases here: {error}")
    try:
        yield
    finally:
        os.close(file)
        signal.signal(signal.SIGIO, before)


def answers_at_once(board):
    begun = time.monotonic()
    board.device_state()
    assert time.monotonic() - begun < 1


def test_a_lease_on_a_hook_holds_up_no_sleep(board):
    hook = write_hook(board, "hook", f"echo ran >> {board.journals}/ran\n")
    board.app("bad", delegate="hooks", hooks={"did-enter-background": [hook]})
    board.app("good")
    login = board.awake("bad", "good", delay=DELAY)
    with lease(hook):
        begun = time.monotonic()
        login.sleep(True)
        board.wait_call("good", "DidEnterBackground")
        answers_at_once(board)
        login.wait_closed("sleep")
        assert time.monotonic() - begun < DELAY
        # Others can keep a command from its exec, too: the app is none the worse for it, and frozen.
        board.wait_log("its command did not get to run in time")
        wait_until(lambda: board.is_frozen("bad"), board.log)
        login.sleep(False)
        board.wait_active("bad", "good")
        login.wait_held("sleep", 2)
        # The next sleep gives it less time.
        begun = time.monotonic()
        login.sleep(True)
        login.wait_closed("sleep", 2)
        assert time.monotonic() - begun < DELAY * 0.7
        login.sleep(False)
        board.wait_active("bad", "good")
    assert board.terminations("bad") == []
    login.wait_held("sleep", 3)
    login.sleep(True)
    login.wait_closed("sleep", 3)
    # It runs again, alone, and nothing is said of it any more.
    assert (board.journals / "ran").read_text() == "ran\n"
    assert board.describe("bad")["statusText"] is None


@pytest.mark.parametrize("has_groups", [True, False])
def test_a_lease_on_a_program_holds_up_nothing_else(board, has_groups):
    program = write_hook(board, "program", "exec sleep 1000\n")
    board.app_file("bad", f'exec = ["{program}"]\nlaunch = "manual"\n')
    board.app("good")
    board.app("late", launch="manual")
    login = board.with_login(DELAY)
    board.start(cgroup=None if has_groups else "..")
    board.wait_active("good")
    login.wait_held("sleep")
    with lease(program):
        with board.wire() as wire:
            wire.send("io.curfew.Control.Launch", {"app": "bad", "background": None})
            board.wait_app("bad", taskState="running")
            answers_at_once(board)
            board.call("Launch", app="late", background=None)
            board.wait_active("late")
            begun = time.monotonic()
            login.sleep(True)
            login.wait_closed("sleep")
            assert time.monotonic() - begun < DELAY
            login.sleep(False)
            board.wait_active("good")
        assert "bad: launched" not in board.log()
    # Its owner has given way: it runs after all.
    board.wait_active("bad")


def test_a_stop_does_not_wait_for_a_program_that_hangs(board):
    program = write_hook(board, "program", "exec sleep 1000\n")
    board.app_file("bad", f'exec = ["{program}"]\nlaunch = "boot"\n')
    with lease(program):
        board.start()
        answers_at_once(board)
        assert board.stop() == 0
        assert board.instances() == []


def test_a_start_that_its_own_user_stops_can_be_ended(board):
    """Between its change of user and its program any process of that user may send it a signal."""
    program = write_hook(board, "program", "exec sleep 1000\n")
    board.app_file("bad", f'exec = ["{program}"]\nlaunch = "manual"\nuser = "nobody"\n')
    board.app("good")
    login = board.awake("good", delay=DELAY)
    with lease(program):
        with board.wire() as wire:
            wire.send("io.curfew.Control.Launch", {"app": "bad", "background": None})
            group = wait_until(lambda: [pid for path in cgroups.instances(board.apps_group).values()
                                        if "bad." in path.name for pid in cgroups.processes(path)], "it is there")
            wait_until(lambda: f"Uid:\t{pwd.getpwnam('nobody').pw_uid}" in status_of(group[0]), "it is its user's")
            subprocess.run(["kill", "-STOP", str(group[0])], user="nobody", extra_groups=[], check=True)
            answers_at_once(board)
            login.sleep(True)
            login.wait_closed("sleep")
            login.sleep(False)
            board.wait_active("good")
            board.call("Terminate", app="bad", force=True)
    wait_until(lambda: family.state(group[0]) == "X", "nothing of it is left")
    assert board.instances() == ["good"]


def status_of(pid):
    return Path(f"/proc/{pid}/status").read_text()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_a_loop_that_dies_is_replaced_and_nothing_runs_twice(board, number):
    board.app("app", "child")
    board.start()
    board.wait_active("app")
    child = board.wait_note("app", "child")["pid"]
    keeper, loop = board.daemon.pid, board.loop()
    with family.ends([loop]):
        os.kill(loop, number)
    wait_until(lambda: board.answers() and board.loop() != loop, "it has another loop")
    board.wait_active("app")
    assert board.daemon.pid == keeper and board.daemon.poll() is None
    assert len(board.notes("app", "start")) == 1 and family.state(child) != "X"
    assert len(board.instances()) == 1
    assert f"signal {int(number)} has ended curfewd's loop" in board.log()
    assert not board.terminations("app")
    assert not [pid for pid in family.children(keeper) if family.state(pid) == "Z"]


def test_what_a_dead_loop_was_about_to_start_runs_once(board):
    mark = board.journals / "mark"
    board.plain("late", exec=["/bin/sh", "-c", f"echo once >> {mark}"], launch="manual")
    board.start()
    keeper, loop = board.daemon.pid, board.loop()
    # Not in the middle of what the loop has said at its start: it would read on.
    wait_until(lambda: "poll" in Path(f"/proc/{keeper}/wchan").read_text(), "it waits")
    os.kill(keeper, signal.SIGSTOP)
    with board.wire() as wire:
        wire.send("io.curfew.Control.Launch", {"app": "late"})
        wait_until(lambda: board.describe("late")["launches"] == 1, "the keeper is to start it")
        os.kill(loop, signal.SIGKILL)
        # All of its threads: until then what it has open stays so.
        wait_until(lambda: family.state(loop) == "Z" and len(os.listdir(f"/proc/{loop}/task")) == 1,
                   "it waits for its keeper")
        os.kill(keeper, signal.SIGCONT)
    wait_until(lambda: board.answers() and board.loop() != loop, "it has another loop")
    wait_until(lambda: len(board.terminations("late")) == 2, board.log)
    assert [end["reason"] for end in board.terminations("late")] == ["daemonDied", "exited"]
    assert mark.read_text() == "once\n"


def test_a_loop_that_dies_again_is_not_started_at_once_and_the_keeper_can_be_stopped(board):
    board.app("app")
    board.start()
    for _ in range(2):
        loop = wait_until(lambda: board.answers() and board.loop(), "it has a loop")
        board.wait_active("app")
        with family.ends([loop]):
            os.kill(loop, signal.SIGKILL)
        board.wait_log("signal 9 has ended the loop", 1)
    board.wait_log("signal 9 has ended the loop", 2)
    assert not family.loops(board.daemon.pid)
    assert board.stop() == 0
    wait_until(lambda: not board.instances(), "its apps are gone")


@contextlib.contextmanager
def alone(pid):
    """A process can have no other beside it in its group of the pids controller, of the old kind or of the new one."""
    old = Path("/sys/fs/cgroup/pids")
    if old.is_dir():
        group = old / f"curfew-test-{os.getpid()}"
        group.mkdir()
        (group / "cgroup.procs").write_text(str(pid))
    else:
        place = Path(f"/proc/{pid}/cgroup").read_text().rpartition("0::")[2].strip()
        group = Path(f"{cgroups.mount_point()}{place}")
    if not (group / "pids.max").exists():
        pytest.skip("no pids controller here")
    (group / "pids.max").write_text("1")
    try:
        yield
    finally:
        if old.is_dir():
            (old / "cgroup.procs").write_text(str(pid))
            group.rmdir()
        else:
            (group / "pids.max").write_text("max")


def test_a_keeper_that_cannot_fork_stays_and_tries_again(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    keeper, loop = board.daemon.pid, board.loop()
    with alone(keeper):
        with family.ends([loop]):
            os.kill(loop, signal.SIGKILL)
        board.wait_log("the loop cannot be started: fork: Resource temporarily unavailable; tried again")
    wait_until(lambda: board.answers() and board.loop() != loop, "it has another loop")
    board.wait_active("app")
    assert board.daemon.pid == keeper and len(board.instances()) == 1


def test_signals_to_the_loop_itself_mean_nothing(board):
    """`pkill curfewd` reaches both: it is one order."""
    board.app("app", "slow:WillTerminate:0.2")
    board.start()
    board.wait_active("app")
    os.kill(board.loop(), signal.SIGHUP)
    os.kill(board.loop(), signal.SIGTERM)
    answers_at_once(board)
    board.wait_active("app")
    assert board.stop() == 0
    assert board.calls("app").count("WillTerminate") == 1


def test_a_start_that_failed_has_left_nothing_when_it_is_told(board):
    board.app_file("app", 'exec = ["/nonexistent/program"]\nlaunch = "manual"\nrestart = "never"\n')
    board.start()
    for _ in range(100):
        error = board.error("Launch", app="app", background=None)
        assert not board.instances()
        why = error.parameters["termination"]["explanation"]
        assert why == "exec /nonexistent/program: No such file or directory"
    assert "busy" not in board.log()


def test_a_keeper_without_room_for_descriptors_says_so(board):
    board.app_file("late", 'exec = ["/bin/sleep", "1000"]\nlaunch = "manual"\nrestart = "never"\n')
    board.start()
    # Since its first start it has its sockets.
    board.call("Launch", app="late", background=None)
    board.call("Terminate", app="late", force=True)
    wait_until(lambda: not board.instances(), "it is gone")
    keeper = board.daemon.pid
    held = len(os.listdir(f"/proc/{keeper}/fd"))
    soft, hard = resource.prlimit(keeper, resource.RLIMIT_NOFILE)
    free = min(set(range(64)) - {int(name) for name in os.listdir(f"/proc/{keeper}/fd")})
    for room in range(3):
        resource.prlimit(keeper, resource.RLIMIT_NOFILE, (free + room, hard))
        board.error("Launch", app="late", background=None)
        end = board.wait_termination("late", room + 2)
        assert end["namespace"] == "launchFailure" and "Too many open files" in end["explanation"], end
    resource.prlimit(keeper, resource.RLIMIT_NOFILE, (soft, hard))
    board.call("Launch", app="late", background=None)
    board.wait_app("late", taskState="running")
    board.call("Terminate", app="late", force=True)
    wait_until(lambda: len(os.listdir(f"/proc/{keeper}/fd")) == held, "no descriptor is kept")


# capabilities(7), by number.
KEPT = {"CHOWN": 0, "DAC_READ_SEARCH": 2, "FOWNER": 3, "KILL": 5, "IPC_LOCK": 14, "SYS_RESOURCE": 24, "WAKE_ALARM": 35}


def test_the_loop_keeps_the_capabilities_that_it_needs_and_no_other(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    allowed = sum(1 << number for number in KEPT.values())

    def sets(pid):
        lines = (line.split(":\t") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        return {name: int(value, 16) for name, value in lines if name.startswith("Cap")}

    loop = sets(board.loop())
    for name in ("CapPrm", "CapEff", "CapBnd"):
        assert loop[name] & ~allowed == 0, f"{name} is {loop[name]:x}"
    assert loop["CapInh"] == loop["CapAmb"] == 0
    if os.geteuid() == 0:
        assert loop["CapEff"] == sets(board.daemon.pid)["CapEff"] & allowed
    # What it starts has all that the daemon was given.
    assert sets(board.wait_running("app"))["CapBnd"] == sets(board.daemon.pid)["CapBnd"]
    assert "NoNewPrivs:\t0" in Path(f"/proc/{board.wait_running('app')}/status").read_text()


# Leaves its supervisor as many orphans as it can.
STORM = """
import os
while True:
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.wait()
"""


def test_orphans_without_end_hold_up_nothing(board):
    program = board.programs / "storm.py"
    program.write_text(STORM)
    for number in range(3):
        board.app_file(f"storm-{number}", f'exec = ["/usr/bin/python3", "-S", "-E", "{program}"]\nlaunch = "boot"\n')
    board.app("good", launch="manual", restart="never")
    login = board.with_login(DELAY)
    board.start()
    board.wait_active("storm-0", "storm-1", "storm-2")
    login.wait_held("sleep")
    for number in range(1, 4):
        begun = time.monotonic()
        board.call("Launch", app="good", background=None)
        board.wait_active("good")
        board.call("Terminate", app="good", force=True)
        login.sleep(True)
        login.wait_closed("sleep", number)
        assert time.monotonic() - begun < DELAY
        login.sleep(False)
        login.wait_held("sleep", number + 1)
    for number in range(3):
        board.call("Terminate", app=f"storm-{number}", force=True)
    wait_until(lambda: not [pid for pid in family.children(board.daemon.pid) if family.state(pid) == "Z"],
               "no orphan is left")


def test_every_stop_ends(board):
    """The loop ends while its keeper looks at the end of the last app: neither is taken for the other."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("needs strace")
    board.app_file("app", 'exec = ["/bin/sleep", "1000"]\nlaunch = "boot"\nstart = "background"\n')
    board.start()
    # Killed as it is suspended; the loop does not wait for its keeper's word.
    board.wait_app("app", taskState="suspended")
    slow = [strace, "-qq", "-o", "/dev/null", "-e", "trace=waitid", "-e", "inject=waitid:delay_enter=50000"]
    with subprocess.Popen([*slow, "-p", str(board.daemon.pid)]) as tracer:
        try:
            wait_until(lambda: f"TracerPid:\t{tracer.pid}" in status_of(board.daemon.pid), "its keeper is slow")
            assert board.stop() == 0
        finally:
            tracer.kill()
