"""Uevents as udevd and the kernel write them, sent over real netlink into a network namespace of the receiver's own."""

import ctypes
import socket
import struct
import subprocess
import sys
import threading

NETLINK_KOBJECT_UEVENT = 15
KERNEL, UDEV = 1, 2
CLONE_NEWNET = 0x40000000
NOBODY = 65534
libc = ctypes.CDLL(None, use_errno=True)

# Sends over a socket that it inherits; ends with the errno.
SENDER = f"""
import ctypes, os, socket, struct, sys
descriptor, message, port, group, capable = sys.argv[1:]
libc = ctypes.CDLL(None)
if capable:
    assert libc.prctl(8, 1, 0, 0, 0) == 0  # PR_SET_KEEPCAPS
os.setresgid({NOBODY}, {NOBODY}, {NOBODY})
os.setresuid({NOBODY}, {NOBODY}, {NOBODY})
if capable:
    assert libc.capset(struct.pack("=Ii", 0x20080522, 0), struct.pack("=6I", 1 << 12, 1 << 12, 0, 0, 0, 0)) == 0
try:
    socket.socket(fileno=int(descriptor)).sendto(bytes.fromhex(message), (int(port), int(group)))
except OSError as error:
    sys.exit(error.errno)
"""


def murmur2(text):
    """MurmurHash2 with seed 0: libudev's filter compares it in the kernel."""
    data, multiplier, mask = text.encode(), 0x5BD1E995, 0xFFFFFFFF
    value = len(data)
    whole = len(data) // 4 * 4
    for (word,) in struct.iter_unpack("<I", data[:whole]):
        word = word * multiplier & mask
        word = (word ^ word >> 24) * multiplier & mask
        value = (value * multiplier & mask) ^ word
    if whole < len(data):
        value = (value ^ int.from_bytes(data[whole:], "little")) * multiplier & mask
    value = (value ^ value >> 13) * multiplier & mask
    return value ^ value >> 15


def udev_message(subsystem, properties=None, device_type=None):
    """A message of udevd: a header for the filters, then the properties."""
    if properties is None:
        properties = {
            "ACTION": "change", "DEVPATH": "/devices/virtual/x/x0", "SUBSYSTEM": subsystem, "SEQNUM": "4711"}
        if device_type:
            properties["DEVTYPE"] = device_type
    body = b"".join(f"{name}={value}\0".encode() for name, value in properties.items())
    head = b"libudev\0" + struct.pack(
        ">I", 0xFEEDCAFE) + struct.pack("=III", 40, 40, len(body)) + struct.pack(
        ">IIII", murmur2(subsystem), murmur2(device_type) if device_type else 0, 0, 0)
    return head + body


def kernel_message(subsystem, path="/devices/virtual/x/x0"):
    fields = [f"change@{path}", "ACTION=change", f"DEVPATH={path}", f"SUBSYSTEM={subsystem}", "SEQNUM=4711"]
    return b"".join(field.encode() + b"\0" for field in fields)


class Namespace:
    """A process in a network namespace of its own, and our socket in there. It sees a /run where udevd seems to run."""

    SETUP = 'mount -t tmpfs none /run; mkdir /run/udev; : > /run/udev/control; mount -t sysfs none /sys; exec "$@"'

    def __init__(self, *command):
        self.process = subprocess.Popen(
            ["unshare", "--net", "--mount", "--propagation", "private", "sh", "-ec", self.SETUP, "sh", *command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.socket = None

    def enter(self):
        """To be called once the process has said something: then it is where it belongs."""
        thread = threading.Thread(target=self._open)
        thread.start()
        thread.join()
        assert self.socket, "no socket in the namespace"

    def _open(self):
        # A namespace is a thread's own; a socket stays in the one it was made in.
        with open(f"/proc/{self.process.pid}/ns/net", "rb") as namespace:
            if libc.setns(namespace.fileno(), CLONE_NEWNET) == 0:
                self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_KOBJECT_UEVENT)

    def port(self):
        """The address of the receiver's socket."""
        with open(f"/proc/{self.process.pid}/net/netlink", encoding="ascii") as table:
            rows = [line.split() for line in table][1:]
        ports = [int(row[2]) for row in rows if row[1] == str(NETLINK_KOBJECT_UEVENT) and int(row[3], 16) in (1, 2)]
        assert len(ports) == 1, rows
        return ports[0]

    def send(self, message, port=0, group=0):
        self.socket.sendto(message, (port, group))

    def send_as_nobody(self, message, port=0, group=0, capable=False):
        """The errno, or 0. capable: with CAP_NET_ADMIN, as a user namespace of the user's own would give it."""
        arguments = [str(self.socket.fileno()), message.hex(), str(port), str(group), "capable" if capable else ""]
        return subprocess.run([sys.executable, "-c", SENDER, *arguments], check=False,
                              pass_fds=[self.socket.fileno()]).returncode

    def close(self):
        self.process.stdin.close()
        if self.socket:
            self.socket.close()
        status = self.process.wait(timeout=20)
        self.process.stdout.close()
        return status
