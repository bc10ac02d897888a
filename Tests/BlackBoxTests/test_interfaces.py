"""The Varlink interfaces, called by hand."""

import os
import stat

import pytest
from waiting import wait_until
from wire import VarlinkError, Wire, one_call

CONTROL = "io.curfew.Control"
APPLICATION = "io.curfew.Application"
SERVICE = "org.varlink.service"
APP_MEMBERS = {
    "name", "invalid", "problems", "scenePhase", "taskState", "mainPID", "priorityBand", "backgroundModes",
    "backgroundRefresh", "backgroundTimeRemaining", "statusText", "memoryBytes", "launches", "leftDown",
    "lastTermination"}
DEVICE_MEMBERS = {
    "sleepState", "sleepId", "externalPower", "batteryLevel", "lowPowerMode", "thermalState", "memoryPressure",
    "profile", "inhibitDelayMax", "hardwareWatchdog", "hardwareWatchdogProblem", "underVoltage", "limit", "polled",
    "bootCause", "bootWasOrderly", "freezingProblem"}
TERMINATION_MEMBERS = {
    "app", "time", "namespace", "code", "reason", "explanation", "event", "timeAllowance", "wallSeconds", "cpuSeconds",
    "report"}


def fails(path, method, parameters=None, **flags):
    with Wire(path) as wire:
        try:
            answer = wire.call(method, parameters, **flags)
        except VarlinkError as error:
            return error
    raise AssertionError(f"{method} {parameters} was answered with {answer}")


def test_sockets_and_who_may_use_them(board):
    board.start()
    control = os.stat(board.control_socket)
    application = os.stat(board.application_socket)
    assert stat.S_ISSOCK(control.st_mode) and stat.S_ISSOCK(application.st_mode)
    assert stat.S_IMODE(control.st_mode) == 0o660
    assert stat.S_IMODE(application.st_mode) == 0o666


def test_the_sockets_are_gone_with_the_daemon(board):
    board.start()
    assert board.stop() == 0
    assert not os.path.exists(board.control_socket)
    assert not os.path.exists(board.application_socket)


@pytest.mark.parametrize("name", [CONTROL, APPLICATION])
def test_the_service_says_what_it_is(board, name):
    board.start()
    path = board.control_socket if name == CONTROL else board.application_socket
    info = one_call(path, f"{SERVICE}.GetInfo")
    assert set(info) == {"vendor", "product", "version", "url", "interfaces"}
    assert all(isinstance(info[key], str) for key in ("vendor", "product", "version", "url"))
    assert set(info["interfaces"]) == {SERVICE, name}
    described = one_call(path, f"{SERVICE}.GetInterfaceDescription", {"interface": name})["description"]
    assert f"interface {name}" in described
    assert "interface org.varlink.service" in one_call(
        path, f"{SERVICE}.GetInterfaceDescription", {"interface": SERVICE})["description"]
    error = fails(path, f"{SERVICE}.GetInterfaceDescription", {"interface": "io.curfew.Nothing"})
    assert error.name in (f"{SERVICE}.InterfaceNotFound", f"{SERVICE}.InvalidParameter")


def test_what_is_not_there(board):
    board.start()
    error = fails(board.control_socket, "io.curfew.Nothing.Do")
    assert (error.name, error.parameters) == (f"{SERVICE}.InterfaceNotFound", {"interface": "io.curfew.Nothing"})
    error = fails(board.control_socket, f"{CONTROL}.Nothing")
    assert error.name == f"{SERVICE}.MethodNotFound"
    # The two sockets do not serve each other's interface.
    assert fails(board.application_socket, f"{CONTROL}.List").name == f"{SERVICE}.InterfaceNotFound"
    assert fails(board.control_socket, f"{APPLICATION}.GetState").name == f"{SERVICE}.InterfaceNotFound"


@pytest.mark.parametrize("method, parameters, parameter", [
    ("Launch", {}, "app"),
    ("Launch", {"app": 5, "background": None}, "app"),
    ("Launch", {"app": None}, "app"),
    ("Launch", {"app": "app", "background": "yes"}, "background"),
    ("Terminate", {"app": "app", "force": 1}, "force"),
    ("Activate", {"app": ["app"]}, "app"),
    ("Describe", {"app": {"name": "app"}}, "app"),
    ("PrepareForSleep", {}, "start"),
    ("PrepareForSleep", {"start": "true"}, "start"),
    ("PrepareForSleep", {"start": True, "kind": 4}, "kind"),
    ("ListTerminations", {"app": 1}, "app"),
    ("ListTerminations", {"app": None, "since": 1.5}, "since"),
])
def test_wrong_parameters(board, method, parameters, parameter):
    board.app("app", launch="manual")
    board.start()
    error = fails(board.control_socket, f"{CONTROL}.{method}", parameters)
    assert (error.name, error.parameters) == (f"{SERVICE}.InvalidParameter", {"parameter": parameter})
    assert board.describe("app")["launches"] == 0
    assert board.device_state()["sleepState"] == "awake"


def test_nullable_parameters_may_be_left_out(board):
    board.app("app", launch="manual")
    board.start()
    one_call(board.control_socket, f"{CONTROL}.Launch", {"app": "app"})
    one_call(board.control_socket, f"{CONTROL}.PrepareForSleep", {"start": True})
    one_call(board.control_socket, f"{CONTROL}.PrepareForSleep", {"start": False})
    one_call(board.control_socket, f"{CONTROL}.Terminate", {"app": "app"})
    assert len(one_call(board.control_socket, f"{CONTROL}.ListTerminations")["terminations"]) == 1


