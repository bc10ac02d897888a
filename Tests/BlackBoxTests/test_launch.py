"""How apps are started, brought to the front and back, and ended."""

import grp
import os
import pwd
import resource

import cgroups
import pytest
from waiting import holds_for, wait_until
from wire import VarlinkError

LAUNCH = ["DidFinishLaunching", "DidBecomeActive"]


def test_what_every_app_inherits(board):
    board.app("app", "ready", liveness="20s", environment={"COLOUR": "green", "PATH": "/opt/bin"})
    # The daemon was left a descriptor by its parent, too.
    leaked, other = os.pipe()
    environment = {"SECRET_OF_THE_DAEMON": "1", "NOTIFY_SOCKET": "/nonexistent", "WATCHDOG_PID": "1"}
    board.start(environment=environment, descriptors=[leaked])
    os.close(leaked)
    os.close(other)
    board.wait_active("app")
    start = board.wait_note("app", "start")
    environment = start["environment"]
    assert environment["CURFEW_APP"] == "app"
    assert environment["CURFEW_SOCKET"] == board.application_socket
    assert environment["CURFEW_LAUNCH_REASON"] == "boot"
    assert environment["WATCHDOG_USEC"] == "20000000"
    assert environment["WATCHDOG_PID"] == str(start["pid"])
    assert os.path.exists(environment["NOTIFY_SOCKET"])
    assert environment["COLOUR"] == "green"
    assert environment["PATH"] == "/opt/bin"
    assert "SECRET_OF_THE_DAEMON" not in environment
    # Its delegate is a socket, and beside the standard ones the only thing it has. (One more is its own journal, one
    # more the folder that it lists.)
    delegate = environment["CURFEW_DELEGATE_FD"]
    assert start["descriptors"][delegate].startswith("socket:")
    mine = {key: value for key, value in start["descriptors"].items()
            if not value.endswith(".jsonl") and not value.startswith("/proc/") and not value.startswith(board.root)}
    assert set(mine) == {"0", "1", "2", delegate}
    assert mine["0"] == "/dev/null"
    # A session and a control group of its own; no signal of the daemon's is blocked or ignored.
    assert start["session"] == start["pid"]
    assert start["control_group"].endswith(f"{board.cgroup}/apps/app.1")
    assert int(start["blocked"], 16) == 0
    # Python itself ignores SIGPIPE and SIGXFSZ.
    assert int(start["ignored"], 16) & ~((1 << 12) | (1 << 24)) == 0
    assert start["directory"] == "/"
    assert start["umask"] == 0o022
    assert start["nice"] == 0
    assert start["user"] == os.getuid()
    assert start["parent"] == board.daemon.pid


def test_without_a_delegate_and_a_watchdog_there_are_no_such_variables(board):
    board.plain("app")
    board.start()
    board.wait_active("app")
    environment = board.wait_note("app", "start")["environment"]
    assert not {"CURFEW_DELEGATE_FD", "WATCHDOG_USEC", "WATCHDOG_PID"} & set(environment)


def test_user_group_directory_umask_and_nice(board):
    board.app("app", user="nobody", working_directory=str(board.journals), umask="0077", nice=5)
    board.app("grouped", user="nobody", group="daemon")
    board.start()
    board.wait_active("app", "grouped")
    nobody = pwd.getpwnam("nobody")
    start = board.wait_note("app", "start")
    assert (start["user"], start["group"]) == (nobody.pw_uid, nobody.pw_gid)
    assert set(start["groups"]) <= set(os.getgrouplist("nobody", nobody.pw_gid))
    assert start["directory"] == str(board.journals)
    assert start["umask"] == 0o077
    assert start["nice"] == 5
    assert start["environment"]["USER"] == "nobody"
    grouped = board.wait_note("grouped", "start")
    assert (grouped["user"], grouped["group"]) == (nobody.pw_uid, grp.getgrnam("daemon").gr_gid)


