"""curfew upgrade: another version of the program goes on where the one that runs is, and no app notices."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import cgroups
import family
import pytest
from board import CURFEW, CURFEWD
from strangers import stranger
from upgrades import install, installed, refused, running, upgrade
from waiting import holds_for, wait_until
from wire import Closed, VarlinkError

assert installed  # a fixture

# Rehearses as the real one, and is another as the daemon.
WRAPPER = """#!/bin/sh
case "$1" in --rehearse*) exec {program} "$@" ;; esac
{body}
"""


# Of the loop: the keeper has no timers.
AT_ITS_START = """
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void) { unsetenv("LD_PRELOAD"); }
int timerfd_create(int clock, int flags) { while (1) WHAT; }
"""


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """By which a daemon's loop does so at its start."""
    folder = tmp_path_factory.mktemp("libraries")
    made = {}
    for name, what in {"still": "pause()", "leaves": "_exit(0)"}.items():
        (folder / f"{name}.c").write_text(AT_ITS_START.replace("WHAT", what))
        made[name] = folder / f"{name}.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", made[name], folder / f"{name}.c"], check=True)
    return made


def failing(board, libraries, body):
    """A version that is rehearsed well."""
    real = f"{board.root}/real"
    shutil.copy(CURFEWD, real)
    install(board, WRAPPER.format(program=real, body=body.format(real=real, **libraries)))


def test_no_app_notices(board):
    board.app("front")
    board.app("back")
    board.app("hooks", delegate="hooks", hooks={"did_enter_background": ["/bin/true"]})
    board.app("hand", launch="manual")
    board.app("ended")
    board.start()
    board.wait_active("front", "back", "hooks", "ended")
    board.call("Launch", app="hand", background=None)
    board.wait_active("hand")
    board.call("Background", app="back")
    board.call("Terminate", app="ended")
    wait_until(lambda: board.is_frozen("back"), "it is suspended")
    names = ("front", "back", "hooks", "hand")
    before = board.list()
    heard = {name: board.calls(name) for name in names}
    descriptors = len(os.listdir(f"/proc/{board.daemon.pid}/fd"))
    for _ in range(3):
        upgrade(board)
        assert board.list() == before
    wait_until(
        lambda: len(os.listdir(f"/proc/{board.daemon.pid}/fd")) <= descriptors + 2,
        "the version before and its state are given up")
    assert {name: board.calls(name) for name in names} == heard
    assert "ended, left by" not in board.log()
    # They hear and are heard as before.
    board.call("Background", app="hooks")
    board.call("Activate", app="back")
    assert board.calls("back")[-2:] == ["WillEnterForeground", "DidBecomeActive"]
    board.signal("front", signal.SIGSEGV)
    assert board.wait_termination("front")["explanation"] == "killed by signal 11"
    board.wait_app("front", launches=2, scenePhase="active")
    assert board.stop() == 0
    assert board.calls("back")[-1] == "WillTerminate"


def test_a_new_app_finds_what_all_found(board):
    keys = {"sandbox": "off"}
    board.app_file("one", 'exec = ["/bin/sh", "-c", "ulimit -n; ulimit -Hn; ls /proc/self/fd; env"]\n'
                          'launch = "manual"\nsandbox = "off"\nrestart = "never"\n')
    board.app("app", **keys)
    board.start(limits={7: (1024, 4096)})
    board.wait_active("app")

    def ran(number):
        with contextlib.suppress(VarlinkError):
            board.call("Launch", app="one", background=None)
        board.wait_termination("one", number)
        lines = (board.state / "reports.jsonl").read_text().splitlines()
        output = [end["output"] for end in map(json.loads, lines) if end.get("app") == "one"][-1]
        return [line for line in output if not line.startswith(("CURFEW_DEADLINE", "WATCHDOG_PID", "NOTIFY_SOCKET"))]

    before = ran(1)
    assert before[:2] == ["1024", "4096"]
    upgrade(board)
    assert ran(2) == before


@pytest.mark.parametrize(("script", "reason"), [
    ("#!/bin/sh\nkill -SEGV $$\n", "was ended by signal 11 as it read the state"),
    ("#!/bin/sh\necho no such library >&2; exit 127\n", "cannot go on from here (status 127): no such library"),
    ("#!/bin/sh\nexit 0\n", "does not answer as a curfewd"),
    ("#!/bin/sh\necho curfew-worm\n", "does not answer as a curfewd: curfew-worm"),
    ("#!/bin/sh\nexec yes curfewd\n", "was ended by signal 25 as it read the state"),
    ("#!/bin/sh\nwhile :; do :; done\n", "did not read the state within 5 s"),
    ("#!/bin/sh\nsleep 1000 & sleep 1000\n", "did not read the state within 5 s"),
    ("no program\n", "Exec format error"),
    ("#!/no/such/shell\n", "No such file"),
])
def test_what_cannot_go_on_is_not_begun(board, script, reason):
    board.app("app")
    board.start()
    board.wait_active("app")
    loop, inode = board.loop(), running(board.daemon.pid)
    install(board, script)
    assert reason in refused(board), board.log()
    assert (board.loop(), running(board.daemon.pid)) == (loop, inode)
    assert "not upgraded" in board.log()
    wait_until(lambda: not [name for name in cgroups.instances(board.apps_group) if name.startswith("@")],
               "nothing is left of it")
    # What was mended is taken.
    upgrade(board)
    assert board.describe("app")["launches"] == 1


