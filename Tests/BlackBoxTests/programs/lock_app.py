"""An app that has to do with a delay lock of logind's, which is the open end of a FIFO, and writes down what it does.

lock_app.py JOURNAL ROLE ARGUMENT...

    inherit FIFO        a helper takes the lock, leaves it to its parent, and ends
    give FIFO SOCKET    takes it, gives it away by a socket, and ends
    get SOCKET          gets it there
    hide SOCKET         gets it there, in a thread that has its descriptors for itself
    bury SOCKET         gets it there, below much else that it has open
    idle                has none

An app that has it lets go at SIGUSR1.
"""

import ctypes
import json
import os
import resource
import signal
import socket
import sys
import threading

CLONE_FILES = 0x400
journal, role, *arguments = sys.argv[1:]


def note(event, **details):
    with open(journal, "a", encoding="ascii") as file:
        file.write(json.dumps({"event": event, "pid": os.getpid(), **details}) + "\n")


def receive(path):
    os.umask(0)
    with socket.socket(socket.AF_UNIX) as own:
        own.bind(path)
        own.listen()
        other, _ = own.accept()
        with other:
            _, descriptors, _, _ = socket.recv_fds(other, 1, 1)
            other.send(b"x")
    return descriptors[0]


def keep(lock, **details):
    note("has", **details)
    signal.sigwait({signal.SIGUSR1})
    os.close(lock)
    note("free")
    signal.pause()


def hide(path):
    assert ctypes.CDLL(None).unshare(CLONE_FILES) == 0
    keep(receive(path))


signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
if role == "inherit":
    up, down = socket.socketpair()
    helper = os.fork()
    if helper == 0:
        socket.send_fds(down, [b"x"], [os.open(arguments[0], os.O_WRONLY)])
        os._exit(0)
    _, taken, _, _ = socket.recv_fds(up, 1, 1)
    os.waitpid(helper, 0)
    keep(taken[0], taker=helper)
elif role == "give":
    mine = os.open(arguments[0], os.O_WRONLY)
    with socket.socket(socket.AF_UNIX) as taker:
        while taker.connect_ex(arguments[1]) != 0:
            os.sched_yield()
        socket.send_fds(taker, [b"x"], [mine])
        taker.recv(1)
    note("gave")
elif role == "get":
    keep(receive(arguments[0]))
elif role == "bury":
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for _ in range(5000):
        os.dup(0)
    keep(receive(arguments[0]))
elif role == "hide":
    threading.Thread(target=hide, args=arguments).start()
else:
    note("idles")
    signal.pause()
