"""A board's devices as umockdev plays them: a /sys and /dev of their own, and uevents.

The testbed lives in a process of its own (programs/testbed.py), since the sender of uevents looks its devices up in the
played /sys too. What is to see the devices is started with `environment()`; nothing else is touched.
"""

import fcntl
import importlib.util
import itertools
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from uevents import udev_message
from waiting import PATIENCE, wait_until

SERVER = Path(__file__).parent / "programs/testbed.py"
# Kernel bitmaps as sysfs writes them, on 64 bits.
LID, POWER_KEY = "1", "10000000000000 0"
EV_KEY, EV_SW, SW_LID, KEY_POWER = 1, 5, 0, 116


def missing():
    """Why no board can be played here; None where one can."""
    if not shutil.which("umockdev-wrapper"):
        return "umockdev is not installed"
    if not importlib.util.find_spec("gi"):
        return "python3-gi is not installed"
    return None


class Hardware:
    def __init__(self):
        self.numbers = itertools.count()
        self.folder = tempfile.TemporaryDirectory(prefix="curfew-hardware-")
        self.server = subprocess.Popen(
            ["umockdev-wrapper", "/usr/bin/python3", str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        self.root = json.loads(self.server.stdout.readline())
        self.groups = None
        self.senders = {}
        self.watchdogs = {}

    def environment(self):
        return {"LD_PRELOAD": "libumockdev-preload.so.0", "UMOCKDEV_DIR": self.root}

    def call(self, operation, *arguments):
        self.server.stdin.write(json.dumps([operation, *arguments]) + "\n")
        self.server.stdin.flush()
        answer = json.loads(self.server.stdout.readline())
        assert answer.get("error") is None, answer
        return answer.get("result")

    def add(self, subsystem, device, **attributes):
        """Its path in /sys. The kernel announces it."""
        self.wait_heard()
        listed = [item for key, value in attributes.items() for item in (key, str(value))]
        return self.call("add_device", subsystem, device, None, listed, [])

    def set(self, path, announce=True, **attributes):
        """Changes attributes; then the device says so."""
        for name, value in attributes.items():
            self.call("set_attribute", path, name, str(value))
        if announce:
            self.announce(path)

    def overwrite(self, path, name, value):
        """The same file says something else of the same length, as sysfs does it; for who keeps it open."""
        with open(f"{self.root}{path}/{name}", "r+b", buffering=0) as file:
            file.write(value.encode())
        self.announce(path)

    def announce(self, path, action="change"):
        """As udevd does it. Waits for who listens to have room: the testbed's own sender gives up instead."""
        subsystem = os.path.basename(os.readlink(f"{self.root}{path}/subsystem"))
        properties = {"ACTION": action, "DEVPATH": path.removeprefix("/sys"), "SUBSYSTEM": subsystem, "SEQNUM": "4711"}
        self.send(udev_message(subsystem, properties))

    def send(self, message):
        """A message as it is, to all who listen."""
        for path in Path(self.root).glob("event*"):
            if path not in self.senders:
                self.senders[path] = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                self.senders[path].settimeout(PATIENCE)
            try:
                self.senders[path].sendto(message, str(path))
            except ConnectionRefusedError:
                pass  # it has ended

    def wait_heard(self):
        """Returns when all readers have read what `send` has sent."""
        def is_heard():
            left = [fcntl.ioctl(sender, termios.TIOCOUTQ, b"\0" * 4) for sender in self.senders.values()]
            return not any(int.from_bytes(count, sys.byteorder) for count in left)

        wait_until(is_heard, "what was sent is read")

    def remove(self, path):
        """The device's end, as the kernel announces it: its class does not have it any more then."""
        for link in Path(self.root).glob(f"sys/class/*/{os.path.basename(path)}"):
            link.unlink()
        self.announce(path, "remove")
        self.call("remove_device", path)

    def add_input(self, number, switches="0", keys="0", lid_closed=False):
        """An evdev device. lid_closed: its first state."""
        self.wait_heard()
        parent = f"/devices/platform/played{number}/input/input{number}"
        node = f"/dev/input/event{number}"
        self.call(
            "add_from_string", f"P: {parent}\nE: SUBSYSTEM=input\nA: name=played\n"
            f"A: capabilities/sw={switches}\nA: capabilities/key={keys}\n")
        # Before the device is announced: who has it open while its answers are loaded is ended by umockdev.
        # Without any, it ends the program that asks for something.
        if lid_closed is not None:
            self.call("load_ioctl", node, self.file("ioctl", f"@DEV {node}\nEVIOCGSW 3 0{int(lid_closed)}0000\n"))
        # Readers look for the capabilities by the link, which umockdev does not make by itself.
        self.call(
            "add_from_string", f"P: {parent}/event{number}\nN: input/event{number}\nE: DEVNAME={node}\n"
            f"E: SUBSYSTEM=input\nE: MAJOR=13\nE: MINOR={64 + number}\nA: dev=13:{64 + number}\n"
            f"L: device=../../input{number}\n")
        return node

    def add_watchdog(self, number, maximum=600, boot_status=0):
        """Its node. What is done to it is in `watchdog_events`."""
        path, node = f"/devices/platform/watchdog{number}", f"/dev/watchdog{number}"
        self.call(
            "add_from_string", f"P: {path}\nN: watchdog{number}\nE: DEVNAME={node}\nE: SUBSYSTEM=watchdog\n"
            f"E: MAJOR=10\nE: MINOR={130 + number}\nA: dev=10:{130 + number}\nA: identity=Played Watchdog\n"
            f"A: nowayout=0\nA: state=inactive\nA: max_timeout={maximum}\nA: bootstatus={boot_status}\n")
        events = self.file("watchdog", "")
        self.call("watchdog", node, f"{self.root}/sys{path}", events, maximum, boot_status)
        self.watchdogs[node] = Path(events)
        return node

    def watchdog_events(self, node, kind=None):
        events = [json.loads(line) for line in self.watchdogs[node].read_text(encoding="ascii").splitlines()]
        return [event for event in events if kind in (None, event["event"])]

    def play(self, node, *events):
        """Input events (type, code, value), each with its report. (load_evemu_events works once per device.)"""
        events = [item for event in events for item in (event, (0, 0, 0))]
        self.call("write", node, b"".join(struct.pack("llHHi", 0, 0, *event) for event in events).hex())

    def move_lid(self, node, closed):
        self.play(node, (EV_SW, SW_LID, int(closed)))

    def press_power(self, node):
        self.play(node, (EV_KEY, KEY_POWER, 1), (EV_KEY, KEY_POWER, 0))

    def show_groups(self, point):
        """All of /sys is played: where the real control groups, mounted at `point`, show to who is on this board."""
        self.groups = Path(self.folder.name) / "groups"
        self.groups.mkdir()
        subprocess.run(["mount", "--bind", point, self.groups], check=True)
        mounts = Path("/proc/self/mountinfo").read_text(encoding="ascii").splitlines()
        shown = [line for line in mounts if line.split()[4] == str(self.groups)]
        self.play_proc("self/mountinfo", shown[0] + "\n")

    def play_proc(self, path, text):
        """A file of /proc that says something else."""
        played = Path(self.root) / "proc" / path
        played.parent.mkdir(parents=True, exist_ok=True)
        played.write_text(text, encoding="ascii")

    def file(self, name, text):
        path = os.path.join(self.folder.name, f"{name}-{next(self.numbers)}")
        Path(path).write_text(text, encoding="ascii")
        return path

    def close(self):
        for sender in self.senders.values():
            sender.close()
        self.server.stdin.close()
        status = self.server.wait(timeout=20)
        self.server.stdout.close()
        if self.groups:
            subprocess.run(["umount", "--lazy", self.groups], check=True)
        self.folder.cleanup()
        return status
