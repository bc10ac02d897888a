"""The Varlink interfaces, called by hand, by the tool, and by a client that is not ours: PyPI's varlink."""

import os
import stat
import subprocess
import sys
import threading

import board as boards
import pytest
from waiting import wait_until
from wire import VarlinkError

CONTROL = "io.curfew.Control"
APPLICATION = "io.curfew.Application"
SERVICE = "org.varlink.service"
APP_MEMBERS = {
    "name", "invalid", "problems", "scenePhase", "taskState", "mainPID", "priorityBand", "backgroundModes",
    "backgroundRefresh", "backgroundTimeRemaining", "statusText", "memoryBytes", "launches", "leftDown",
    "user", "sandbox", "sandboxHas", "sandboxLacks", "lastTermination"}
DEVICE_MEMBERS = {
    "sleepState", "sleepId", "externalPower", "batteryLevel", "lowPowerMode", "thermalState", "memoryPressure",
    "profile", "inhibitDelayMax", "hardwareWatchdog", "hardwareWatchdogProblem", "underVoltage", "limit", "polled",
    "bootCause", "bootWasOrderly", "freezingProblem"}
TERMINATION_MEMBERS = {
    "app", "time", "namespace", "code", "reason", "explanation", "event", "timeAllowance", "wallSeconds", "cpuSeconds",
    "report"}


def test_sockets_on_a_board_without_configuration(board):
    os.rmdir(board.apps_folder)
    os.rmdir(board.apps_folder.parent)
    board.start()
    for path, mode in ((board.control_socket, 0o660), (board.application_socket, 0o666)):
        status = os.stat(path)
        assert stat.S_ISSOCK(status.st_mode) and stat.S_IMODE(status.st_mode) == mode, path
    assert board.list() == {}
    assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == []
    assert board.stop() == 0
    assert not os.path.exists(board.control_socket) and not os.path.exists(board.application_socket)


def test_a_call_that_fails_says_why(board):
    board.app("app", launch="manual")
    board.app_file("bad", 'exec = "not an array"\n')
    board.start()
    refusals = [
        *((method, {"app": "nobody"}, f"{CONTROL}.NoSuchApp", {"app": "nobody"})
          for method in ("Describe", "Launch", "Activate", "Background", "Terminate")),
        *((method, {"app": "app"}, f"{CONTROL}.NotRunning", {"app": "app"}) for method in ("Background", "Terminate")),
        ("Launch", {"app": "bad"}, f"{CONTROL}.Denied",
         {"reason": "invalid configuration", "kind": "invalidConfiguration"}),
        ("Monitor", {}, f"{SERVICE}.ExpectedMore", {}),
        ("SetBackgroundRefresh", {"app": None, "enabled": True}, f"{SERVICE}.MethodNotImplemented",
         {"method": f"{CONTROL}.SetBackgroundRefresh"}),
    ]
    for method, parameters, name, members in refusals:
        error = board.error(method, **parameters)
        assert (error.name, error.parameters) == (name, members), (method, parameters)
    assert set(board.describe("bad")) == APP_MEMBERS
    answer = board.call("Describe", app="app")
    assert set(answer) == {"app", "tasks"} and answer["tasks"] == []


def test_a_launch_comes_about_though_nobody_waits_for_its_answer(board):
    board.app("oneway", launch="manual")
    board.app("left", "slow:DidFinishLaunching:0.4", launch="manual")
    board.start()
    with board.wire() as wire:
        wire.send(f"{CONTROL}.Launch", {"app": "oneway", "background": None}, oneway=True)
        # The next answer is that of the next call.
        assert "device" in wire.call(f"{CONTROL}.DescribeDevice")
        board.wait_active("oneway")
        wire.send(f"{CONTROL}.Launch", {"app": "left", "background": None})
        board.wait_call("left", "DidFinishLaunching")
    board.wait_active("left")


def test_a_launch_that_a_shutdown_ends_is_answered(board):
    board.app("camera", "slow:DidFinishLaunching:1", launch="manual", start="background")
    login = board.with_login()
    board.start()
    login.wait_held("shutdown")
    tool = subprocess.Popen(
        [boards.CURFEW, "--root", board.root, "launch", "--background", "camera"], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True)
    board.wait_call("camera", "DidFinishLaunching")
    login.shutdown(True)
    login.wait_closed("shutdown")
    login.shutdown(False)
    answer, _ = tool.communicate(timeout=boards.PATIENCE)
    assert tool.returncode == 1 and "camera ended while it was being launched" in answer
    # It is back, as the shutdown was called off.
    wait_until(lambda: board.describe("camera")["launches"] == 2, "camera comes back")


def test_monitors_that_go_leave_nothing(board):
    board.start()
    before = board.descriptors()
    wires = [board.wire() for _ in range(10)]
    for wire in wires:
        wire.send(f"{CONTROL}.Monitor", more=True)
        wire.receive()
    for wire in wires:
        wire.close()
    wait_until(lambda: board.descriptors() <= before, "their descriptors are closed")


