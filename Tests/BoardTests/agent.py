#!/usr/bin/python3
"""Runs the host's commands in the guest: lines of JSON over a virtio-serial port, which survives a sleep.

At its start it says {"hello": uptime}. A request is {"id", "command", "timeout"}; the answer {"id", "status", "output",
"monotonic", "boottime"}: the two clocks, whose difference grows only while the board sleeps.
"""

import json
import os
import signal
import subprocess
import tempfile
import time

PORT = "/dev/virtio-ports/board.agent"
LARGEST = 4_000_000


def run(command, timeout):
    # To a file, not a pipe: what a command leaves in the background does not hold up the answer.
    with tempfile.TemporaryFile(dir="/run") as output:
        process = subprocess.Popen(
            ["/bin/bash", "-c", command], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True)
        try:
            status, note = process.wait(timeout), ""
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status, note = -1, f"\n[not done after {timeout} s, and killed]"
        output.seek(0)
        return status, output.read()[-LARGEST:].decode(errors="replace") + note


def send(port, message):
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(port, data):]


def answer(port, line):
    try:
        request = json.loads(line)
    except ValueError:
        return
    status, output = run(request["command"], request["timeout"])
    send(port, {
        "id": request["id"], "status": status, "output": output,
        "monotonic": time.clock_gettime(time.CLOCK_MONOTONIC), "boottime": time.clock_gettime(time.CLOCK_BOOTTIME)})


def main():
    while not os.path.exists(PORT):
        time.sleep(0.05)  # not a wait: udev makes it as the board boots
    port = os.open(PORT, os.O_RDWR)
    # Ends a line that a reset has cut short.
    os.write(port, b"\n")
    with open("/proc/uptime") as uptime:
        send(port, {"hello": float(uptime.read().split()[0])})
    pending = b""
    while True:
        data = os.read(port, 65536)
        if not data:
            time.sleep(0.05)  # not a wait: the host has not opened its end
            continue
        *lines, pending = (pending + data).split(b"\n")
        for line in lines:
            answer(port, line)


main()
