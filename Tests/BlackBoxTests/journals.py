"""journald, played: it takes what a daemon sends in the native protocol."""

import os
import re
import socket
import struct
import threading
from pathlib import Path

from waiting import wait_until

FIELD = re.compile(r"@([A-Z_]+)@")


class Journal:
    """Listens where the daemon of a root sends to. To be made before the daemon is started."""

    def __init__(self, root):
        path = Path(root) / "run/systemd/journal/socket"
        path.parent.mkdir(parents=True)
        self.socket = roomy_socket()
        self.socket.bind(str(path))
        os.chmod(path, 0o666)
        self.taken = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        """The daemon does not wait for its readers: what is not taken in time is lost."""
        while datagram := self.socket.recv(1 << 20):
            self.taken.append(parsed(datagram))

    def entries(self):
        """All up to now, each a dictionary."""
        return list(self.taken)

    def wait(self, message_id, **fields):
        """The first entry of that kind with these fields."""
        def found():
            wanted = {"MESSAGE_ID": message_id, **fields}
            return next((entry for entry in self.entries() if wanted.items() <= entry.items()), None)

        return wait_until(found, lambda: f"an entry {message_id} {fields}: {self.entries()}")

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.reader.join()
        self.socket.close()


def roomy_socket():
    """One with room for a burst, as journald's has; ten datagrams are usual for others."""
    limit = Path("/proc/sys/net/unix/max_dgram_qlen")
    try:
        before = limit.read_text()
        limit.write_text("512")
    except OSError:
        return socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        return socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    finally:
        limit.write_text(before)


def parsed(datagram):
    """NAME=value lines; or NAME, the value's length in 64 bits, and the value, which may hold any byte."""
    entry = {}
    while datagram:
        line, _, rest = datagram.partition(b"\n")
        name, is_plain, value = line.partition(b"=")
        if not is_plain:
            (length,) = struct.unpack_from("<Q", rest)
            value, rest = rest[8:8 + length], rest[8 + length + 1:]
        entry[name.decode()] = value.decode()
        datagram = rest
    return entry


class Explanation:
    """An entry of a catalog."""

    def __init__(self, text):
        head, _, self.body = text.partition("\n\n")
        self.id, *headers = head.splitlines()
        self.headers = dict(header.split(": ", 1) for header in headers if not header.startswith("#"))

    def fields(self):
        return set(FIELD.findall(self.headers["Subject"] + self.body))

    def of(self, entry):
        """As journalctl -x shows it under that entry."""
        return FIELD.sub(lambda found: entry.get(found[1], found[1]), f"{self.headers['Subject']}\n\n{self.body}")


def catalog(path):
    """Explanations by MESSAGE_ID."""
    _, *texts = re.split(r"^-- ", path.read_text(), flags=re.M)
    texts = [re.sub(r"^#.*\n", "", text, flags=re.M) for text in texts]
    return {explanation.id: explanation for explanation in map(Explanation, texts)}
