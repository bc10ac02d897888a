"""DeviceMonitor on real netlink, and on a board played by umockdev, through the program device-probe."""

import ctypes
import errno
import fcntl
import os
import signal
import socket
import struct
import subprocess

import pytest
from board import REPOSITORY
from hardware import LID, POWER_KEY, Hardware
from uevents import KERNEL, UDEV, Namespace, kernel_message, udev_message
from waiting import PATIENCE, wait_until

PROBE = os.environ.get("DEVICE_PROBE", str(REPOSITORY / ".build/debug/device-probe"))
POWER, THERMAL, HWMON, DISPLAY, INPUTS, CLOCK, ACCESSORY, WATCHDOG, ALL = 1, 2, 4, 8, 16, 32, 64, 128, 255
SW_LID, KEY_POWER, EV_KEY, EV_SW = 0, 116, 1, 5


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


@pytest.mark.parametrize("subsystem, device_type, changes", [
    ("power_supply", None, POWER), ("thermal", None, THERMAL), ("hwmon", None, HWMON), ("drm", None, DISPLAY),
    ("input", None, INPUTS), ("rtc", None, CLOCK), ("usb", "usb_device", ACCESSORY),
    ("watchdog", None, WATCHDOG)])
def test_events_of_udevd_arrive(listener, subsystem, device_type, changes):
    probe = listener("auto")
    # What was not asked for goes before, and is not heard.
    probe.send(udev_message("net"), group=UDEV)
    probe.send(udev_message("usb", device_type="usb_interface"), group=UDEV)
    probe.send(udev_message(subsystem, device_type=device_type), group=UDEV)
    assert probe.lines.changes()[0] == changes


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


@pytest.mark.parametrize("bad", [
    udev_message("power_supply", {}),
    udev_message("power_supply", {"ACTION": "change"}),
    udev_message("power_supply", {"SUBSYSTEM": "power_supply"}),
    udev_message("power_supply")[:40], udev_message("power_supply")[:39], udev_message("power_supply")[:-1],
    b"libudev\0", b"\0" * 40, b"libudev\0" + b"\xff" * 60, os.urandom(512),
    kernel_message("power_supply"), b"change@/devices/x\0",
    udev_message("power_supply", {"ACTION": "change", "X" * 0x10000: "y"}),
    udev_message("power_supply") + b"\0" * 0x10000,
], ids=lambda message: f"{len(message)}-bytes")
def test_malformed_events_do_no_harm(listener, bad):
    probe = listener("udev")
    probe.send(bad, group=UDEV)
    probe.send(udev_message("rtc"), group=UDEV)
    # What is only odd may be heard: root sent it.
    heard = probe.lines.changes()[0]
    if not heard & CLOCK:
        heard |= probe.lines.changes()[0]
    assert heard in (CLOCK, CLOCK | POWER)


def test_event_of_64_kib(listener):
    probe = listener("udev")
    properties = {"ACTION": "change", "DEVPATH": "/devices/virtual/x/x0", "SUBSYSTEM": "power_supply", "SEQNUM": "1"}
    for number in range(64):
        properties[f"P{number}"] = "x" * 1020
    message = udev_message("power_supply", properties)
    assert len(message) > 0x10000
    probe.send(message, group=UDEV)
    probe.send(udev_message("rtc"), group=UDEV)
    heard = probe.lines.changes()[0]
    if not heard & CLOCK:
        heard |= probe.lines.changes()[0]
    assert heard in (CLOCK, CLOCK | POWER)


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


def test_generic_netlink_of_the_kernel(listener):
    """The way heat is announced, heard from a family that a test can make speak."""
    probe = listener("udev", "ethtool", "monitor")

    def features(value):
        # The kernel tells of it by the group "monitor".
        def call():
            with open(f"/proc/{probe.process.pid}/ns/net", "rb") as namespace:
                assert ctypes.CDLL(None).setns(namespace.fileno(), 0x40000000) == 0
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
                data = ctypes.create_string_buffer(struct.pack("=II", 0x24, value))  # ETHTOOL_SGSO
                request = struct.pack("16sQ16x", b"lo", ctypes.addressof(data))
                fcntl.ioctl(control, 0x8946, request)  # SIOCETHTOOL
        if (child := os.fork()) == 0:
            try:
                call()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0

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


