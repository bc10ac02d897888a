"""Varlink, as much as the benchmarks need of it."""

import json
import socket


class Refused(Exception):
    """A reply that is an error."""


class Wire:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(20)
        self.socket.connect(path)
        self.pending = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, method, more=False, **parameters):
        message = {"method": "io.curfew.Control." + method, "parameters": parameters}
        if more:
            message["more"] = True
        self.socket.sendall(json.dumps(message).encode() + b"\0")

    def receive(self):
        while b"\0" not in self.pending:
            chunk = self.socket.recv(1 << 20)
            if not chunk:
                raise ConnectionResetError("curfewd closed the connection")
            self.pending += chunk
        text, _, self.pending = self.pending.partition(b"\0")
        reply = json.loads(text)
        if "error" in reply:
            raise Refused(f"{reply['error']} {reply.get('parameters')}")
        return reply.get("parameters", {})

    def call(self, method, **parameters):
        self.send(method, **parameters)
        return self.receive()