def test_monitor_tells_the_state_and_every_change(board):
    board.app("app", "usr1:abort", restart_delay="1ms")
    board.app_file("bad", "exec = 1\n")
    login = board.with_login(delay=7)
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    device = board.device_state()
    assert set(device) == DEVICE_MEMBERS
    assert (device["sleepState"], device["sleepId"], device["inhibitDelayMax"]) == ("awake", 0, 7)
    with board.wire() as wire:
        wire.send(f"{CONTROL}.Monitor", more=True)
        first = []
        while not first or first[-1]["parameters"]["kind"] != "synchronized":
            first.append(wire.receive())
        assert all(message["continues"] for message in first)
        said = [(m["parameters"]["kind"], m["parameters"]["app"]) for m in first]
        assert said == [("device", None), ("app", "app"), ("app", "bad"), ("synchronized", None)]
        assert set(first[0]["parameters"]["detail"]) == DEVICE_MEMBERS
        assert set(first[1]["parameters"]["detail"]) == APP_MEMBERS
        bad = first[2]["parameters"]["detail"]
        assert bad["invalid"] and bad["problems"] == [bad["invalid"]]

        def until(kind, **members):
            while True:
                change = wire.receive()["parameters"]
                if change["kind"] == kind and all(change["detail"][key] == value for key, value in members.items()):
                    return change

        board.call("Background", app="app")
        until("app", scenePhase="inactive")
        until("app", scenePhase="background", taskState="suspended")
        board.call("Activate", app="app")
        until("app", scenePhase="active", taskState="running")
        board.call("PrepareForSleep", start=True, kind=None)
        until("device", sleepState="preparing", sleepId=1)
        until("device", sleepState="asleep")
        board.call("PrepareForSleep", start=False, kind=None)
        until("device", sleepState="awake")
        board.wait_active("app")
        board.signal("app", 10)
        ended = until("termination", app="app", namespace="crash")
        assert set(ended["detail"]) == TERMINATION_MEMBERS and ended["detail"]["reason"] == "signalled"
        assert ended["app"] == "app"
        assert ended["detail"]["time"].endswith("Z") and ended["detail"]["time"][10] == "T"
        until("app", launches=2)


@pytest.fixture
def varlink():
    try:
        import varlink as module
    except ImportError:
        pytest.fail("PyPI's varlink 31.0.0 is missing; deploy/test installs it into .build/python")
    return module


def open_client(varlink, path):
    return varlink.Client.new_with_address(f"unix:{path}")


def test_another_client_calls_methods_gets_errors_and_streams(board, varlink):
    board.app("app", launch="manual")
    board.start()
    for name, path in {CONTROL: board.control_socket, APPLICATION: board.application_socket}.items():
        with open_client(varlink, path) as client:
            assert set(client.get_interfaces()) == {SERVICE, name}
            # It parses each description by its own grammar.
            assert client.get_interface(name).name == name
    with open_client(varlink, board.control_socket) as client, open_client(varlink, board.control_socket) as other:
        control, monitor = client.open(CONTROL), other.open(CONTROL)
        assert [app["name"] for app in control.List()["apps"]] == ["app"]
        changes = monitor.Monitor(_more=True)
        assert [next(changes)["kind"] for _ in range(3)] == ["device", "app", "synchronized"]
        control.Launch("app", False)
        assert control.Describe("app")["app"]["scenePhase"] == "active"
        assert control.PrepareForSleep(True, None) == {"sleepId": 1, "killed": []}
        assert control.DescribeDevice()["device"]["sleepState"] == "asleep"
        while (change := next(changes))["kind"] != "app" or change["detail"]["taskState"] != "suspended":
            pass
        control.PrepareForSleep(False, None)
        with pytest.raises(varlink.VarlinkError) as caught:
            control.Describe("nobody")
        assert caught.value.error() == f"{CONTROL}.NoSuchApp"
        with pytest.raises(varlink.InvalidParameter):
            control.Launch(5, False)
        control.close()
        monitor.close()


ASKS = """
import json, os, signal, sys
sys.path += FOLDERS
import varlink

def note(event, **details):
    with open(sys.argv[1], "a") as journal:
        journal.write(json.dumps({"event": event, "pid": os.getpid(), **details}) + "\\n")

def ask(event):
    client = varlink.Client.new_with_address("unix:" + os.environ["CURFEW_SOCKET"])
    note(event, **client.open("io.curfew.Application").GetState())

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
note("waits")
signal.sigwait([signal.SIGUSR1])
ask("main")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: ask("grandchild")
signal.pause()
"""


def test_all_processes_of_an_app_are_the_app_and_no_others(board, varlink):
    """GetState by a program that uses the library, by its grandchild, and by us, who are no app."""
    folders = [path for path in sys.path if path.endswith("site-packages")]
    (board.programs / "asks.py").write_text(ASKS.replace("FOLDERS", repr(folders)))
    board.plain("app", exec=[sys.executable, f"{board.programs}/asks.py", str(board.journal("app"))])
    board.samples.discard("app")
    board.start()
    board.wait_active("app")
    os.kill(board.wait_note("app", "waits")["pid"], 10)
    for event in ("main", "grandchild"):
        answer = board.wait_note("app", event)
        assert answer["tasks"] == [], event
        state = answer["state"]
        assert (state["app"], state["scenePhase"], state["taskState"]) == ("app", "active", "running"), event
        assert (state["backgroundRefreshStatus"], state["thermalState"]) == ("available", "nominal"), event
    with open_client(varlink, board.application_socket) as client:
        application = client.open(APPLICATION)
        with pytest.raises(varlink.VarlinkError) as caught:
            application.GetState()
        assert caught.value.error() == f"{APPLICATION}.NotAnApp"
        application.close()


def test_what_a_monitor_hears_comes_after_the_first_state(board):
    board.app("app", "slow:WillTerminate:1", allowances={"will_terminate": "5s"}, restart="never")
    board.start()
    board.wait_active("app")
    with board.wire() as wire:
        wire.send(f"{CONTROL}.Terminate", {"app": "app", "force": None})
        wire.send(f"{CONTROL}.Monitor", {}, more=True)
        wire.reply()
        kinds = [wire.reply()["kind"] for _ in range(3)]
    assert kinds[0] == "device", kinds
