"""The keeper while it, its loop or the signals to it are late."""

import os
import signal
from pathlib import Path

import family
import pytest
from board import toml_file
from waiting import wait_until

ONCE = 'exec = ["/bin/sleep", "1000"]\nrestart = "never"\n'


def test_what_a_sandbox_took_is_given_back_at_its_end(board):
    board.app_file("app", ONCE + 'sandbox = "default"\nlaunch = "manual"\n')
    board.start()

    def held():
        return len(os.listdir(f"/proc/{board.daemon.pid}/fd"))

    before = None
    for number in range(3):
        if number == 1:
            # Since its first start the app has its sockets.
            wait_until(lambda: len(family.children(board.daemon.pid)) == 1, "the keeper has the loop alone")
            before = held()
        board.call("Launch", app="app", background=None)
        board.wait_app("app", taskState="running")
        board.call("Terminate", app="app", force=True)
        board.wait_termination("app", number + 1)
    wait_until(lambda: held() == before, lambda: f"{held()} descriptors are open, {before} were")


ORPHANS = """
import os, time
for _ in range(100):
    if os.fork() == 0:
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)
    os.wait()
open(os.environ["MARK"], "w").close()
time.sleep(1000)
"""


def test_many_ends_at_once_are_all_reaped(board):
    program, mark = board.programs / "orphans.py", board.journals / "mark"
    program.write_text(ORPHANS)
    board.app_file("app", toml_file(
        {"exec": ["/usr/bin/python3", str(program)], "restart": "never", "environment": {"MARK": str(mark)}}))
    board.start()
    wait_until(mark.exists, board.log)
    keeper = board.daemon.pid
    pids = [int(line) for line in (board.instance("app") / "cgroup.procs").read_text().split()]
    os.kill(keeper, signal.SIGSTOP)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    # The last of the orphans are the keeper's by then.
    wait_until(lambda: all(family.state(pid) in "ZX" for pid in pids), "they are dead")
    os.kill(keeper, signal.SIGCONT)
    board.wait_termination("app")
    wait_until(lambda: not [pid for pid in family.children(keeper) if family.state(pid) == "Z"], "no orphan is left")


