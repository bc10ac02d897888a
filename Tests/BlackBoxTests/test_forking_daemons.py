"""Daemons that put themselves into the background and name the process that stays (MAINPID=)."""

import os
import signal

import family
import pytest
from loops import end_held, hold_loop
from waiting import wait_until

# Its parent stays until there is a file `go`; it ends with what is in the file `end`.
DAEMON = """
import os, socket, sys, time
folder = sys.argv[1]

def content(name):
    while True:
        try:
            with open(f"{folder}/{name}") as file:
                text = file.read()
        except FileNotFoundError:
            text = ""
        if text:
            return text
        time.sleep(0.01)

if os.fork():
    content("go")
    os._exit(0)
parent = os.getppid()
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
    notify.connect(os.environ["NOTIFY_SOCKET"])
    notify.send(f"MAINPID={os.getpid()}".encode())
word = content("end")
if word == "signal":
    os.kill(os.getpid(), 6)
os._exit(int(word))
"""


def named(board):
    """The main process, once it is no child of the keeper's."""
    pid = board.describe("app")["mainPID"]
    return pid and pid not in family.children(board.daemon.pid) and pid


@pytest.fixture
def daemon(board, tmp_path):
    """Starts it; returns a function that ends it with a word."""
    program = board.programs / "daemon.py"
    program.write_text(DAEMON)
    os.chmod(tmp_path, 0o777)
    board.app_file(
        "app", f'exec = ["/usr/bin/python3", "-S", "-E", "{program}", "{tmp_path}"]\nlaunch = "boot"\n'
        'restart = "on-failure"\nrestart-delay = "1ms"\nsandbox = "off"\n')
    board.start()
    board.wait_active("app")
    main = wait_until(lambda: named(board), "it has named another process")

    def end(word, goes=True):
        if goes:
            (tmp_path / "go").write_text("1")
            wait_until(lambda: f"PPid:\t{board.daemon.pid}\n" in open(f"/proc/{main}/status").read(), "it is orphaned")
        (tmp_path / "end").write_text(word)
        return board.wait_termination("app")

    return end


def test_an_end_in_good_order_is_one(board, daemon):
    report = daemon("0")
    assert report["namespace"] == "exit" and report["code"] == "0x0", report
    board.wait_app("app", taskState="notRunning", launches=1)


@pytest.mark.parametrize("word, namespace, code", [("3", "exit", "0x3"), ("signal", "crash", "0x6")])
def test_a_failure_is_told_as_it_was(board, daemon, word, namespace, code):
    report = daemon(word)
    assert (report["namespace"], report["code"]) == (namespace, code), report


def test_of_a_process_whose_parent_lives_the_end_is_not_known(board, daemon):
    report = daemon("0", goes=False)
    assert report["namespace"] == "unknown", report


# Leaves the keeper orphans that have ended, many more than it remembers.
ORPHANS = """
import os, sys, time
folder = sys.argv[1]
while not os.path.exists(f"{folder}/flood"):
    time.sleep(0.01)
for _ in range(700):
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.waitpid(child, 0)
open(f"{folder}/flooded", "w")
time.sleep(1000)
"""


@pytest.mark.parametrize("dies", [True, False])
@pytest.mark.usefixtures("daemon")
def test_orphans_of_another_app_hide_no_end(board, tmp_path, dies):
    main = board.describe("app")["mainPID"]
    (tmp_path / "go").write_text("1")
    wait_until(lambda: main in family.children(board.daemon.pid), "it is orphaned")
    program = board.programs / "orphans.py"
    program.write_text(ORPHANS)
    board.app_file("other", f'exec = ["/usr/bin/python3", "-S", "-E", "{program}", "{tmp_path}"]\n'
                            'launch = "boot"\nsandbox = "off"\n')
    board.call("Reload")
    board.wait_app("other", taskState="running")
    loop = hold_loop(board)
    (tmp_path / "end").write_text("0")
    wait_until(lambda: not os.path.exists(f"/proc/{main}"), "the keeper has reaped it")
    (tmp_path / "flood").touch()
    wait_until((tmp_path / "flooded").exists, "the other has left its orphans")
    if dies:
        end_held(board, loop)
    else:
        os.kill(loop, signal.SIGCONT)
    end = board.wait_termination("app")
    assert (end["namespace"], end["code"]) == ("exit", "0x0"), end
    board.wait_app("app", taskState="notRunning", launches=1)
