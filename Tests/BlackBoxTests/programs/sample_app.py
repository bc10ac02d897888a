"""An app that does what its arguments say, and writes down what happened to it.

    sample_app.py JOURNAL BEHAVIOUR...

Each line of JOURNAL is a JSON object with "t" (CLOCK_MONOTONIC), "pid", "event" and more. HANDLER is a method of
io.curfew.Delegate, or "any".

    slow:HANDLER:SECONDS     answers later          hang:HANDLER       never answers
    crash:HANDLER            aborts                 exit:HANDLER:CODE  exits
    twice:HANDLER            answers twice          garbage:HANDLER    answers with what is no JSON
    close:HANDLER            closes its delegate    error:HANDLER:NAME answers with an error
    huge:HANDLER             answers with 2 MiB     half:HANDLER       answers with half a message
    stop:HANDLER             stops itself (SIGSTOP) dribble:HANDLER    answers byte by byte
    unasked                  answers before it is asked
    ready                    READY=1 at its start
    ready-on-signal          READY=1 after each SIGUSR1 and SIGUSR2
    ping                     WATCHDOG=1 until SIGUSR1
    notify:SOCKET:MESSAGE    sends MESSAGE to any notify socket
    ignore-term              goes on after SIGTERM
    grandchild               forks twice, into a session of its own; that one ignores SIGTERM
    child                    forks once; the child waits
    main-is-child            forks once, and says MAINPID= of the child
    spam:BYTES               writes so much to stdout
    die:SECONDS:CODE         exits after so long    abort:SECONDS      aborts after so long
    usr1:ACTION              on SIGUSR1: exit=CODE, abort, stop, notify=MESSAGE
    lend                     opens connections to io.curfew.Application for those that ask at JOURNAL.lend
"""

import json
import os
import select
import signal
import socket
import sys
import threading
import time

journal = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
behaviours = [argument.split(":") for argument in sys.argv[2:]]
names = {behaviour[0] for behaviour in behaviours}


def note(event, **details):
    line = {"t": time.monotonic(), "pid": os.getpid(), "event": event, **details}
    os.write(journal, json.dumps(line).encode() + b"\n")


def notify(message, address=None):
    address = address or os.environ["NOTIFY_SOCKET"]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        try:
            sender.sendto(message.encode(), address)
            note("notified", message=message)
        except OSError as error:
            note("notify-failed", message=message, error=str(error))


def lend():
    # Whose connection it is was settled when it was made: the test can say through it what no library would.
    def serve():
        while True:
            asker, _ = desk.accept()
            with asker, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as ours:
                ours.connect(os.environ["CURFEW_SOCKET"])
                socket.send_fds(asker, [b"x"], [ours.fileno()])

    path = sys.argv[1] + ".lend"
    if os.path.exists(path):
        os.unlink(path)
    desk = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    desk.bind(path)
    os.chmod(path, 0o777)
    desk.listen(64)
    threading.Thread(target=serve, daemon=True).start()


def first_line_of(path):
    with open(path) as file:
        return file.read().strip()


def note_start():
    mask = os.umask(0)
    os.umask(mask)
    descriptors = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            descriptors[name] = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            pass
    status = dict(line.split(":", 1) for line in first_line_of("/proc/self/status").splitlines())
    group = [line for line in first_line_of("/proc/self/cgroup").splitlines() if line.startswith("0::")]
    note(
        "start", environment=dict(os.environ), directory=os.getcwd(), user=os.getuid(), group=os.getgid(),
        groups=os.getgroups(), umask=mask, nice=os.nice(0), session=os.getsid(0), parent=os.getppid(),
        descriptors=descriptors, blocked=status["SigBlk"].strip(), ignored=status["SigIgn"].strip(),
        control_group=group[0][3:] if group else None, arguments=sys.argv)


def hear_signals():
    """Python runs handlers between its steps: that of a signal just before a call that waits, after that call."""
    global alarm
    alarm, waker = socket.socketpair()
    for end in alarm, waker:
        end.setblocking(False)
    signal.set_wakeup_fd(waker.detach(), warn_on_full_buffer=False)


def wait_for(waits_for, limit=None):
    """Those that are readable; none of them after a signal, or when the time is over."""
    ready, _, _ = select.select([alarm, *waits_for], [], [], limit)
    if alarm in ready:
        ready.remove(alarm)
        alarm.recv(4096)
    return ready


def wait_for_ever():
    hear_signals()
    while True:
        wait_for([])


def fork_grandchild():
    if os.fork() == 0:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        note("grandchild")
        wait_for_ever()
    os.wait()


