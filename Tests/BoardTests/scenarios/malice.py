"""Apps and users that mean no good, where it takes an older kernel to suffer from them."""

import time
from pathlib import Path

from board import app, toml_file
from scenario import scenario

SOURCE = (Path(__file__).resolve().parents[2] / "BlackBoxTests/lingering.py").read_text()
# Sent without end, each the last of its kind; a minute each.
LINGERING = SOURCE + """
import os, sys, threading, time
server = listener()
kept = []
def send(to, word):
    tcp, keeps = lingering(server, 60)
    kept.append(keeps)
    try:
        socket.send_fds(to, [word], [tcp.fileno()])
        print("sent", flush=True)
    except OSError as error:
        print(error, flush=True)
    # Ours may be the last, and wait.
    threading.Thread(target=tcp.close, daemon=True).start()
word = b'{"method":"org.varlink.service.GetInfo"}\\0'
if sys.argv[1] == "app":
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.connect(os.environ["NOTIFY_SOCKET"])
    send(notify, b"BARRIER=1")
    with socket.socket(fileno=int(os.environ["CURFEW_DELEGATE_FD"])) as delegate:
        send(delegate, word)
    time.sleep(10000)
for _ in range(40):
    client = socket.socket(socket.AF_UNIX)
    client.connect("/run/curfew/io.curfew.Application")
    send(client, word)
    client.close()
    time.sleep(0.02)
print("done", flush=True)
time.sleep(10000)
"""


@scenario("descriptors", "sockets whose close waits, sent by an app and a stranger, hold up no answer and no sleep",
          architectures=("amd64",))
def descriptors(board):
    board.put("/srv/lingering.py", LINGERING)
    evil = toml_file({"exec": ["/usr/bin/python3", "/srv/lingering.py", "app"], "delegate": "varlink",
                      "restart": "never"})
    board.begin({"prompt": app()})
    board.put("/etc/curfew/apps/evil.toml", evil)
    board.sh("curfew reload")
    stranger = board.sh("setpriv --reuid 65534 --clear-groups python3 /srv/lingering.py stranger >/tmp/said 2>&1 & "
                        "echo $!").strip()
    try:
        # On this kernel they can be sent: what is written here is no error of the kernel's.
        board.wait(lambda: "done" in board.sh("cat /tmp/said"), lambda: board.sh("cat /tmp/said"), 90)
        assert board.sh("grep -c sent /tmp/said").strip() != "0", board.sh("cat /tmp/said")
        board.wait_daemon_said("its delegate connection was closed: descriptors")
        # It answers no handler, and is ended for it.
        board.wait(lambda: board.reports("evil"), board.daemon_log, 90)
        begun = time.monotonic()
        board.sh("curfew status")
        answered = time.monotonic() - begun
        assert answered < 5, answered
        assert not board.reports("prompt"), board.reports()
        board.sleep()
        board.wait_active("prompt")
        assert not board.reports("prompt"), board.reports()
        prepared = board.time_to_sleep()[0]
        threads = int(board.sh(f"ls /proc/{board.loop_pid()}/task | wc -l"))
    finally:
        board.sh(f"kill {stranger}")
    # A barrier's, for as long as its sender likes, and no other.
    assert threads <= 2, threads
    return f"{board.sh('uname -r').strip()}: answered in {answered * 1000:.0f} ms, asleep in {prepared:.0f} ms"
