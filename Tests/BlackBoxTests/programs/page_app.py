"""An app that mounts a file system of its own (FUSE), puts a page of one of its files into a pipe, keeps that page
locked by a write that it never answers, and gives the pipe's content to its stdout (tee).

page_app.py FOLDER SAYS: FOLDER to mount on; SAYS: a file that is written when all is done."""

import ctypes
import os
import signal
import struct
import sys

folder, says = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)


def put(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def attributes(node, user):
    mode = 0o40777 if node == 1 else 0o100666
    return struct.pack("<6Q10I", node, 4096, 8, 0, 0, 0, 0, 0, 0, mode, 1, user, user, 0, 4096, 0)


def serve(device, user):
    writes = 0
    while True:
        request = os.read(device, 1 << 17)
        opcode, unique, node = struct.unpack_from("<IQQ", request, 4)
        error, answer = 0, b""
        if opcode == 26:
            answer = struct.pack("<IIIIHHIIHHI7I", 7, 31, 0, 0, 0, 0, 65536, 1, 0, 0, 0, *[0] * 7)
        elif opcode == 1:
            answer = struct.pack("<4Q2I", 2, 0, 1000, 1000, 0, 0) + attributes(2, user)
        elif opcode == 3:
            answer = struct.pack("<QII", 1000, 0, 0) + attributes(node, user)
        elif opcode == 14:
            answer = struct.pack("<QII", 1, 2, 0)
        elif opcode == 15:
            answer = b"A" * 4095 + b"\n"
        elif opcode == 16:
            writes += 1
            if writes > 1:
                os.write(written, b"x")
                continue
            error = -5
        elif opcode not in (18, 25):
            error = -38
        if opcode != 2:
            os.write(device, struct.pack("<IiQ", 16 + len(answer), error, unique) + answer)


seen, written = os.pipe()
user, group = os.getuid(), os.getgid()
check(libc.unshare(0x10020000))
put("/proc/self/setgroups", "deny")
put("/proc/self/uid_map", f"{user} {user} 1")
put("/proc/self/gid_map", f"{group} {group} 1")
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id={user},group_id={group}".encode()
check(libc.mount(b"own", folder.encode(), b"fuse", 6, options))
if os.fork() == 0:
    serve(device, user)
os.close(device)
file = os.open(f"{folder}/f", os.O_RDWR)
reader, writer = os.pipe()
libc.splice.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint]
check(libc.splice(file, ctypes.byref(ctypes.c_int64(0)), writer, None, 4096, 0))
# It is refused: what is in the page is not the file's any more.
try:
    os.pwrite(file, b"B", 0)
except OSError:
    pass
if os.fork() == 0:
    os.pwrite(file, b"C", 0)
os.read(seen, 1)
said = libc.tee(reader, 1, 4096, 2)
put(says, f"{said}")
signal.pause()
