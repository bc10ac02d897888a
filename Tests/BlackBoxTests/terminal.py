"""A program on a terminal of its own."""

import os
import pty
import select
import termios
import time

from waiting import PATIENCE


class Terminal:
    def __init__(self, arguments, environment):
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.execve(arguments[0], arguments, environment)
        self.output = b""
        self.status = None

    def settings(self):
        """The local modes: what a program in raw mode switches off."""
        return termios.tcgetattr(self.descriptor)[3]

    def press(self, keys):
        os.write(self.descriptor, keys.encode())

    def wait_for(self, text, timeout=PATIENCE):
        self._read(timeout, lambda: text.encode() in self.output, text)

    def wait_end(self, timeout=PATIENCE):
        """The exit status, or minus a signal."""
        def has_ended():
            if self.status is None:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                self.status = os.waitstatus_to_exitcode(status) if pid else None
            return self.status is not None

        self._read(timeout, has_ended, "its end")
        return self.status

    def _read(self, timeout, condition, what):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, f"not within {timeout} s: {what}\n{self.output.decode()}"
            if select.select([self.descriptor], [], [], 0.02)[0]:
                try:
                    self.output += os.read(self.descriptor, 65536)
                except OSError:
                    # What a terminal says when its other end is closed.
                    condition()

    def close(self):
        if self.status is None:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        os.close(self.descriptor)
