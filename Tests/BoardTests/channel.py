"""Lines of JSON over our end of a socket pair whose other end QEMU holds."""

import json
import socket
import time


class Gone(Exception):
    """The other end is closed."""


class Channel:
    def __init__(self):
        self.socket, self.other = socket.socketpair()
        self._pending = b""

    def send(self, message):
        self.socket.settimeout(60)
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, deadline):
        """The next message, or None when the deadline (time.monotonic) has passed."""
        while True:
            while b"\n" in self._pending:
                line, self._pending = self._pending.split(b"\n", 1)
                try:
                    return json.loads(line)
                except ValueError:
                    pass  # The rest of a line that a reset has cut short.
            # 0 takes what is there.
            self.socket.settimeout(max(deadline - time.monotonic(), 0))
            try:
                data = self.socket.recv(65536)
            except (TimeoutError, BlockingIOError):
                return None
            except ConnectionError:
                data = b""
            if not data:
                raise Gone
            self._pending += data

    def close(self):
        self.socket.close()
        self.other.close()
