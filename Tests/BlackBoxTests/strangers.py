"""Programs of a user that is no app's."""

import subprocess

STRANGER = {"user": 65534, "group": 65534, "extra_groups": []}


def stranger(code, *arguments, user=STRANGER["user"]):
    return subprocess.Popen(["/usr/bin/python3", "-c", code, *arguments], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True, **{**STRANGER, "user": user})


# Opens 200 connections, asks something on each, says how many were answered, and keeps them.
CROWD = """
import socket, sys
clients, answered = [], 0
for _ in range(200):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(5)
    try:
        client.connect(sys.argv[1])
        client.sendall(b'{"method":"org.varlink.service.GetInfo"}\\0')
        answered += bool(client.recv(65536))
    except OSError:
        pass
    clients.append(client)
print(answered, flush=True)
sys.stdin.read()
"""