def test_the_descriptor_limit_is_not_the_daemon_s_own(board):
    command = f"ulimit -Sn > {board.journals}/limit; sleep 100"
    board.app_file("app", f'exec = ["/bin/sh", "-c", "{command}"]\nlaunch = "boot"\n')
    limit = (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    board.start(limits={resource.RLIMIT_NOFILE: limit})
    written = board.journals / "limit"
    wait_until(lambda: written.exists() and written.read_text().strip(), "the app has written its limit")
    assert written.read_text().strip() == "256"


@pytest.mark.parametrize("program, said", [
    ("/nonexistent/program", "No such file or directory"),
    ("/etc/passwd", "Permission denied"),
    ("/etc", "Permission denied"),
])
def test_a_program_that_cannot_be_started(board, program, said):
    board.app_file("app", f'exec = ["{program}"]\nrestart = "never"')
    board.app("other")
    board.start()
    error = board.error("Launch", app="app", background=None)
    assert error.name == "io.curfew.Control.AppEnded"
    termination = error.parameters["termination"]
    assert termination["namespace"] == "launchFailure"
    assert program in termination["explanation"]
    assert said in termination["explanation"]
    assert board.describe("app")["taskState"] == "notRunning"
    assert board.instances() == ["other"]
    board.wait_active("other")


def test_a_directory_that_is_not_there(board):
    board.plain("app", launch="manual", working_directory="/nonexistent", restart="never")
    board.start()
    termination = board.error("Launch", app="app", background=None).parameters["termination"]
    assert termination["namespace"] == "launchFailure"
    assert "/nonexistent" in termination["explanation"]


def test_launched_by_hand_and_launched_again(board):
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


def test_to_the_front_and_back(board):
    board.app("app", launch="manual")
    board.start()
    board.call("Activate", app="app")
    assert board.calls("app") == LAUNCH
    board.call("Background", app="app")
    assert board.calls("app")[2:] == ["WillResignActive", "DidEnterBackground"]
    board.wait_app("app", scenePhase="background", taskState="suspended")
    assert board.is_frozen("app")
    board.call("Activate", app="app")
    assert board.calls("app")[4:] == ["WillEnterForeground", "DidBecomeActive"]
    assert not board.is_frozen("app")
    assert board.describe("app")["launches"] == 1


def test_one_front_app_at_a_time(board):
    board.device(front="one")
    board.app("first", launch="manual")
    board.app("second", launch="manual")
    board.start()
    board.call("Activate", app="first")
    board.call("Activate", app="second")
    assert board.describe("second")["scenePhase"] == "active"
    board.wait_app("first", scenePhase="background", taskState="suspended")
    board.call("Activate", app="first")
    board.wait_app("second", scenePhase="background", taskState="suspended")


def test_one_that_is_never_frozen(board):
    board.app("modem", suspend=False)
    board.start()
    board.wait_active("modem")
    board.call("Background", app="modem")
    app = board.describe("modem")
    assert (app["scenePhase"], app["taskState"]) == ("background", "running")
    holds_for(0.3, lambda: not board.is_frozen("modem"), "it is not frozen")


def test_terminate_asks_first(board):
    board.app("app", "grandchild")
    board.start()
    board.wait_active("app")
    grandchild = board.wait_note("app", "grandchild")["pid"]
    board.call("Terminate", app="app", force=None)
    assert board.calls("app")[-1] == "WillTerminate"
    assert board.wait_call("app", "WillTerminate")["parameters"]["reason"] == "user"
    assert board.notes("app", "signal")[-1]["number"] == 15
    assert not cgroups.is_alive(grandchild)
    report = board.wait_termination("app")
    assert report["namespace"] == "user"
    # Ended by an operator: it stays down.
    holds_for(0.4, lambda: board.describe("app")["taskState"] == "notRunning", "it stays down")
    assert board.error("Terminate", app="app", force=None).name == "io.curfew.Control.NotRunning"


def test_terminate_with_force_kills_at_once(board):
    board.app("app", "hang:WillTerminate", allowances={"will_terminate": "20s"})
    board.start()
    board.wait_active("app")
    board.call("Terminate", app="app", force=True, timeout=5)
    assert "WillTerminate" not in board.calls("app")
    assert board.wait_termination("app")["namespace"] == "user"


@pytest.mark.parametrize("force", [True, False])
def test_ended_and_launched_again_in_one_breath(board, force):
    """Both calls are answered, whichever way it goes."""
    board.app("app", "slow:WillTerminate:0.2")
    board.start()
    board.wait_active("app")
    with board.wire() as ending, board.wire() as launching:
        ending.send("io.curfew.Control.Terminate", {"app": "app", "force": force})
        launching.send("io.curfew.Control.Launch", {"app": "app"})
        assert ending.reply() == {}
        try:
            launching.reply()
        except VarlinkError as error:
            assert error.short == "AppEnded"
    assert board.terminations("app")[0]["namespace"] == "user"


def test_ended_before_its_launch_began(board):
    """It waits for another app, is ended, and who wanted it launched is told."""
    board.app("storage", "slow:DidFinishLaunching:1")
    board.app("camera", after=["storage"], launch="manual")
    board.start()
    with board.wire() as launching:
        board.wait_call("storage", "DidFinishLaunching")
        launching.send("io.curfew.Control.Launch", {"app": "camera"})
        wait_until(lambda: terminated(board, "camera"), "the launch was heard, and ended")
        with pytest.raises(VarlinkError) as caught:
            launching.reply()
        assert caught.value.short == "Denied"
    board.wait_active("storage")
    assert board.describe("camera")["launches"] == 0


def terminated(board, name):
    try:
        board.call("Terminate", app=name, force=None)
    except VarlinkError as error:
        assert error.short == "NotRunning"
        return False
    return True


@pytest.mark.parametrize("behaviour, delegate, event", [
    ("hang:WillTerminate", "varlink", "WillTerminate"),
    ("ignore-term", "varlink", None),
    ("ignore-term", "none", None),
])
def test_who_does_not_end_in_time_is_killed(board, behaviour, delegate, event):
    board.app("app", behaviour, "grandchild", delegate=delegate, allowances={"will_terminate": "600ms"})
    board.start()
    board.wait_active("app")
    grandchild = board.wait_note("app", "grandchild")["pid"]
    board.call("Terminate", app="app", force=None)
    report = board.wait_termination("app")
    assert report["code"] == "0x8badf00d"
    assert report["event"] == event
    assert "process-exit" in report["explanation"]
    assert not cgroups.is_alive(grandchild)


def test_launched_in_order(board):
    board.app("storage", "slow:DidFinishLaunching:0.4")
    board.app("camera", after=["storage"])
    board.app("broken", "die:0:1", restart="never")
    board.app("patient", after=["broken"])
    board.start()
    board.wait_active("storage", "camera", "patient")
    answered = [n["t"] for n in board.notes("storage", "answered") if n["handler"] == "DidFinishLaunching"]
    assert board.wait_note("camera", "start")["t"] >= answered[0]


def test_a_hanging_launch_is_killed_and_tried_again(board):
    board.app("app", "hang:DidFinishLaunching", restart_limit=2, restart_delay="1ms",
              allowances={"did_finish_launching": "500ms"})
    board.start()
    report = board.wait_termination("app")
    assert report["code"] == "0x8badf00d"
    assert report["event"] == "DidFinishLaunching"
    assert "process-launch" in report["explanation"]
    assert report["wallSeconds"] >= 0.5
    board.wait_termination("app", 2)


def test_the_app_ends_while_a_call_waits_for_it(board):
    board.app("app", "exit:DidBecomeActive:7", launch="manual", restart="never")
    board.start()
    error = board.error("Activate", app="app")
    assert error.name == "io.curfew.Control.AppEnded"
    assert error.parameters["termination"]["namespace"] == "exit"
    assert int(error.parameters["termination"]["code"], 16) == 7
    assert error.parameters["termination"]["event"] == "DidBecomeActive"


def test_apps_and_the_end_of_their_main_process(board):
    """What a main process leaves behind is ended with it."""
    board.plain("app", "grandchild", "child", "usr1:exit=0", restart="never")
    board.start()
    board.wait_active("app")
    grandchild = board.wait_note("app", "grandchild")["pid"]
    child = board.wait_note("app", "child")["pid"]
    board.signal("app", 10)
    board.wait_app("app", taskState="notRunning")
    wait_until(lambda: not cgroups.is_alive(grandchild) and not cgroups.is_alive(child), "its children are gone")
    report = board.wait_termination("app")
    assert (report["namespace"], report["code"]) == ("exit", "0x0")
    wait_until(lambda: not (board.apps_group / "app.1").exists(), "its group is removed")
