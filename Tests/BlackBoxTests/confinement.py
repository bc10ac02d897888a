"""Less than a kernel has, for a process that has yet to be executed: seccomp(2)."""

import ctypes
import errno
import platform
import socket
import struct

CLONE_NEWNET = 0x40000000
SOCKET = {"x86_64": 41}.get(platform.machine(), 198)
libc = ctypes.CDLL(None, use_errno=True)


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def with_network_of_its_own():
    """Nothing but a loopback, which is down."""
    assert libc.unshare(CLONE_NEWNET) == 0, "these tests need a network namespace"


def without_netlink():
    """No raw sockets: those of netlink, and what umockdev has in their place; as where the kernel is built without."""
    load, keep, equal, give = 0x20, 0x54, 0x15, 0x06
    instructions = [
        (load, 0, 0, 0), (equal, 0, 4, SOCKET),  # seccomp_data.nr
        (load, 0, 0, 24), (keep, 0, 0, 0xF), (equal, 0, 1, socket.SOCK_RAW),  # the second argument
        (give, 0, 0, 0x50000 | errno.EAFNOSUPPORT), (give, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *instruction) for instruction in instructions))
    program = Program(len(instructions), ctypes.addressof(code))
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