def test_a_reload_is_no_stop(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    board.daemon.send_signal(signal.SIGHUP)
    board.wait_log("configuration reloaded")
    loop = board.loop()
    with family.ends([loop]):
        os.kill(loop, signal.SIGKILL)
    wait_until(lambda: board.answers() and board.loop() != loop, "there is another loop")


def test_an_end_is_told_to_a_loop_that_was_late(board):
    board.app_file("app", ONCE)
    board.start()
    pid = board.wait_app("app", scenePhase="active")["mainPID"]
    loop = board.loop()
    os.kill(loop, signal.SIGSTOP)
    try:
        # Their words fill the socket between the two.
        for _ in range(8000):
            board.daemon.send_signal(signal.SIGHUP)
            os.sched_yield()
        os.kill(pid, signal.SIGKILL)
        # A zombie until it can be told; where signals were put together and there is still room, it is told at once.
        wait_until(lambda: family.state(pid) in "ZX", "it is dead")
    finally:
        os.kill(loop, signal.SIGCONT)
    board.wait_termination("app")


def is_pending(pid, number):
    """Whether a process has yet to take a signal that was sent to it."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in status if line.startswith("ShdPnd")).split()[1], 16) >> number - 1 & 1


def test_a_loop_hears_of_a_stop_though_the_one_before_it_was_late(board):
    board.start()
    keeper, loop = board.daemon.pid, board.loop()
    os.kill(loop, signal.SIGSTOP)
    # More words than the socket between the two has room for.
    for _ in range(8000):
        os.kill(keeper, signal.SIGHUP)
        while is_pending(keeper, signal.SIGHUP):
            os.sched_yield()
    # A signal is what it sees first, and by it the end, before it sees that the socket is closed.
    os.kill(keeper, signal.SIGSTOP)
    wait_until(lambda: family.state(keeper) == "T", "it stands")
    os.kill(keeper, signal.SIGHUP)
    os.kill(loop, signal.SIGKILL)
    wait_until(lambda: family.state(loop) == "Z", "the loop is dead")
    os.kill(keeper, signal.SIGCONT)
    wait_until(lambda: board.answers() and board.loop() != loop, "there is another loop")
    with family.ends([keeper]):
        board.daemon.send_signal(signal.SIGTERM)
    assert board.daemon.wait() == 0
    board.daemon = None


def test_a_signal_that_was_ignored_before_is_heard(board):
    board.app_file("app", 'exec = ["/bin/sh", "-c", "exit 3"]\nrestart = "never"\n')
    board.start(prepare=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert board.wait_termination("app")


@pytest.mark.parametrize("number", [
    signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGIO,
    signal.SIGRTMIN + 3])
def test_a_signal_that_means_nothing_ends_nothing(board, number):
    board.app_file("app", ONCE)
    board.start()
    pid = board.wait_app("app", scenePhase="active")["mainPID"]
    loop = board.loop()
    for process in (board.daemon.pid, loop):
        os.kill(process, number)
    # It dies of a signal before it does anything else.
    board.daemon.send_signal(signal.SIGHUP)
    board.wait_log("configuration reloaded")
    assert board.loop() == loop and board.describe("app")["mainPID"] == pid
    # What it starts does not inherit that.
    ignored = [line.split()[1] for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "SigIgn" in line]
    assert int(ignored[0], 16) == 0


def test_no_loop_outlives_its_keeper_even_if_it_stands(board):
    board.start()
    loop = board.loop()
    os.kill(loop, signal.SIGSTOP)
    with family.ends([loop]):
        board.daemon.kill()
        board.daemon.wait()
    assert not Path(f"/proc/{loop}").exists() or family.state(loop) == "Z"
    board.daemon = None


@pytest.mark.parametrize("user", ["", 'user = "nobody"\nsandbox = "off"\n'])
def test_without_control_groups_apps_end_with_the_keeper(board, user):
    """The next daemon would not find them, and would run them a second time."""
    if user and os.geteuid() != 0:
        pytest.skip("needs root")
    board.app_file("app", f'exec = ["/bin/sleep", "1000"]\nlaunch = "boot"\n{user}')
    board.start(cgroup="/proc/nowhere")
    board.wait_active("app")
    with family.ends([board.describe("app")["mainPID"]]):
        board.daemon.kill()
        board.daemon.wait()
    board.daemon = None


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_new_loop_holds_nothing_of_the_apps_before_it(board):
    """An open namespace keeps what a dead app had in its /tmp."""
    for name in ("one", "two"):
        board.app_file(name, toml_file({"exec": ["/bin/sleep", "1000"], "launch": "boot", "user": "auto",
                                        "sandbox": "strict", "network": "none"}))
    board.start()
    board.wait_app("one", taskState="running")
    board.wait_app("two", taskState="running")
    loop = board.loop()
    with family.ends([loop]):
        os.kill(loop, signal.SIGKILL)
    wait_until(lambda: board.answers() and board.loop() != loop, "it has another loop")
    # A start that is not over would look like a loop.
    board.wait_app("one", taskState="running")
    board.wait_app("two", taskState="running")
    held = family.descriptors(board.loop())
    assert not [link for link in held if link.startswith(("mnt:", "net:", "ipc:"))], held


# Has its parent stopped and continued so many times, each of which the kernel tells the keeper.
STOPPER = """
import os, signal, sys, time
main = os.getpid()
if os.fork():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        signal.pause()
for _ in range(int(sys.argv[2])):
    os.kill(main, signal.SIGSTOP)
    while "T (stopped)" not in open(f"/proc/{main}/status").read():
        pass
    os.kill(main, signal.SIGCONT)
    while "T (stopped)" in open(f"/proc/{main}/status").read():
        pass
open(sys.argv[1], "w").close()
signal.pause()
"""


def wakes(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("voluntary_ctxt_switches"):
            return int(line.split()[1])


def test_stops_without_end_do_not_keep_the_keeper_busy(board):
    mark, count = f"{board.root}/mark", 10_000
    board.app_file("app", toml_file({
        "exec": ["/usr/bin/python3", "-c", STOPPER, mark, str(count)], "launch": "manual", "sandbox": "off",
        "user": "root"}))
    board.app("other", restart="never")
    board.start()
    board.wait_active("other")
    before = wakes(board.daemon.pid)
    board.call("Launch", app="app", background=None)
    wait_until(lambda: os.path.exists(mark), board.log, timeout=60)
    assert wakes(board.daemon.pid) - before < count / 5
    # It hears what is of use.
    board.signal("other", signal.SIGKILL)
    board.wait_termination("other")
    assert board.stop() == 0
