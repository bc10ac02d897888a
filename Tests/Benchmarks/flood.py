"""A flood, as its own process: run by floods.py as a stranger, as an operator or as an app.

    flood.py messages|endless|crowd SOCKET     a stranger's or an operator's
    flood.py notify|status|orphans|lines       an app's
"""

import os
import socket
import sys
import time

CONNECTIONS = 64


def connections(path):
    """As many as the daemon keeps, open all the time."""
    clients = []
    for _ in range(CONNECTIONS):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(0.05)
        try:
            client.connect(path)
            clients.append(client)
        except OSError:
            client.close()
    return clients


def speak(path, message):
    """The same message on all connections without end; one that is closed is opened again."""
    while True:
        for client in connections(path):
            try:
                client.sendall(message)
            except OSError:
                pass
            client.close()


def notify(message):
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sender.connect(os.environ["NOTIFY_SOCKET"])
    number = 0
    while True:
        number += 1
        sender.send(message(number))


def orphans():
    while True:
        if os.fork() == 0:
            if os.fork() == 0:
                os._exit(0)
            os._exit(0)
        os.wait()


def lines():
    """60 KiB, and the end: its restart follows."""
    os.write(1, b"x" * 79 + b"\n" * (60 << 10))


def main():
    kind, *place = sys.argv[1:]
    if kind == "messages":
        call = b'{"method":"io.curfew.Application.GetState","parameters":{"x":"'
        speak(place[0], call + b"x" * (1 << 20) + b'"}}\0')
    elif kind == "endless":
        speak(place[0], b"x" * (1 << 20))
    elif kind == "crowd":
        kept = connections(place[0])
        print(len(kept), flush=True)
        time.sleep(10_000)  # not a wait: it keeps them until it is ended
    elif kind == "notify":
        notify(lambda number: b"MAINPID=1\n" * 400)
    elif kind == "status":
        notify(lambda number: b"STATUS=%d\n" % number)
    elif kind == "orphans":
        orphans()
    else:
        lines()


main()
