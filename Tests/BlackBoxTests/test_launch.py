"""How apps are started, brought to the front and back, and ended."""

import grp
import os
import pwd
import resource
import socket
import subprocess
from pathlib import Path

import cgroups
import family
from board import CURFEW
from test_hooks_and_signals import write_hook
from waiting import holds_for, wait_until

LAUNCH = ["DidFinishLaunching", "DidBecomeActive"]


def test_what_is_curfew_s_to_say_is_not_the_file_s(board):
    """Of a variable that is there twice, a program may see the one or the other."""
    said = board.journals / "environment"
    script = f"tr '\\\\0' '\\\\n' </proc/self/environ >{said}.new; mv {said}.new {said}; exec sleep 1000"
    program = f'exec = ["/bin/sh", "-c", "{script}"]'
    board.app_file("app", program + """
        [environment]
        CURFEW_SOCKET = "/nonexistent"
        CURFEW_APP = "other"
        CURFEW_LAUNCH_REASON = "none"
        """)
    board.start()
    wait_until(said.exists, board.log)
    lines = said.read_text().splitlines()
    own = sorted(line for line in lines if line.startswith("CURFEW_"))
    assert own == ["CURFEW_APP=app", "CURFEW_LAUNCH_REASON=boot", f"CURFEW_SOCKET={board.run / 'apps/app'}"]


def test_what_every_app_inherits(board):
    board.app("app", "ready", liveness="20s", environment={"COLOUR": "green", "PATH": "/opt/bin"})
    board.plain("plain")
    board.app("late", launch="manual")
    login = board.with_login()
    # The daemon was left a descriptor by its parent, too.
    leaked, other = os.pipe()
    environment = {"SECRET_OF_THE_DAEMON": "1", "NOTIFY_SOCKET": "/nonexistent", "WATCHDOG_PID": "1"}
    board.start(environment=environment, descriptors=[leaked])
    os.close(leaked)
    os.close(other)
    board.wait_active("app", "plain")
    # While both locks and the bus are open.
    login.wait_held("sleep")
    login.wait_held("shutdown")
    board.call("Launch", app="late", background=None)
    start = board.wait_note("app", "start")
    environment = start["environment"]
    assert environment["CURFEW_APP"] == "app"
    assert environment["CURFEW_SOCKET"] == str(board.run / "apps/app")
    assert environment["CURFEW_LAUNCH_REASON"] == "boot"
    assert environment["WATCHDOG_USEC"] == "20000000"
    assert environment["WATCHDOG_PID"] == str(start["pid"])
    assert os.path.exists(environment["NOTIFY_SOCKET"])
    assert environment["COLOUR"] == "green"
    assert environment["PATH"] == "/opt/bin"
    assert "SECRET_OF_THE_DAEMON" not in environment
    # A session and a control group of its own; no signal of the daemon's is blocked or ignored.
    assert start["session"] == start["pid"]
    assert start["control_group"].endswith(f"{board.cgroup}/apps/app.1")
    assert int(start["blocked"], 16) == 0
    # Python itself ignores SIGPIPE and SIGXFSZ.
    assert int(start["ignored"], 16) & ~((1 << 12) | (1 << 24)) == 0
    assert (start["directory"], start["umask"], start["nice"]) == ("/", 0o022, 0)
    assert start["user"] == os.getuid()
    assert start["parent"] == board.daemon.pid

    # Without a delegate and a watchdog there are no such variables.
    environment = board.wait_note("plain", "start")["environment"]
    assert not {"CURFEW_DELEGATE_FD", "WATCHDOG_USEC", "WATCHDOG_PID"} & set(environment)
    # A delegate is a socket, and beside the standard ones the only thing that it has.
    for name in ("app", "late", "plain"):
        start = board.wait_note(name, "start")
        delegate = start["environment"].get("CURFEW_DELEGATE_FD")
        mine = own_descriptors(board, start)
        assert set(mine) == {"0", "1", "2", *([delegate] if delegate else [])}, (name, mine)
        assert mine["0"] == "/dev/null"
        assert name == "plain" or mine[delegate].startswith("socket:")


