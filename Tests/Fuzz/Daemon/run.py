#!/usr/bin/env python3
"""Talks nonsense to a whole daemon, on all of its sockets, while its board sleeps and wakes.

    run.py CURFEWD SECONDS [SEED]

CURFEWD is best one with the address sanitizer. Ends with 1, and says why, where the daemon dies or complains, holds up
a sleep, answers root late, or has more descriptors or zombies afterwards than before. Its memory is printed.
"""

import json
import os
import random
import resource
import socket
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "BlackBoxTests"))
os.environ["CURFEWD"] = os.path.abspath(sys.argv[1])

import board as boards  # noqa: E402
import family  # noqa: E402
from waiting import wait_until  # noqa: E402

SECONDS = int(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
DELAY = 3.0
STRANGER = 65534
CONTROL = ("DescribeDevice List Describe Launch Activate Background Terminate ListTerminations Reload Monitor "
           "PrepareForSleep Tasks AdoptTask SetLowPowerMode GetInfo").split()
APPLICATION = ("GetState BeginBackgroundTask EndBackgroundTask GetBackgroundTimeRemaining AttachDelegate "
               "SetMinimumBackgroundFetchInterval").split()
FIELDS = "READY STOPPING RELOADING WATCHDOG STATUS MAINPID ERRNO EXTEND_TIMEOUT_USEC BARRIER FDSTORE X".split()
# What would be an operator's honest order to stop or sleep for good is not nonsense.
HARMFUL = ("Terminate", "PrepareForSleep")


class Nonsense:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def value(self, depth=0):
        pick = self.random.randrange(9 if depth < 4 else 7)
        if pick == 0:
            return None
        if pick == 1:
            return self.random.random() < 0.5
        if pick == 2:
            return self.random.choice([0, -1, 1, 2**31, -2**63, 2**63 - 1, 10**30, os.getpid()])
        if pick == 3:
            return self.random.choice([0.5, -1e308, 1e-300, 600.0])
        if pick in (4, 5):
            return self.text()
        if pick == 6:
            return self.random.choice(["camera", "late", "task-x", "io.curfew.Control", "\u202e\x1b[2J", ""])
        if pick == 7:
            return [self.value(depth + 1) for _ in range(self.random.randrange(5))]
        return {self.text(): self.value(depth + 1) for _ in range(self.random.randrange(4))}

    def text(self):
        return "".join(chr(self.random.choice([self.random.randrange(32, 127), self.random.randrange(1, 0xD7FF)]))
                       for _ in range(self.random.randrange(12)))

    def call(self, interface, methods):
        names = ["app", "name", "identifier", "seconds", "processIdentifier", "timeAllowed", "keepAwake", "since",
                 "start", "kind", "background", "force", "enabled"]
        parameters = {self.random.choice(names): self.value() for _ in range(self.random.randrange(5))}
        message = {"method": f"{interface}.{self.random.choice(methods)}", "parameters": parameters}
        for flag in ("more", "oneway", "upgrade"):
            if self.random.random() < 0.1:
                message[flag] = True
        data = json.dumps(message).encode() + b"\0"
        return self.spoil(data) if self.random.random() < 0.4 else data

    def spoil(self, data):
        data = bytearray(data)
        for _ in range(self.random.randrange(1, 6)):
            place = self.random.randrange(len(data)) if data else 0
            way = self.random.randrange(5)
            if way == 0 and data:
                data[place] = self.random.randrange(256)
            elif way == 1:
                data[place:place] = bytes(self.random.randrange(256) for _ in range(self.random.randrange(20)))
            elif way == 2:
                del data[place:place + self.random.randrange(1, 30)]
            elif way == 3:
                data[place:place] = self.random.choice([b"{" * 300, b"[" * 3000, b"\0" * 50, b'"' + b"a" * 70000])
            else:
                data = data[:place]
        return bytes(data)

    def datagram(self):
        if self.random.random() < 0.2:
            return bytes(self.random.randrange(256) for _ in range(self.random.randrange(6000)))
        lines = []
        for _ in range(self.random.choice([1, 1, 2, 5, 400])):
            value = self.random.choice(["1", "0", "", "-1", str(os.getpid()), "9" * 40, self.text(), "x" * 5000])
            lines.append(f"{self.random.choice(FIELDS)}={value}")
        return "\n".join(lines).encode("utf-8", "replace")


def on_a_stream(nonsense, path, interface, methods, over, user=None):
    """Connections that talk, listen or not, and go at any moment, with descriptors sent along."""
    become(user)
    while not over.is_set():
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(0.2)
            try:
                client.connect(path)
                for _ in range(nonsense.random.randrange(1, 20)):
                    data = nonsense.call(interface, methods)
                    if nonsense.random.random() < 0.05:
                        reader, writer = os.pipe()
                        try:
                            socket.send_fds(client, [data], [reader, writer])
                        finally:
                            os.close(reader)
                            os.close(writer)
                    else:
                        client.sendall(data)
                    if nonsense.random.random() < 0.5:
                        client.recv(65536)
            except OSError:
                pass
        time.sleep(nonsense.random.random() * 0.02)  # not a wait: a pace


def on_a_notify_socket(nonsense, path, over, user=None):
    become(user)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sender:
        while not over.is_set():
            reader, writer = os.pipe()
            try:
                if nonsense.random.random() < 0.2:
                    socket.send_fds(sender, [nonsense.datagram()], [reader] * nonsense.random.randrange(1, 20),
                                    0, path)
                else:
                    sender.sendto(nonsense.datagram(), path)
            except (OSError, ValueError):
                pass
            os.close(reader)
            os.close(writer)
            time.sleep(nonsense.random.random() * 0.01)  # not a wait: a pace


def become(user):
    """This thread alone: of another user."""
    if user is not None:
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.syscall(119, user, user, user) == 0  # setresgid
        assert libc.syscall(117, user, user, user) == 0  # setresuid


def memory(pid):
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def measure(board):
    keeper, loop = board.daemon.pid, board.loop()
    return {"keeper": memory(keeper), "loop": memory(loop), "descriptors": board.descriptors(),
            "keeper's descriptors": len(os.listdir(f"/proc/{keeper}/fd"))}


def sleeps(board, login, end, problems):
    count = 0
    while time.monotonic() < end:
        count += 1
        held = login_count(login)
        begun = time.monotonic()
        login.sleep(True)
        login.wait_closed("sleep", count)
        took = time.monotonic() - begun
        if took > DELAY:
            problems.append(f"sleep {count} took {took:.2f} s")
        login.sleep(False)
        login.wait_held("sleep", count + 1)
        begun = time.monotonic()
        board.device_state()
        if time.monotonic() - begun > 1:
            problems.append(f"root was answered after {time.monotonic() - begun:.2f} s")
        if board.daemon.poll() is not None:
            problems.append(f"curfewd ended with {board.daemon.returncode}")
            break
        del held
    return count


def login_count(login):
    return login.events_file.stat().st_size


def main():
    print(f"seed {SEED}", flush=True)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    board = boards.Board()
    problems = []
    try:
        board.app("camera", "ready", restart="always", restart_delay="1s", restart_limit=100000)
        board.plain("late", "ready", "ping", launch="boot", restart="always", restart_limit=100000)
        login = board.with_login(DELAY)
        board.start(environment={"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:exitcode=99"})
        board.wait_active("camera", "late")
        login.wait_held("sleep")
        loop = board.loop()
        before = measure(board)
        over = threading.Event()
        notify = [str(path) for path in (board.run / "notify").iterdir()]
        harmless = [name for name in CONTROL if name not in HARMFUL]
        work = [(on_a_stream, board.control_socket, "io.curfew.Control", harmless, over)] * 2
        work += [(on_a_stream, board.application_socket, "io.curfew.Application", APPLICATION, over, user)
                 for user in (None, STRANGER, STRANGER)]
        work += [(on_a_notify_socket, path, over, user) for path in notify for user in (None, STRANGER)]
        threads = [threading.Thread(target=one[0], args=(Nonsense(SEED + number), *one[1:]), daemon=True)
                   for number, one in enumerate(work)]
        for thread in threads:
            thread.start()
        count = sleeps(board, login, time.monotonic() + SECONDS, problems)
        over.set()
        for thread in threads:
            thread.join(20)
        wait_until(lambda: board.answers(), "it answers")
        time.sleep(10)  # not a wait: what a flood has cost is to be given back in that time
        after = measure(board)
        print(f"{count} sleeps; before {before}, after {after}", flush=True)
        if board.loop() != loop:
            problems.append("its loop has died")
        zombies = [pid for pid in family.children(board.daemon.pid) if family.state(pid) == "Z"]
        if zombies:
            problems.append(f"zombies: {zombies}")
        for name in ("descriptors", "keeper's descriptors"):
            if after[name] > before[name] + 2:
                problems.append(f"{name}: {before[name]}, then {after[name]}")
    except AssertionError as error:
        problems.append(str(error))
    finally:
        problems += board.close()
    for problem in problems:
        print(f"FOUND: {problem}", flush=True)
    if problems:
        print(board.log()[-3000:] if board.log_path.exists() else "")
    return 1 if problems else 0


sys.exit(main())