def fork_child(says_main=False):
    pid = os.fork()
    if pid == 0:
        note("child")
        wait_for_ever()
    if says_main:
        notify(f"MAINPID={pid}")


def on_user_signal(number, _frame):
    note("signal", number=number)
    if "ready-on-signal" in names:
        notify("READY=1")
    for behaviour in behaviours:
        if behaviour[0] == "usr1" and number == signal.SIGUSR1:
            act(behaviour[1])
    if number == signal.SIGUSR1:
        names.discard("ping")


def act(action):
    action, _, value = action.partition("=")
    if action == "exit":
        os._exit(int(value))
    elif action == "abort":
        os.abort()
    elif action == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif action == "notify":
        notify(value)


def on_terminate(number, _frame):
    note("signal", number=number)
    if "ignore-term" not in names:
        os._exit(0)


def begin():
    signal.signal(signal.SIGUSR1, on_user_signal)
    signal.signal(signal.SIGUSR2, on_user_signal)
    signal.signal(signal.SIGTERM, on_terminate)
    note_start()
    hear_signals()
    for kind, *values in behaviours:
        if kind == "ready":
            notify("READY=1")
        elif kind == "notify":
            notify(values[1], values[0])
        elif kind == "grandchild":
            fork_grandchild()
        elif kind == "child":
            fork_child()
        elif kind == "main-is-child":
            fork_child(says_main=True)
        elif kind == "spam":
            spam(int(values[0]))
        elif kind == "die":
            time.sleep(float(values[0]))  # not a wait: slow on purpose
            os._exit(int(values[1]))
        elif kind == "abort":
            time.sleep(float(values[0]))  # not a wait: slow on purpose
            os.abort()


def spam(count):
    line = b"x" * 1023 + b"\n"
    for _ in range(count // len(line)):
        os.write(1, line)
    note("spammed")


def misbehave(handler, delegate):
    """True when the answer has been given, or will never be."""
    for kind, *values in behaviours:
        if not values or values[0] not in (handler, "any"):
            continue
        if kind == "slow":
            time.sleep(float(values[1]))  # not a wait: slow on purpose
        elif kind == "hang":
            wait_for_ever()
        elif kind == "crash":
            os.abort()
        elif kind == "exit":
            os._exit(int(values[1]))
        elif kind == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        elif kind == "close":
            delegate.close()
            wait_for_ever()
        elif kind in answers:
            answer(handler, delegate, answers[kind](values))
            return True
        elif kind == "dribble":
            for byte in b'{"parameters":{}}\0':
                delegate.sendall(bytes([byte]))
                time.sleep(0.005)  # not a wait: a flood with pauses
            return True
    return False


def answer(handler, delegate, data):
    # Noted first: what follows from the answer may be the end of us.
    note("answered", handler=handler)
    try:
        delegate.sendall(data)
    except OSError as error:
        note("answer-failed", handler=handler, error=str(error))
        wait_for_ever()


answers = {
    "twice": lambda _: b'{"parameters":{}}\0{"parameters":{}}\0',
    "garbage": lambda _: b"}}} this is \xff no JSON {{{\0",
    "error": lambda values: json.dumps({"error": values[1], "parameters": {}}).encode() + b"\0",
    "huge": lambda _: b'{"parameters":{"x":"' + b"x" * (2 << 20) + b'"}}\0',
    "half": lambda _: b'{"parameters":',
}


def answer_calls(delegate):
    pending = b""
    interval = int(os.environ.get("WATCHDOG_USEC", "0")) / 3e6 or None
    while True:
        waits_for = [delegate] if delegate else []
        ready = wait_for(waits_for, interval if "ping" in names else None)
        if "ping" in names:
            notify("WATCHDOG=1")
        if not ready:
            continue
        chunk = delegate.recv(65536)
        if not chunk:
            note("delegate-closed")
            delegate = None
            continue
        pending += chunk
        while b"\0" in pending:
            message, _, pending = pending.partition(b"\0")
            call = json.loads(message)
            handler = call["method"].rpartition(".")[2]
            note("call", handler=handler, parameters=call.get("parameters", {}))
            if not call.get("oneway") and not misbehave(handler, delegate):
                answer(handler, delegate, b'{"parameters":{}}\0')


begin()
descriptor = os.environ.get("CURFEW_DELEGATE_FD")
connection = socket.socket(fileno=int(descriptor)) if descriptor else None
if "unasked" in names and connection:
    connection.sendall(b'{"parameters":{}}\0')
if "lend" in names:
    lend()
note("running")
answer_calls(connection)