def test_every_member_is_there(board):
    board.app("app", "usr1:abort", restart_delay="1ms")
    login = board.with_login(delay=7)
    board.start()
    board.wait_active("app")
    login.wait_held("sleep")
    assert set(board.list()["app"]) == APP_MEMBERS
    answer = board.call("Describe", app="app")
    assert set(answer) == {"app", "tasks"} and answer["tasks"] == []
    device = board.device_state()
    assert set(device) == DEVICE_MEMBERS
    assert (device["sleepState"], device["sleepId"], device["inhibitDelayMax"]) == ("awake", 0, 7)
    assert device["thermalState"] in ("nominal", "fair", "serious", "critical")
    board.signal("app", 10)
    report = board.wait_termination("app")
    assert set(report) == TERMINATION_MEMBERS
    assert report["time"].endswith("Z") and report["time"][10] == "T"


def test_no_such_app(board):
    board.start()
    for method in ("Describe", "Launch", "Activate", "Background", "Terminate"):
        error = fails(board.control_socket, f"{CONTROL}.{method}", {"app": "nobody"})
        assert (error.name, error.parameters) == (f"{CONTROL}.NoSuchApp", {"app": "nobody"}), method


def test_not_running(board):
    board.app("app", launch="manual")
    board.start()
    for method in ("Background", "Terminate"):
        error = fails(board.control_socket, f"{CONTROL}.{method}", {"app": "app"})
        assert (error.name, error.parameters) == (f"{CONTROL}.NotRunning", {"app": "app"}), method


def test_an_invalid_app(board):
    board.app_file("bad", 'exec = "not an array"\n')
    board.start()
    bad = board.describe("bad")
    assert set(bad) == APP_MEMBERS and bad["problems"] == [bad["invalid"]]
    error = fails(board.control_socket, f"{CONTROL}.Launch", {"app": "bad"})
    assert error.name == f"{CONTROL}.Denied"
    assert error.parameters == {"reason": "invalid configuration", "kind": "invalidConfiguration"}


def test_get_state_from_within_an_app_and_from_outside(board):
    board.app("app", "usr1:state")
    board.start()
    board.wait_active("app")
    board.signal("app", 10)
    answer = board.wait_note("app", "state")["answer"]
    assert "error" not in answer
    assert answer["parameters"]["tasks"] == []
    state = answer["parameters"]["state"]
    assert (state["app"], state["scenePhase"], state["taskState"]) == ("app", "active", "running")
    assert state["backgroundRefreshStatus"] == "available"
    assert state["thermalState"] == "nominal"
    assert fails(board.application_socket, f"{APPLICATION}.GetState").name == f"{APPLICATION}.NotAnApp"


def test_a_grandchild_is_the_app_too(board):
    text = ("import os, sys\n"
            "sys.argv[2:] = ['state']\n"
            "if os.fork() == 0:\n"
            "    os.setsid()\n"
            "    exec(open(sys.argv[0].replace('forks', 'sample_app')).read())\n"
            "import time; time.sleep(1000)\n")
    (board.programs / "forks.py").write_text(text)
    board.app_file("app", f'exec = ["/usr/bin/python3", "{board.programs}/forks.py", "{board.journal("app")}"]\n'
                          'launch = "boot"\n')
    board.start()
    answer = board.wait_note("app", "state")["answer"]
    assert answer["parameters"]["state"]["app"] == "app"


def test_monitor_needs_more(board):
    board.start()
    assert fails(board.control_socket, f"{CONTROL}.Monitor").name == f"{SERVICE}.ExpectedMore"


def test_monitor_tells_the_state_and_every_change(board):
    board.app("app", "usr1:abort", restart_delay="1ms")
    board.app_file("bad", "exec = 1\n")
    board.start()
    board.wait_active("app")
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
        assert first[2]["parameters"]["detail"]["invalid"]

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
        until("app", launches=2)


def test_monitors_come_and_go(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    folder = f"/proc/{board.daemon.pid}/fd"
    before = len(os.listdir(folder))
    wires = [board.wire() for _ in range(10)]
    for wire in wires:
        wire.send(f"{CONTROL}.Monitor", more=True)
        wire.receive()
    for wire in wires:
        wire.close()
    board.call("Background", app="app")
    wait_until(lambda: len(os.listdir(folder)) <= before + 1, "their descriptors are closed")


def test_oneway_is_not_answered(board):
    board.app("app", launch="manual")
    board.start()
    with board.wire() as wire:
        wire.send(f"{CONTROL}.Launch", {"app": "app", "background": None}, oneway=True)
        # The next answer is that of the next call.
        assert "device" in wire.call(f"{CONTROL}.DescribeDevice")
    board.wait_active("app")


def test_methods_that_come_later_say_so(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    error = fails(board.control_socket, f"{CONTROL}.SetBackgroundRefresh", {"app": None, "enabled": True})
    assert error.name == f"{SERVICE}.MethodNotImplemented"
    error = fails(board.application_socket, f"{APPLICATION}.GetBackgroundTimeRemaining")
    assert error.name in (f"{SERVICE}.MethodNotImplemented", f"{APPLICATION}.NotAnApp")


def test_a_caller_that_goes_away_takes_nothing_with_it(board):
    board.app("app", "slow:DidFinishLaunching:0.4", launch="manual")
    board.start()
    wire = board.wire()
    wire.send(f"{CONTROL}.Launch", {"app": "app", "background": None})
    board.wait_call("app", "DidFinishLaunching")
    wire.close()
    board.wait_active("app")
