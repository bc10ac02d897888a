"""The sample apps of curfew demo, as their daemon sees them."""

import os
import socket
import subprocess

from board import CURFEW
from waiting import PATIENCE
from wire import Wire


def test_what_an_app_tells_of_a_handler_is_told_before_its_answer(tmp_path):
    # The answer to the last handler before a sleep freezes it: what it has not told by then comes after the wake.
    fifo = tmp_path / "story"
    os.mkfifo(fifo)
    story = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    ours, theirs = socket.socketpair()
    environment = {**os.environ, "CURFEW_DELEGATE_FD": str(theirs.fileno()), "CURFEW_DEMO": str(fifo)}
    app = subprocess.Popen([CURFEW, "demo-app", "slow"], env=environment, pass_fds=[theirs.fileno()])
    theirs.close()
    # On one processor, and with the least of priorities: an answer that comes first is read first.
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})
    os.sched_setaffinity(app.pid, {min(processors)})
    os.sched_setscheduler(app.pid, os.SCHED_IDLE, os.sched_param(0))
    try:
        with Wire(connected=ours) as wire:
            wire.call("io.curfew.Delegate.DidEnterBackground", {})
            assert b"end\tDidEnterBackground" in os.read(story, 65536)
        assert app.wait(PATIENCE) == 0
    finally:
        os.sched_setaffinity(0, processors)
        app.kill()
        app.wait()
        os.close(story)