def test_generic_netlink_that_is_not_there():
    probe = subprocess.run(
        [PROBE, "auto", "curfew-none", "event"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    assert (probe.returncode, probe.stdout) == (
        1, b"error listen to generic netlink curfew-none: No such file or directory\n")


def without_netlink():
    """From here on socket(AF_NETLINK) fails with EAFNOSUPPORT, as where the kernel is built without."""
    number = {"x86_64": 41, "aarch64": 198}[os.uname().machine]
    steps = [
        (0x20, 0, 0, 0), (0x15, 0, 3, number),  # the call's number
        (0x20, 0, 0, 16), (0x15, 0, 1, socket.AF_NETLINK),  # its first argument
        (0x06, 0, 0, 0x00050000 | errno.EAFNOSUPPORT), (0x06, 0, 0, 0x7FFF0000)]
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HP", len(steps), ctypes.addressof(filters)))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, program, 0, 0) == 0  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER


def test_kernel_without_netlink():
    probe = subprocess.run(
        [PROBE], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, preexec_fn=without_netlink, check=False)
    assert (probe.returncode, probe.stdout) == (
        1, b"error udev_monitor_new_from_netlink: Address family not supported by protocol\n")


@pytest.fixture
def hardware():
    played = Hardware()
    yield played
    assert played.close() == 0


@pytest.fixture
def probe(hardware):
    """Starts the probe on the played board, its first state heard."""
    started = []

    def start():
        process = subprocess.Popen(
            [PROBE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | hardware.environment())
        started.append(process)
        lines = Lines(process.stdout)
        lines.next()
        return lines, set(lines.until("end")[:-1])

    yield start
    for process in started:
        process.stdin.close()
        assert process.wait(timeout=PATIENCE) == 0
        process.stdout.close()


def test_charger_and_battery(hardware, probe):
    charger = hardware.add("power_supply", "AC", type="Mains", online=1)
    battery = hardware.add("power_supply", "BAT0", type="Battery", present=1, capacity=80, status="Charging")
    lines, state = probe()
    assert "power external=yes level=800" in state
    hardware.set(charger, online=0)
    assert lines.changes() == (POWER, {"power external=no level=800", "lid unknown"})
    hardware.set(battery, capacity=5, status="Discharging")
    assert "power external=no level=50" in lines.changes()[1]
    hardware.set(battery, capacity=-1)
    assert "power external=no level=unknown" in lines.changes()[1]
    hardware.remove(charger)
    lines.changes()
    hardware.set(battery, capacity=4)
    assert "power external=no level=40" in lines.changes()[1]
    hardware.add("power_supply", "usb", type="USB", online=1)
    assert "power external=yes level=40" in lines.changes()[1]


def test_heat_and_voltage(hardware, probe):
    zone = hardware.add(
        "thermal", "thermal_zone0", type="cpu-thermal", mode="enabled", temp=45000, trip_point_0_type="passive",
        trip_point_0_temp=80000, trip_point_0_hyst=2000)
    chip = hardware.add("hwmon", "hwmon0", name="rpi_volt", in0_lcrit_alarm=0)
    lines, state = probe()
    assert {"zone cpu-thermal temperature=45000 trips=1", "under-voltage no"} <= state
    hardware.set(zone, temp=81000)
    number, state = lines.changes()
    assert number == THERMAL and "zone cpu-thermal temperature=81000 trips=1" in state
    hardware.set(chip, in0_lcrit_alarm=1)
    number, state = lines.changes()
    assert number == HWMON and "under-voltage yes" in state


def test_lid_and_power_key(hardware, probe):
    node = hardware.add_input(0, switches=LID, lid_closed=True)
    hardware.play(node, (EV_SW, SW_LID, 1))
    lines, state = probe()
    assert "lid yes" in state
    assert lines.next() == "lid yes"
    hardware.play(node, (EV_SW, SW_LID, 0))
    assert lines.until("lid")[-1] == "lid no"
    # A key that comes later is found by its uevent.
    key = hardware.add_input(1, keys=POWER_KEY)
    while lines.until("new inputs")[-1] != "new inputs 1":
        pass
    hardware.play(key, (EV_KEY, KEY_POWER, 1), (EV_KEY, KEY_POWER, 0))
    heard = lines.until("key power up")
    assert [line for line in heard if line.startswith("key")] == ["key power down", "key power up"]


def test_lid_that_comes_later(hardware, probe):
    lines, state = probe()
    assert "lid unknown" in state
    hardware.add_input(3, switches=LID, lid_closed=True)
    while "lid yes" not in lines.changes()[1]:
        pass
