"""DeviceMonitor on real netlink, through the program device-probe."""

import errno
import os
import random
import signal
import socket
import struct
import subprocess
import sys

import pytest
from board import REPOSITORY
from uevents import KERNEL, UDEV, Namespace, kernel_message, udev_message
from waiting import PATIENCE, wait_until

PROBE = os.environ.get("DEVICE_PROBE", str(REPOSITORY / ".build/debug/device-probe"))
POWER, THERMAL, HWMON, DISPLAY, INPUTS, CLOCK, ACCESSORY, WATCHDOG, ALL = 1, 2, 4, 8, 16, 32, 64, 128, 255


class Lines:
    """What the probe says, line by line, each within a bound."""

    def __init__(self, stream):
        self.stream = stream

    def next(self):
        # The pipe ends with the process, and the alarm ends the process.
        line = self.stream.readline().decode().rstrip("\n")
        assert line, "the probe has ended"
        return line

    def until(self, text):
        lines = []
        while not lines or not lines[-1].startswith(text):
            lines.append(self.next())
        return lines

    def changes(self):
        """The next report of changes: their number, and the state after it as a set of lines."""
        number = int(self.until("changes ")[-1].split()[1])
        return number, set(self.until("end")[:-1])


@pytest.fixture(autouse=True)
def bound():
    """A probe that says nothing fails the test instead of keeping it waiting."""
    def give_up(*_):
        raise AssertionError(f"nothing for {PATIENCE:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(int(PATIENCE))
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def listener():
    """Starts a probe in a network namespace of its own."""
    started = []

    def start(*arguments):
        namespace = Namespace(PROBE, *arguments)
        started.append(namespace)
        namespace.lines = Lines(namespace.process.stdout)
        assert namespace.lines.next() == f"group {arguments[0].replace('auto', 'udev')}"
        namespace.lines.until("end")
        namespace.enter()
        return namespace

    yield start
    for namespace in started:
        assert namespace.close() == 0


def test_events_of_udevd_arrive(listener):
    probe = listener("auto")
    for subsystem, device_type, changes in [
            ("power_supply", None, POWER), ("thermal", None, THERMAL), ("hwmon", None, HWMON), ("drm", None, DISPLAY),
            ("input", None, INPUTS), ("rtc", None, CLOCK), ("usb", "usb_device", ACCESSORY),
            ("watchdog", None, WATCHDOG)]:
        # What was not asked for goes before, and is not heard.
        probe.send(udev_message("net"), group=UDEV)
        probe.send(udev_message("usb", device_type="usb_interface"), group=UDEV)
        probe.send(udev_message(subsystem, device_type=device_type), group=UDEV)
        assert probe.lines.changes()[0] == changes, subsystem


def test_forged_events_do_nothing(listener):
    probe = listener("udev")
    port, forged = probe.port(), udev_message("power_supply")
    assert probe.send_as_nobody(forged, port=port) == errno.EPERM
    assert probe.send_as_nobody(forged, group=UDEV) == errno.EPERM
    # A user whom the kernel lets send, as in a user namespace of its own: the credentials tell.
    assert probe.send_as_nobody(forged, port=port, capable=True) == 0
    assert probe.send_as_nobody(forged, group=UDEV, capable=True) == 0
    # Root, but not by the group.
    probe.send(forged, port=port)
    probe.send(udev_message("rtc"), group=UDEV)
    assert probe.lines.changes()[0] == CLOCK


def test_forged_events_of_the_kernel_do_nothing(listener):
    probe = listener("kernel")
    port, forged = probe.port(), kernel_message("power_supply")
    assert probe.send_as_nobody(forged, port=port) == errno.EPERM
    assert probe.send_as_nobody(forged, group=KERNEL, capable=True) == 0
    assert probe.send_as_nobody(forged, port=port, capable=True) == 0
    # Not even root is the kernel.
    probe.send(forged, group=KERNEL)
    probe.send(forged, port=port)
    # The kernel's own word on a network device, which is this namespace's alone.
    subprocess.run(
        ["nsenter", "-t", str(probe.process.pid), "--net", "--mount", "sh", "-c",
         "echo change > /sys/class/net/lo/uevent"], check=True)
    assert probe.lines.changes()[0] == ACCESSORY


def test_malformed_events_say_nothing(listener):
    probe = listener("udev")
    whole = udev_message("power_supply")
    properties = {"ACTION": "change", "DEVPATH": "/devices/virtual/x/x0", "SUBSYSTEM": "power_supply", "SEQNUM": "1"}
    large = udev_message("power_supply", properties | {f"P{number}": "x" * 1020 for number in range(64)})
    assert len(large) > 0x10000
    malformed = [
        udev_message("power_supply", {}), udev_message("power_supply", {"ACTION": "change"}),
        udev_message("power_supply", {"SUBSYSTEM": "power_supply"}), whole[:40], whole[:39], whole[:-1],
        b"libudev\0", b"\0" * 40, b"libudev\0" + b"\xff" * 60, random.Random(1).randbytes(512),
        b"change@/devices/x\0", udev_message("power_supply", {"ACTION": "change", "X" * 0x10000: "y"}),
        whole + b"\0" * 0x10000,
    ]
    # These two are only odd, and root sent them.
    cases = [(message, CLOCK) for message in malformed] + [
        (kernel_message("power_supply"), POWER | CLOCK), (large, POWER | CLOCK)]
    for message, changes in cases:
        probe.send(message, group=UDEV)
        probe.send(udev_message("rtc"), group=UDEV)
        heard = 0
        while not heard & CLOCK:
            heard |= probe.lines.changes()[0]
        assert heard == changes, f"{len(message)} bytes: {message[:80]}"


def test_lost_events_may_have_been_anything(listener):
    probe = listener("udev")
    os.kill(probe.process.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, probe.process.pid, os.WSTOPPED | os.WNOWAIT)
    # Root's multicast is dropped where the receiver's buffer is full, and does not block.
    message = udev_message("power_supply")
    for _ in range(20_000):
        try:
            probe.send(message, group=UDEV)
        except OSError:
            pass
    os.kill(probe.process.pid, signal.SIGCONT)
    numbers = []
    while ALL not in numbers:
        numbers.append(probe.lines.changes()[0])
    # One report answers a batch.
    assert len(numbers) < 500


# Sets what the loopback of a network namespace can do: the kernel tells of it by the group "monitor".
FEATURES = """
import ctypes, fcntl, socket, struct, sys
with open(f"/proc/{sys.argv[1]}/ns/net", "rb") as namespace:
    assert ctypes.CDLL(None).setns(namespace.fileno(), 0x40000000) == 0
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
    data = ctypes.create_string_buffer(struct.pack("=II", 0x24, int(sys.argv[2])))  # ETHTOOL_SGSO
    fcntl.ioctl(control, 0x8946, struct.pack("16sQ16x", b"lo", ctypes.addressof(data)))  # SIOCETHTOOL
"""


def test_generic_netlink_of_the_kernel(listener):
    """The way heat is announced, heard from a family that a test can make speak."""
    probe = listener("udev", "ethtool", "monitor")

    def features(value):
        subprocess.run([sys.executable, "-c", FEATURES, str(probe.process.pid), str(value)], check=True)

    features(0)
    assert probe.lines.changes()[0] == THERMAL
    features(1)
    assert probe.lines.changes()[0] == THERMAL


def test_forged_generic_netlink_does_nothing():
    """Messages of root to the socket that hears of heat: they are not the kernel's."""
    probe = subprocess.Popen([PROBE, "auto", "nlctrl", "notify"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lines = Lines(probe.stdout)
    lines.until("end")

    def waiting():
        """The bytes that the probe has not taken yet."""
        with open("/proc/net/netlink", encoding="ascii") as table:
            rows = [line.split() for line in table]
        # The kernel gives a process's first socket of a kind the process's number.
        sizes = [int(row[4]) for row in rows if row[1] == "16" and row[2] == str(probe.pid)]
        assert len(sizes) == 1
        return sizes[0]

    forged = struct.pack("=IHHIIBBH", 20, 0x10, 0, 0, 0, 1, 1, 0)
    os.kill(probe.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, probe.pid, os.WSTOPPED | os.WNOWAIT)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16) as sender:
        sender.sendto(forged, (probe.pid, 0))
    assert waiting() > 0
    os.kill(probe.pid, signal.SIGCONT)
    wait_until(lambda: waiting() == 0, "the message is taken")
    out, _ = probe.communicate(timeout=PATIENCE)
    assert (probe.returncode, out) == (0, b"")
