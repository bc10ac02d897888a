"""Plays curfewd for the tests of the Python client: the Application socket, and the other end of the delegate."""

import asyncio
import contextlib
import json
import os
import queue
import shutil
import signal
import socket
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

REPOSITORY = Path(__file__).resolve().parents[3]
CLIENT = REPOSITORY / "Sources/Clients/python"
sys.path.insert(0, str(CLIENT))

import curfew  # noqa: E402

PATIENCE = 20.0
MESSAGE_LIMIT = 1 << 20
APPLICATION = "io.curfew.Application."
DELEGATE = "io.curfew.Delegate."
SERVICE = "org.varlink.service."


class Hangup(Exception):
    """As an answer: the connection is closed without one."""


class Wire:
    """Messages over a socket."""

    def __init__(self, connection):
        self.socket = connection
        self.socket.settimeout(PATIENCE)
        self.pending = b""

    def send(self, message):
        self.send_raw(json.dumps(message).encode() + b"\0")

    def send_raw(self, data):
        self.socket.sendall(data)

    def receive(self):
        """The next message; None at the end."""
        while b"\0" not in self.pending:
            try:
                chunk = self.socket.recv(65536)
            except ConnectionResetError:
                return None
            if not chunk:
                return None
            self.pending += chunk
        message, _, self.pending = self.pending.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        """Calls a handler; its reply."""
        self.send({"method": DELEGATE + method, "parameters": parameters})
        return self.receive()

    def tell(self, method, **parameters):
        self.send({"method": DELEGATE + method, "parameters": parameters, "oneway": True})

    def close(self):
        # shutdown, as another thread may be in recv.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Device:
    """Serves io.curfew.Application, by default as a device with no limits."""

    def __init__(self, path):
        self.path = path
        self.calls = queue.Queue()
        # Connections that were upgraded by AttachDelegate.
        self.attached = queue.Queue()
        self.held = {}
        self.remaining = None
        self.last_identifier = 0
        # Answers of a test's own, by method: a function of the parameters, which returns what to reply.
        self.answers = {}
        self.start()

    def start(self):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen(64)
        self.wires = []
        self.accepting = threading.Thread(target=self.accept, args=[self.listener], daemon=True)
        self.accepting.start()

    def stop(self):
        """Is away, as a daemon that died."""
        # Wakes accept, which close does not.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.accepting.join(PATIENCE)
        self.listener.close()
        os.unlink(self.path)
        self.disconnect()

    def disconnect(self):
        wires, self.wires = self.wires, []
        for wire in wires:
            wire.close()

    def restart(self):
        self.stop()
        self.start()

    def accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            wire = Wire(connection)
            connection.settimeout(None)
            self.wires.append(wire)
            threading.Thread(target=self.serve, args=[wire], daemon=True).start()

    def serve(self, wire):
        try:
            while True:
                call = wire.receive()
                if call is None or not self.answer(wire, call):
                    return
        except (OSError, Hangup):
            wire.close()

    def answer(self, wire, call):
        method = call["method"].rpartition(".")[2]
        parameters = call.get("parameters", {})
        self.calls.put((method, parameters))
        answer = self.answers.get(method, getattr(self, method))(parameters)
        if isinstance(answer, bytes):
            wire.send_raw(answer)
            return True
        error = answer.pop("error", None)
        wire.send({"error": error, "parameters": answer} if error else {"parameters": answer})
        if method == "AttachDelegate" and not error:
            self.attached.put(wire)
            return False
        return True

    def GetState(self, _):
        tasks = [
            {"identifier": identifier, "name": task["name"], "keepAwake": bool(task["keepAwake"]), "secondsHeld": 1.5}
            for identifier, task in self.held.items()]
        return {
            "state": {
                "app": "camera", "scenePhase": "background", "taskState": "running",
                "backgroundTimeRemaining": self.remaining, "backgroundRefreshStatus": "available",
                "lowPowerMode": False, "thermalState": "nominal"},
            "tasks": tasks}

    def BeginBackgroundTask(self, parameters):
        self.last_identifier += 1
        self.held[self.last_identifier] = parameters
        return {"identifier": self.last_identifier, "timeRemaining": self.remaining}

    def EndBackgroundTask(self, parameters):
        if self.held.pop(parameters["identifier"], None) is None:
            return {"error": APPLICATION + "NoSuchBackgroundTask", **parameters}
        return {}

    def GetBackgroundTimeRemaining(self, _):
        return {"seconds": self.remaining}

    def SetMinimumBackgroundFetchInterval(self, parameters):
        asked = parameters["seconds"]
        return {"effective": None if asked is None else max(900.0, asked)}

    def AttachDelegate(self, _):
        return {}

    def next_call(self):
        return self.calls.get(timeout=PATIENCE)

    def next_attached(self):
        return self.attached.get(timeout=PATIENCE)

    def methods(self):
        """All calls so far."""
        found = []
        with contextlib.suppress(queue.Empty):
            while True:
                found.append(self.calls.get_nowait()[0])
        return found


class ClientTest(unittest.TestCase):
    """With a played device, `self.device`, and the device's end of an inherited delegate, `self.delegate`."""

    inherits = True

    def setUp(self):
        # A script's background job ignores it, and so would every program that the job starts.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        self.folder = tempfile.mkdtemp(prefix="curfew-client-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.device = Device(os.path.join(self.folder, "application"))
        self.addCleanup(self.device.stop)
        self.set_environment(CURFEW_APP="camera", CURFEW_SOCKET=self.device.path, CURFEW_LAUNCH_REASON="boot")
        if self.inherits:
            ours, theirs = socket.socketpair()
            self.delegate = Wire(ours)
            self.addCleanup(self.delegate.close)
            os.environ["CURFEW_DELEGATE_FD"] = str(theirs.detach())
        self.app = curfew.App()
        self.addCleanup(self.app._client.close)
        if self.inherits:
            self.addCleanup(self.app._inherited.close)

    def set_environment(self, **variables):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CURFEW_")}
        patch = mock.patch.dict(os.environ, {**kept, **variables}, clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    def start(self):
        """Serves on a thread, until the end of the test."""
        self.app.start()
        self.addCleanup(self.finish)

    def serve(self):
        """The same on an asyncio loop."""
        thread = threading.Thread(target=lambda: asyncio.run(self.app.serve()))
        thread.start()
        self.addCleanup(thread.join, PATIENCE)
        self.addCleanup(self.app.stop)

    def finish(self):
        self.app.stop()
        self.wait_served()

    def wait_served(self):
        """Returns when nothing serves any more."""
        self.assertTrue(self.app._serving.acquire(timeout=PATIENCE), "it is still being served")
        self.app._serving.release()

    def fails(self, error):
        """A reply of the device's."""
        return lambda _: {"error": error}

    def says(self, level="WARNING"):
        return self.assertLogs("curfew", level)