def own_descriptors(board, start):
    """But for its journal, and for the folder that it lists."""
    return {key: value for key, value in start["descriptors"].items()
            if not value.endswith(".jsonl") and not value.startswith("/proc/") and not value.startswith(board.root)}


def test_user_group_directory_umask_nice_and_descriptors(board):
    board.app("app", user="nobody", working_directory=str(board.journals), umask="0077", nice=5)
    board.app("grouped", user="nobody", group="daemon")
    # How many descriptors it may have is not the daemon's own limit.
    command = f"ulimit -Sn > {board.journals}/limit; sleep 100"
    board.app_file("limited", f'exec = ["/bin/sh", "-c", "{command}"]\nlaunch = "boot"\n')
    limit = (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    board.start(limits={resource.RLIMIT_NOFILE: limit})
    board.wait_active("app", "grouped")
    nobody = pwd.getpwnam("nobody")
    start = board.wait_note("app", "start")
    assert (start["user"], start["group"]) == (nobody.pw_uid, nobody.pw_gid)
    assert set(start["groups"]) <= set(os.getgrouplist("nobody", nobody.pw_gid))
    assert start["directory"] == str(board.journals)
    assert start["umask"] == 0o077
    assert start["nice"] == 5
    # What apps do without end does not keep the daemon from its turn.
    for pid in (board.daemon.pid, board.loop()):
        assert os.getpriority(os.PRIO_PROCESS, pid) == -10
    assert start["environment"]["USER"] == "nobody"
    grouped = board.wait_note("grouped", "start")
    assert (grouped["user"], grouped["group"]) == (nobody.pw_uid, grp.getgrnam("daemon").gr_gid)
    written = board.journals / "limit"
    wait_until(lambda: written.exists() and written.read_text().strip(), "the app has written its limit")
    assert written.read_text().strip() == "256"


# Makes its stdout one that does not block, once, and says each time what it has found.
CHANGES_ITS_STDOUT = """
import fcntl, os, sys
flags = fcntl.fcntl(1, fcntl.F_GETFL)
print(bool(flags & os.O_NONBLOCK), file=open(sys.argv[1], "a"))
fcntl.fcntl(1, fcntl.F_SETFL, flags | os.O_NONBLOCK)
os.read(os.pipe()[0], 1)
"""


def test_what_a_program_does_to_its_stdout_is_no_others(board):
    program, found = board.programs / "changes.py", board.journals / "found"
    program.write_text(CHANGES_ITS_STDOUT)
    board.plain("app", exec=["/usr/bin/python3", str(program), str(found)])
    board.start()
    for count in (1, 2):
        wait_until(lambda count=count: found.exists() and found.read_text().count("\n") == count, board.log)
        board.call("Terminate", app="app", force=True)
        board.call("Launch", app="app", background=False)
    assert found.read_text().splitlines()[:2] == ["False", "False"]


# Gives its stdout away, and ends.
GIVES_ITS_STDOUT = """
import socket, sys
with socket.socket(socket.AF_UNIX) as other:
    other.connect(sys.argv[1])
    socket.send_fds(other, [b"x"], [1])
"""


def test_an_output_that_is_kept_by_others_is_let_go_of_with_its_instance(board):
    """Else an app that ends again and again would leave the daemon without a descriptor."""
    program, place = board.programs / "gives.py", board.journals / "taker"
    program.write_text(GIVES_ITS_STDOUT)
    with socket.socket(socket.AF_UNIX) as taker:
        taker.bind(str(place))
        taker.listen()
        board.plain("app", exec=["/usr/bin/python3", str(program), str(place)], restart="always",
                    restart_delay="0s", restart_delay_max="1ms", restart_limit=1000)
        board.start()
        kept = []
        for _ in range(20):
            given = taker.accept()[0]
            kept += socket.recv_fds(given, 1, 1)[1]
            given.close()
        loop = board.loop()

        def pipes():
            return sum(link.startswith("pipe:") for link in family.descriptors(loop))

        wait_until(lambda: pipes() < 12, lambda: f"{pipes()} pipes are open")
        for descriptor in kept:
            os.close(descriptor)


def test_a_program_that_cannot_be_started(board):
    board.app_file("app", 'exec = ["/nonexistent/program"]\nrestart = "never"')
    board.app("other")
    board.start()
    error = board.error("Launch", app="app", background=None)
    assert error.name == "io.curfew.Control.AppEnded"
    termination = error.parameters["termination"]
    assert termination["namespace"] == "launchFailure"
    assert "/nonexistent/program: No such file or directory" in termination["explanation"]
    assert board.describe("app")["taskState"] == "notRunning"
    assert board.instances() == ["other"]
    board.wait_active("other")


def test_launched_by_hand_to_the_front_and_back(board):
    board.app("app", "slow:DidFinishLaunching:0.3", launch="manual")
    board.app("behind", launch="manual")
    board.start()
    assert board.describe("app")["taskState"] == "notRunning"
    assert board.describe("app")["mainPID"] is None
    board.call("Launch", app="app", background=None)
    # It returns when the launch is complete.
    assert board.calls("app") == LAUNCH
    app = board.describe("app")
    assert (app["scenePhase"], app["taskState"], app["launches"]) == ("active", "running", 1)
    assert app["mainPID"] == board.wait_note("app", "start")["pid"]
    call = board.wait_call("app", "DidFinishLaunching")
    assert call["parameters"]["reason"] == "user"
    assert call["parameters"]["deadline"] == 20
    board.call("Launch", app="app", background=None)
    assert board.describe("app")["launches"] == 1

    board.call("Launch", app="behind", background=True)
    assert board.calls("behind") == ["DidFinishLaunching"]
    board.wait_app("behind", scenePhase="background", taskState="suspended")
    assert board.is_frozen("behind")

    board.call("Activate", app="behind")
    assert board.calls("behind")[1:] == ["WillEnterForeground", "DidBecomeActive"]
    assert not board.is_frozen("behind")
    board.call("Background", app="behind")
    assert board.calls("behind")[3:] == ["WillResignActive", "DidEnterBackground"]
    board.wait_app("behind", scenePhase="background", taskState="suspended")
    assert board.is_frozen("behind")
    assert board.describe("behind")["launches"] == 1


def test_terminate_asks_first(board):
    board.app("app", "grandchild", restart="always", restart_delay="1ms")
    board.app("forced", "hang:WillTerminate", allowances={"will_terminate": "20s"})
    board.start()
    board.wait_active("app", "forced")
    grandchild = board.wait_note("app", "grandchild")["pid"]
    board.call("Terminate", app="app", force=None)
    assert board.calls("app")[-1] == "WillTerminate"
    assert board.wait_call("app", "WillTerminate")["parameters"]["reason"] == "user"
    assert board.notes("app", "signal")[-1]["number"] == 15
    assert not cgroups.is_alive(grandchild)
    assert board.wait_termination("app")["namespace"] == "user"
    # Ended by an operator: it stays down.
    holds_for(0.2, lambda: board.describe("app")["taskState"] == "notRunning", "it stays down")
    assert board.error("Terminate", app="app", force=None).name == "io.curfew.Control.NotRunning"
    # With force it is not asked.
    board.call("Terminate", app="forced", force=True, timeout=5)
    assert "WillTerminate" not in board.calls("forced")
    assert board.wait_termination("forced")["namespace"] == "user"


def test_who_does_not_end_in_time_is_killed(board):
    board.plain("app", "ignore-term", "grandchild", allowances={"will_terminate": "600ms"})
    board.start()
    board.wait_active("app")
    grandchild = board.wait_note("app", "grandchild")["pid"]
    board.call("Terminate", app="app", force=None)
    report = board.wait_termination("app")
    assert (report["code"], report["event"]) == ("0x8badf00d", None)
    assert "process-exit" in report["explanation"]
    assert not cgroups.is_alive(grandchild)


def kernel_says(pid):
    lines = (line.split(":\t") for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
    return {name: value for name, value in lines}


def test_what_an_app_can_have_of_capabilities(board):
    """As root, and as another user, who has them at once; with setuid programs and without. Hooks as well."""
    hook = write_hook(board, "hook", f"cat /proc/self/status > {board.journals}/hook-status\n")
    network = 1 << 10
    board.plain("root", capabilities=["CAP_NET_BIND_SERVICE"])
    board.plain("user", capabilities=["CAP_NET_BIND_SERVICE"], user="nobody", no_new_privileges=True)
    board.plain("none", capabilities=[], user="nobody")
    board.plain("free")
    board.app("hooked", capabilities=[], delegate="hooks", hooks={"did-become-active": [hook]})
    board.start()
    board.wait_active("root", "user", "none", "free", "hooked")
    sets = {name: kernel_says(board.describe(name)["mainPID"]) for name in board.list()}

    def have(name, which):
        return int(sets[name][f"Cap{which}"], 16)

    assert have("root", "Bnd") == have("root", "Eff") == network
    assert have("root", "Inh") == have("root", "Amb") == 0
    assert all(have("user", which) == network for which in ("Bnd", "Prm", "Eff", "Inh", "Amb"))
    assert sets["user"]["NoNewPrivs"] == "1" and sets["none"]["NoNewPrivs"] == "0"
    assert all(have("none", which) == 0 for which in ("Bnd", "Prm", "Eff", "Inh", "Amb"))
    assert have("free", "Bnd") == int(kernel_says(board.daemon.pid)["CapBnd"], 16)
    wait_until(lambda: (board.journals / "hook-status").exists(), "the hook has run")
    assert "CapBnd:\t0000000000000000" in (board.journals / "hook-status").read_text()


def test_users_that_apps_have_for_themselves(board):
    """A number each, the same after a restart, and a folder that only it can enter."""
    for name in ("one", "two"):
        board.plain(name, user="auto")
    board.plain("video", user="auto", group="video")
    board.start()
    board.wait_active("one", "two", "video")
    folders = Path(board.root) / "var/lib/curfew-apps"

    def facts():
        found = {}
        for name in ("one", "two", "video"):
            start = board.notes(name, "start")[-1]
            assert start["environment"]["STATE_DIRECTORY"] == start["environment"]["HOME"] == str(folders / name)
            status = (folders / name).stat()
            assert status.st_uid == status.st_gid == start["user"] and status.st_mode & 0o7777 == 0o700
            assert 70000 <= start["user"] < 80000
            found[name] = start["user"]
        return found

    users = facts()
    assert len(set(users.values())) == 3
    assert kernel_says(board.describe("video")["mainPID"])["Gid"].split()[1] == str(grp.getgrnam("video").gr_gid)
    assert kernel_says(board.describe("one")["mainPID"])["Groups"].split() == []
    assert board.stop() == 0
    (folders / "two").rmdir()
    (folders / "two").mkdir(0o700)
    (folders / "two/kept").write_text("")
    board.start()
    board.wait_active("one", "video")
    assert board.notes("one", "start")[-1]["user"] == users["one"]
    wait_until(lambda: "belongs to user 0" in board.log(), "a folder of another user is not taken")
    end = board.terminations("two")[-1]
    assert end["namespace"] == "launchFailure" and "belongs to user 0" in end["explanation"], end


def test_a_terminate_that_had_to_kill_says_so(board):
    deaf = ["/bin/sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"]
    board.plain("deaf", exec=deaf, allowances={"will_terminate": "300ms"})
    board.plain("prompt")
    board.start()
    for name in ("deaf", "prompt"):
        board.wait_app(name, scenePhase="active")
    said = {name: subprocess.run([CURFEW, "--root", board.root, "terminate", name], capture_output=True, text=True,
                                 timeout=30, check=True) for name in ("deaf", "prompt")}
    assert said["deaf"].stdout == "deaf has ended\n"
    assert "it had to be killed: " in said["deaf"].stderr and "did not exit within 300 ms" in said["deaf"].stderr
    assert "killed" not in said["prompt"].stderr
