"""A board's memory as a test wants it: how much there is, what its apps have of it, and what the kernel says of it.

Files of the kernel are played by programs/played_memory.c, in the daemon itself; nothing else sees them.
"""

import os
import re
import socket
import subprocess
from pathlib import Path

from waiting import PATIENCE, wait_until

SOURCE = Path(__file__).parent / "programs" / "played_memory.c"
MIB = 1 << 20
# Instances that a limit is played for: the first so many of the daemon.
LIVES = 6


def build(folder):
    """The library that plays the files, made in a folder."""
    library = Path(folder) / "played_memory.so"
    subprocess.run(
        ["cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", str(SOURCE), "-o", str(library),
         "-ldl"], check=True, timeout=120)
    return str(library)


class Announcing:
    """A played file that announces its changes, to all who have it open."""

    def __init__(self, place, text=""):
        self.place = place
        self.write(text)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.settimeout(PATIENCE)
        folder = os.open(place.parent, os.O_PATH)
        self.listener.bind(f"/proc/self/fd/{folder}/{place.name}")
        os.close(folder)
        self.listener.listen(8)
        self.connections = []

    def write(self, text):
        Path(f"{self.place}.text").write_text(text)

    def opened(self):
        """The connection that stands for it, the next time the daemon opens it."""
        connection, _ = self.listener.accept()
        connection.settimeout(PATIENCE)
        self.connections.append(connection)
        return connection

    def is_open(self):
        """Whether a program opens it that was not asked for yet."""
        self.listener.settimeout(0)
        try:
            return bool(self.opened())
        except BlockingIOError:
            return False
        finally:
            self.listener.settimeout(PATIENCE)

    def say(self):
        for connection in self.connections:
            connection.send(b"!", socket.MSG_OOB)

    def close(self):
        for connection in [*self.connections, self.listener]:
            connection.close()


class Pressure:
    """The board's own pressure file: what the daemon wants to hear of, and how it hears."""

    def __init__(self, file):
        self.file = file
        self.triggers = {}

    def thresholds(self):
        """Once the daemon listens: {"some": (time, window), "full": …}, microseconds."""
        found = {}
        for _ in range(2):
            connection = self.file.opened()
            text = b""
            while not text.endswith(b"\n"):
                text += connection.recv(64)
            kind, time, window = re.fullmatch(r"(some|full) (\d+) (\d+)\n", text.decode()).groups()
            self.triggers[kind] = connection
            found[kind] = (int(time), int(window))
        return found

    def say(self, kind):
        """The threshold has been passed."""
        self.triggers[kind].send(b"!", socket.MSG_OOB)

    def left(self):
        """Returns when the daemon has closed its triggers."""
        for connection in self.triggers.values():
            assert connection.recv(64) == b""


class Memory:
    """To be made before the board's daemon is started."""

    def __init__(self, board, library=None, total=800):
        """library: what plays the kernel's files; without, they are the kernel's own. total: MiB."""
        self.board = board
        self.library = library
        self.total = total
        self.played = Path(board.root) / "played"
        self.played.mkdir()
        self.files = []
        self.proc = Path(board.root) / "proc"
        (self.proc / "pressure").mkdir(parents=True)
        self.pressure = None
        self.available(total)

    def environment(self, **more):
        return {"LD_PRELOAD": self.library, "PLAYED_MEMORY": str(self.played), **more}

    def available(self, amount):
        """How much memory is to be had: MiB."""
        text = f"MemTotal: {self.total << 10} kB\nMemFree: 4 kB\nMemAvailable: {amount << 10} kB\n"
        new = self.proc / "meminfo.new"
        new.write_text(text)
        new.rename(self.proc / "meminfo")

    def of_group(self, group):
        """The pressure is that of a control group, which the kernel says itself."""
        group.mkdir(exist_ok=True)
        (self.proc / "pressure/memory").symlink_to(group / "memory.pressure")

    def place(self, path):
        return self.played / str(path).replace("/", "+")

    def announcing(self, path, text=""):
        file = Announcing(self.place(path), text)
        self.files.append(file)
        return file

    def with_pressure(self):
        self.pressure = Pressure(self.announcing(self.proc / "pressure/memory"))
        return self.pressure

    def with_controller(self):
        self.place(self.board.apps_group / "cgroup.subtree_control").write_text("memory\n")

    def limit(self, name):
        """Plays the limits of an app; its memory.events, one for each number that its instance may have."""
        events = []
        for number in range(1, LIVES + 1):
            group = self.board.apps_group / f"{name}.{number}"
            for file in ("memory.high", "memory.max"):
                self.place(group / file).write_text("")
            events.append(self.announcing(group / "memory.events", events_text()))
        return events

    def uses(self, name, amount):
        """What an app that runs has: MiB."""
        self.place(self.board.instance(name) / "memory.current").write_text(f"{amount * MIB}\n")

    def close(self):
        for file in self.files:
            file.close()


def events_text(**counts):
    names = ("low", "high", "max", "oom", "oom_kill", "oom_group_kill")
    return "".join(f"{name} {counts.get(name, 0)}\n" for name in names)


def wait_pressure(board, level):
    wait_until(
        lambda: board.device_state()["memoryPressure"] == level,
        lambda: f"memory pressure is {level}: {board.device_state()}\n{board.log()}")


def start(board, memory, *arguments, hears=True, **variables):
    """With --trial, so that time can be skipped."""
    board.start("--trial", *arguments, hears=hears, environment=memory.environment(**variables))
    if memory.pressure and hears:
        return memory.pressure.thresholds()
    return None


def skip(board, seconds):
    with board.wire() as wire:
        wire.call("io.curfew.Trial.Skip", {"seconds": seconds})


def suspend(board, *names):
    for name in names:
        board.call("Background", app=name)
        board.wait_app(name, taskState="suspended")


def alive(board):
    return sorted(name for name, app in board.list().items() if app["taskState"] != "notRunning")


def warnings(board, name):
    return [note["parameters"]["level"] for note in board.notes(name, "call")
            if note["handler"] == "DidReceiveMemoryWarning"]


def wait_warnings(board, name, *levels):
    wait_until(lambda: warnings(board, name) == list(levels),
               lambda: f"{name} hears {levels}: {board.notes(name)}\n{board.log()}")