def test_what_has_gone_is_not_begun(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    os.unlink(board.program)
    assert "No such file" in refused(board)
    assert board.describe("app")["launches"] == 1


@pytest.mark.parametrize(("body", "reason"), [
    # Its loop cannot begin, and exits.
    ("exec {real} --root /proc", "its loop exited with status 1"),
    # Its loop leaves as in good order, of which there is no talk.
    ("LD_PRELOAD={leaves} exec {real} \"$@\"", "its loop exited with status 0"),
    # Its loop stands still at its start.
    ("LD_PRELOAD={still} exec {real} \"$@\"", "it was not ready within 5 s"),
])
def test_what_fails_as_the_daemon_is_given_up(board, body, reason, libraries):
    board.app("app", "hang:DidEnterBackground", allowances={"did_enter_background": "20s"})
    board.app("other")
    board.start()
    board.wait_active("app", "other")
    before = {name: board.describe(name)["mainPID"] for name in ("app", "other")}
    pid, inode = board.daemon.pid, running(board.daemon.pid)
    failing(board, libraries, body)
    assert reason in refused(board), board.log()
    assert (board.daemon.pid, running(pid)) == (pid, inode)
    assert {name: board.describe(name)["mainPID"] for name in before} == before
    assert all(board.describe(name)["launches"] == 1 for name in before)
    board.call("Background", app="other")
    assert board.calls("other")[-1] == "DidEnterBackground"
    assert reason in board.log()
    # The next one is taken, though this one was not.
    upgrade(board)
    assert {name: board.describe(name)["mainPID"] for name in before} == before


def test_what_was_not_tried_is_not_begun(board):
    """It puts another program into its place when it is."""
    board.app("app")
    board.start()
    board.wait_active("app")
    loop = board.loop()
    install(board, f"#!/bin/sh\ncp /bin/false {board.root}/other && mv {board.root}/other $0\necho curfewd 9\n")
    assert "was replaced after it had been tried" in refused(board)
    assert board.loop() != loop and board.describe("app")["launches"] == 1
    upgrade(board)
    assert board.describe("app")["launches"] == 1


def test_a_stop_in_a_trial_is_not_forgotten(board, libraries):
    board.app("app")
    board.start()
    board.wait_active("app")
    failing(board, libraries, "LD_PRELOAD={still} exec {real} \"$@\"")
    inode = os.stat(f"{board.root}/real").st_ino
    with contextlib.suppress(Closed, OSError), board.wire() as wire:
        wire.send("io.curfew.Control.Upgrade")
        wait_until(lambda: running(board.daemon.pid) == inode, "it is on trial")
        assert board.stop() == 0
    assert board.calls("app")[-1] == "WillTerminate"


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL])
def test_what_dies_soon_is_given_up(board, number):
    board.app("app")
    board.start()
    board.wait_active("app")
    inode = running(board.daemon.pid)
    upgrade(board)
    loop = board.loop()
    with family.ends([loop]):
        os.kill(loop, number)
    wait_until(lambda: running(board.daemon.pid) == inode and board.answers(), board.log)
    assert board.describe("app")["launches"] == 1
    assert f"not upgraded: signal {int(number)} ended its loop" in board.log()


def test_two_at_once(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    install(board)
    with board.wire() as one, board.wire() as two:
        one.send("io.curfew.Control.Upgrade")
        two.send("io.curfew.Control.Upgrade")
        answers = [wire.receive() for wire in (one, two)]
    assert sorted("error" in answer for answer in answers) == [False, True], answers
    [error] = [answer for answer in answers if "error" in answer]
    assert error["parameters"]["reason"] == "another upgrade is under way"


def test_who_has_hung_up_is_not_waited_for(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    inode = install(board)
    with board.wire() as wire:
        wire.send("io.curfew.Control.Upgrade")
    wait_until(lambda: running(board.daemon.pid) == inode and board.answers(), board.log)
    assert board.describe("app")["launches"] == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_an_operator_may_not(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    os.chmod(board.control_socket, 0o666)
    asks = """
import socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
    client.connect(sys.argv[1])
    client.sendall(b'{"method": "io.curfew.Control.Upgrade"}\\0')
    print(client.recv(4096).decode().rstrip("\\0"), flush=True)
"""
    loop = board.loop()
    with stranger(asks, board.control_socket) as client:
        assert json.loads(client.stdout.readline())["error"] == "org.varlink.service.PermissionDenied"
    assert board.loop() == loop


def test_the_tool_says_what_has_become(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    inode = install(board)
    tool = [CURFEW, "--root", board.root, "upgrade"]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert "what runs was not touched" in done.stdout
    assert running(board.daemon.pid) == inode
    install(board, "#!/bin/sh\nexit 3\n")
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "not upgraded, and curfewd goes on as it was" in done.stderr, done
    install(board)
    done = subprocess.run([*tool, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout).keys() == {"before", "version", "milliseconds"}
    holds_for(0.1, board.answers, "it serves")
