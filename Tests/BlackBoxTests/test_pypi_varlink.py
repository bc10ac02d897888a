"""A client that is not ours: PyPI's varlink."""

import threading

import pytest


@pytest.fixture
def varlink():
    try:
        import varlink as module
    except ImportError:
        pytest.fail("PyPI's varlink 31.0.0 is missing; deploy/test installs it into .build/python")
    return module


def open_client(varlink, path):
    return varlink.Client.new_with_address(f"unix:{path}")


def test_it_lists_the_interfaces(board, varlink):
    board.start()
    sockets = {"io.curfew.Control": board.control_socket, "io.curfew.Application": board.application_socket}
    for name, path in sockets.items():
        with open_client(varlink, path) as client:
            assert set(client.get_interfaces()) == {"org.varlink.service", name}
            # It parses each description by its own grammar.
            interface = client.get_interface(name)
            assert interface.name == name


def test_it_calls_methods_and_gets_errors(board, varlink):
    board.app("app", launch="manual")
    board.start()
    with open_client(varlink, board.control_socket) as client:
        control = client.open("io.curfew.Control")
        assert [app["name"] for app in control.List()["apps"]] == ["app"]
        control.Launch("app", False)
        assert control.Describe("app")["app"]["scenePhase"] == "active"
        assert control.PrepareForSleep(True, None) == {"sleepId": 1, "killed": []}
        assert control.DescribeDevice()["device"]["sleepState"] == "asleep"
        control.PrepareForSleep(False, None)
        with pytest.raises(varlink.VarlinkError) as caught:
            control.Describe("nobody")
        assert caught.value.error() == "io.curfew.Control.NoSuchApp"
        with pytest.raises(varlink.InvalidParameter):
            control.Launch(5, False)
        control.close()


def test_it_streams_monitor(board, varlink):
    board.app("app")
    board.start()
    board.wait_active("app")
    with open_client(varlink, board.control_socket) as client:
        control = client.open("io.curfew.Control")
        changes = control.Monitor(_more=True)
        kinds = []
        for change in changes:
            kinds.append(change["kind"])
            if change["kind"] == "synchronized":
                break
        assert kinds == ["device", "app", "synchronized"]
        worker = threading.Thread(target=lambda: board.call("Background", app="app"))
        worker.start()
        for change in changes:
            if change["kind"] == "app" and change["detail"]["taskState"] == "suspended":
                break
        worker.join()
        control.close()


def test_it_asks_from_within_an_app(board, varlink):
    """GetState by a program that uses the library, and by us, who are no app."""
    import sys

    folders = [path for path in sys.path if path.endswith("site-packages")]
    text = ("import json, os, sys\n"
            f"sys.path += {folders!r}\n"
            "import varlink\n"
            "client = varlink.Client.new_with_address('unix:' + os.environ['CURFEW_SOCKET'])\n"
            "state = client.open('io.curfew.Application').GetState()['state']\n"
            "open(sys.argv[1], 'w').write(json.dumps({'event': 'state', 'pid': os.getpid(), **state}) + '\\n')\n"
            "import time; time.sleep(1000)\n")
    (board.programs / "asks.py").write_text(text)
    board.app_file("app", f'exec = ["{sys.executable}", "{board.programs}/asks.py", "{board.journal("app")}"]\n'
                          'launch = "boot"\n')
    board.start()
    assert board.wait_note("app", "state")["app"] == "app"
    with open_client(varlink, board.application_socket) as client:
        application = client.open("io.curfew.Application")
        with pytest.raises(varlink.VarlinkError) as caught:
            application.GetState()
        assert caught.value.error() == "io.curfew.Application.NotAnApp"
        application.close()
