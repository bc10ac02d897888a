"""A TCP socket whose close(2) waits for a peer that does not read. Its text also stands before programs of other users,
who may not read it here."""

import socket
import struct


def listener():
    """With little room, so that a machine that is slow fills it soon."""
    server = socket.create_server(("127.0.0.1", 0))
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    return server


def lingering(server, seconds=5):
    """The socket, and the one at its other end, which is to be kept."""
    sender = socket.socket()
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    sender.connect(server.getsockname())
    keeps = server.accept()[0]
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, seconds))
    sender.setblocking(False)
    try:
        while True:
            sender.send(b"x" * 4096)
    except BlockingIOError:
        return sender, keeps
