"""A service manager that keeps descriptors for the main process after one that was killed (sd_notify's FDSTORE=1)."""

import fcntl
import os
import socket
import threading

import board as boards
from waiting import wait_until

FIRST = 3
# Over what a daemon has at its start.
ASIDE = 500


class Store:
    def __init__(self, board):
        self.board = board
        self.path = f"{board.root}/service-manager"
        self.kept = {}
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.lock = threading.Lock()
        self.heard = 0
        threading.Thread(target=self.hear, daemon=True).start()

    def hear(self):
        while True:
            text, descriptors, _, _ = socket.recv_fds(self.socket, 4096, 1)
            if not text:
                return
            words = dict(line.split("=", 1) for line in text.decode().splitlines())
            with self.lock:
                self.take(words, descriptors)

    def take(self, words, descriptors):
        self.heard += 1
        name = words.get("FDNAME")
        if "FDSTOREREMOVE" in words:
            for descriptor in self.kept.pop(name, []):
                os.close(descriptor)
        elif "FDSTORE" in words:
            self.kept.setdefault(name, []).extend(descriptors)
            descriptors = []
        for descriptor in descriptors:
            os.close(descriptor)

    def names(self):
        with self.lock:
            return sorted(self.kept)

    def start(self, wait=True):
        """A daemon that is given all that is kept."""
        with self.lock:
            all_kept = [(name, descriptor) for name, several in self.kept.items() for descriptor in several]

        assert len(all_kept) < ASIDE - FIRST

        def become():
            aside = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, ASIDE) for _, descriptor in all_kept]
            for place, descriptor in enumerate(aside):
                os.dup2(descriptor, FIRST + place)
                os.close(descriptor)
            variables = {**os.environ, "NOTIFY_SOCKET": self.path, "LISTEN_PID": str(os.getpid()),
                         "LISTEN_FDS": str(len(all_kept)), "LISTEN_FDNAMES": ":".join(name for name, _ in all_kept),
                         "DBUS_SYSTEM_BUS_ADDRESS": self.board.login.address if self.board.login else "unix:path=/none"}
            arguments = [boards.CURFEWD, "--root", self.board.root, "--cgroup", self.board.cgroup, "--no-board"]
            os.execve(arguments[0], arguments, variables)

        return self.board.start(prepare=become, wait=wait)

    def replace(self):
        """The daemon is killed, and another takes its place."""
        self.board.kill()
        self.start()

    def wait_kept(self, *names):
        wait_until(lambda: not set(names) - set(self.names()), lambda: f"kept: {self.names()}")

    def close(self):
        with self.lock:
            for name in list(self.kept):
                for descriptor in self.kept.pop(name):
                    os.close(descriptor)
        # The thread hears that it is over.
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
            last.sendto(b"", self.path)
