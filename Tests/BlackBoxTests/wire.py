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
    def __init__(self, path, timeout=TIMEOUT):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        self.socket.settimeout(timeout)
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


def one_call(path, method, parameters=None, timeout=TIMEOUT):
    with Wire(path, timeout) as wire:
        return wire.call(method, parameters)
