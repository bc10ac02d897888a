"""What the keeper keeps while there is no loop: the daemon's sockets and its lock."""

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

import family
import pytest
from board import CURFEWD
from test_resources import fill_inodes
from waiting import wait_until
from wire import Wire


@pytest.fixture
def gap(board):
    """A board without a loop, for a second: its second one in a row has died."""
    def begin():
        for number in range(1, 3):
            kill(board, wait_until(lambda: board.answers() and board.loop(), "it has a loop"))
            board.wait_log("signal 9 has ended the loop", number)

    return begin


def kill(board, loop):
    with family.ends([loop]):
        os.kill(loop, signal.SIGKILL)


def test_who_connects_between_two_loops_is_answered_by_the_next(board, gap):
    board.start()
    gap()
    assert not family.loops(board.daemon.pid)
    paths = [board.control_socket, str(board.run / "io.curfew.Application")]
    if os.geteuid() == 0:
        paths.append(str(board.run / "io.curfew.Control.root"))
    for path in paths:
        with Wire(path) as wire:
            assert wire.call("org.varlink.service.GetInfo")["vendor"] == "Curfew"
    assert board.log().count("has ended curfewd's loop") == 2


def test_no_other_daemon_begins_between_two_loops(board, gap):
    board.start()
    gap()
    other = subprocess.run(
        [CURFEWD, "--root", board.root, "--cgroup", "/proc/nowhere", "--no-board"],
        env={"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={board.root}/no-bus"}, capture_output=True, text=True, timeout=30)
    assert other.returncode == 1 and f"another curfewd (pid {board.daemon.pid}) runs here" in other.stderr
    wait_until(board.answers, board.log)


def test_a_new_loop_needs_no_room_for_its_sockets(board):
    board.tmpfs(f"{board.root}/run", "64k,nr_inodes=40")
    board.start()
    fill_inodes(f"{board.root}/run")
    loop = board.loop()
    kill(board, loop)
    wait_until(lambda: board.answers() and board.loop() != loop, board.log)
    assert "tried again every 5 s" not in board.log()


def test_a_socket_whose_path_was_removed_is_made_anew(board):
    board.start()
    loop = board.loop()
    os.unlink(board.control_socket)
    kill(board, loop)
    wait_until(board.answers, board.log)
    assert os.stat(board.control_socket).st_mode & 0o777 == 0o660
    # And it is the one that the loop after it has.
    kill(board, board.loop())
    wait_until(board.answers, board.log)
    # The lock is one for all loops.
    assert (board.run / "curfewd.lock").read_text() == str(board.daemon.pid)


def test_the_mark_of_a_sleep_in_which_a_loop_died_is_there_till_its_end(board):
    board.start()
    board.call("PrepareForSleep", start=True, kind="suspend")
    mark = board.run / "asleep"
    assert mark.exists()
    kill(board, board.loop())
    wait_until(board.answers, board.log)
    assert mark.exists() and board.device_state()["sleepState"] == "asleep"
    board.call("PrepareForSleep", start=False, kind="suspend")
    assert not mark.exists()


def test_a_loop_holds_one_copy_of_each(board):
    board.start()
    def sockets():
        # By the second answer all connections before this one are closed.
        with board.wire() as wire:
            for _ in range(2):
                wire.call("io.curfew.Control.DescribeDevice")
            return len([name for name in family.descriptors(board.loop()) if name.startswith("socket:")])

    first = sockets()
    for _ in range(2):
        loop = wait_until(lambda: board.answers() and board.loop(), "it has a loop")
        kill(board, loop)
    wait_until(board.answers, board.log)
    board.wait_log("curfewd 0.1.0 started", 3)
    wait_until(lambda: sockets() == first, lambda: f"{sockets()} sockets, not {first}")


@contextlib.contextmanager
def slow_waits(pid, microseconds):
    """Each wait for events of this process begins late."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("needs strace")
    inject = f"inject=epoll_wait,epoll_pwait:delay_enter={microseconds}"
    arguments = [strace, "-qq", "-o", "/dev/null", "-e", "trace=epoll_wait,epoll_pwait", "-e", inject, "-p", str(pid)]
    with subprocess.Popen(arguments) as tracer:
        try:
            wait_until(lambda: f"TracerPid:\t{tracer.pid}" in Path(f"/proc/{pid}/status").read_text(), "it is slow")
            yield
        finally:
            tracer.kill()


def test_the_next_loop_is_heard_though_the_last_word_of_the_one_before_it_came_with_its_end(board):
    """There are ends that the keeper has not looked at yet when it hears both."""
    board.app_file("app", 'exec = ["/bin/sh", "-c", "for i in $(seq 80); do (sleep 1000 &) done; exec sleep 1000"]\n')
    board.start()
    board.wait_active("app")

    def orphans():
        main = board.describe("app")["mainPID"]
        return [pid for pid in family.children(board.daemon.pid) if pid not in (main, board.loop())]

    found = wait_until(lambda: len(orphans()) == 80 and orphans(), "it has left orphans")
    loop = board.loop()
    with slow_waits(board.daemon.pid, 300_000):
        for pid in found:
            os.kill(pid, signal.SIGKILL)
        # It looks at some in each turn.
        wait_until(lambda: len(family.children(board.daemon.pid)) < 40, "it has looked at half of them")
        os.kill(loop, signal.SIGKILL)
        wait_until(lambda: board.loop() != loop, "it has another loop")
    wait_until(board.answers, board.log)
    board.wait_active("app")
