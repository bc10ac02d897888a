"""Varlink over plain sockets: enough to call the daemon, and to send it what no client would."""

import json
import socket

TIMEOUT = 20.0


class VarlinkError(Exception):
    def __init__(self, name, parameters):
        super().__init__(f"{name} {parameters}")
        self.name = name
        self.parameters = parameters

    @property
    def short(self):
        return self.name.rpartition(".")[2]


class Closed(Exception):
    """The peer has closed the connection."""


class Wire:
    def __init__(self, path=None, timeout=TIMEOUT, connected=None):
        self.socket = connected or socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        self.socket.settimeout(timeout)
        if path:
            self.socket.connect(path)
        self.pending = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send_raw(self, data):
        self.socket.sendall(data)

    def send(self, method, parameters=None, **flags):
        message = {"method": method, **flags}
        if parameters is not None:
            message["parameters"] = parameters
        self.send_raw(json.dumps(message).encode() + b"\0")

    def receive(self):
        """The next message as it is."""
        while b"\0" not in self.pending:
            try:
                chunk = self.socket.recv(65536)
            except ConnectionResetError:
                raise Closed from None
            if not chunk:
                raise Closed
            self.pending += chunk
        message, _, self.pending = self.pending.partition(b"\0")
        return json.loads(message)

    def reply(self):
        """The parameters of the next reply; raises when it is an error."""
        message = self.receive()
        if "error" in message:
            raise VarlinkError(message["error"], message.get("parameters") or {})
        return message.get("parameters") or {}

    def call(self, method, parameters=None, **flags):
        self.send(method, parameters, **flags)
        return self.reply()

    def is_closed(self, timeout=TIMEOUT):
        """Reads until the peer closes; False when it does not."""
        self.socket.settimeout(timeout)
        try:
            while True:
                self.receive()
        except (Closed, BrokenPipeError):
            return True
        except TimeoutError:
            return False


class AppWire(Wire):
    """An app's connection to io.curfew.Application."""

    INTERFACE = "io.curfew.Application"

    def ask(self, method, **parameters):
        return self.call(f"{self.INTERFACE}.{method}", parameters)

    def refused(self, method, **parameters):
        """The error that a call ends with."""
        try:
            answer = self.ask(method, **parameters)
        except VarlinkError as error:
            return error
        raise AssertionError(f"{method} {parameters} was answered with {answer}")

    def begin(self, name="upload", **parameters):
        wish = {"name": name, "keepAwake": None, "processIdentifier": None, "timeAllowed": None, **parameters}
        return self.ask("BeginBackgroundTask", **wish)["identifier"]

    def begin_refused(self, name="upload", **parameters):
        wish = {"name": name, "keepAwake": None, "processIdentifier": None, "timeAllowed": None, **parameters}
        return self.refused("BeginBackgroundTask", **wish)

    def end(self, identifier):
        self.ask("EndBackgroundTask", identifier=identifier)

    def remaining(self):
        return self.ask("GetBackgroundTimeRemaining")["seconds"]


def one_call(path, method, parameters=None, timeout=TIMEOUT):
    with Wire(path, timeout) as wire:
        return wire.call(method, parameters)
