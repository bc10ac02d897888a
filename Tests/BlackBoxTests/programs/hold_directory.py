"""Holds the lock of a directory until its standard input ends, as any user can who may read it: getdents(2) into memory
that does not come (here userfaultfd(2); with a FUSE file system it needs no right), and an open with O_CREAT that waits
for it and so keeps out all who look up a name there."""

import ctypes
import fcntl
import os
import socket
import struct
import sys
import threading

SYS_GETDENTS64, SYS_OPENAT, SYS_USERFAULTFD = {"x86_64": (217, 257, 323), "aarch64": (61, 56, 282)}[os.uname().machine]
UFFDIO_API, UFFDIO_REGISTER = 0xC018AA3F, 0xC020AA00
SIZE = 1 << 16

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = libc.mmap.restype = ctypes.c_void_p
libc.syscall.argtypes = [ctypes.c_long] * 4
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def slow_memory():
    faults = libc.syscall(SYS_USERFAULTFD, os.O_CLOEXEC, 0, 0)
    fcntl.ioctl(faults, UFFDIO_API, struct.pack("QQQ", 0xAA, 0, 0))
    # Private, anonymous, to be read and written.
    area = libc.mmap(None, SIZE, 3, 0x22, -1, 0)
    fcntl.ioctl(faults, UFFDIO_REGISTER, struct.pack("QQQQ", area, SIZE, 1, 0))
    return area


def begin(call):
    """Returns once that waits in the kernel."""
    begun, files = threading.Event(), []

    def run():
        files.append(os.open("/proc/thread-self/syscall", os.O_RDONLY))
        begun.set()
        call()

    threading.Thread(target=run, daemon=True).start()
    begun.wait()
    # What the interpreter itself waits for are futexes.
    while os.pread(files[0], 64, 0).split()[0] not in (b"%d" % SYS_GETDENTS64, b"%d" % SYS_OPENAT):
        pass


def create(path):
    try:
        os.open(path, os.O_CREAT | os.O_WRONLY)
    except OSError:
        pass


def main():
    held = sys.argv[1].replace("SELF", str(os.getpid()))
    directory, area = os.open(held, os.O_RDONLY | os.O_DIRECTORY), slow_memory()
    begin(lambda: libc.syscall(SYS_GETDENTS64, directory, area, SIZE))
    begin(lambda: create(held + "/nothing-of-this-name"))
    for path in sys.argv[2:]:
        with socket.socket(socket.AF_UNIX) as device:
            device.settimeout(20)
            device.connect(path)
            device.sendall(b'{"method":"io.curfew.Application.Describe"}\0')
            device.recv(65536)
    print("held", flush=True)
    sys.stdin.read()
    os._exit(0)


main()
