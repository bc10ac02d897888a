"""A daemon as written for systemd: knows sd_notify(3) and nothing of Curfew. SIGUSR1: it hangs from then on.

    service.py JOURNAL
"""

import os
import signal
import socket
import sys
import time

hangs = False


def hang(_number, _frame):
    global hangs
    hangs = True


signal.signal(signal.SIGUSR1, hang)
with open(sys.argv[1], "a") as journal:
    journal.write('{"t": %f, "pid": %d, "event": "start"}\n' % (time.monotonic(), os.getpid()))

notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
address = os.environ["NOTIFY_SOCKET"]
notify.connect("\0" + address[1:] if address.startswith("@") else address)
watched = int(os.environ.get("WATCHDOG_PID", os.getpid())) == os.getpid()
interval = int(os.environ.get("WATCHDOG_USEC", "0")) / 1e6 if watched else 0
time.sleep(0.1)  # not a wait: the work of a slow start
notify.send(b"READY=1\nSTATUS=Serving 3 clients")
while True:
    time.sleep(interval / 3 or 3600)  # not a wait: the pause between two pings
    if not hangs:
        notify.send(b"WATCHDOG=1")
