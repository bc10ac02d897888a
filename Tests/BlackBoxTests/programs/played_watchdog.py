"""A hardware watchdog behind /dev/watchdogN of umockdev: answers the ioctls of linux/watchdog.h, and writes down, with
CLOCK_MONOTONIC, what was done to it. It resets no board."""

import json
import os
import struct
import threading
import time

import gi

gi.require_version("UMockdev", "1.0")
from gi.repository import UMockdev  # noqa: E402

SUPPORT, BOOT_STATUS, KEEP_ALIVE, SET_TIMEOUT, GET_TIMEOUT = 0x80285700, 0x80045702, 0x80045705, 0xC0045706, 0x80045707
SET_TIMEOUT_OPTION, MAGIC_CLOSE, KEEP_ALIVE_OPTION, CARD_RESET = 0x80, 0x100, 0x8000, 0x20
EINVAL, ENOTTY, ENODEV = 22, 25, 19


class PlayedWatchdog(UMockdev.IoctlBase):
    def __init__(self, sysfs, events, maximum, boot_status):
        super().__init__()
        self.sysfs = sysfs
        self.events = os.open(events, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self.maximum = maximum
        self.boot_status = boot_status
        self.timeout = min(30, maximum)
        self.is_magic = False
        self.is_gone = False
        self.lock = threading.Lock()

    def record(self, event, **details):
        os.write(self.events, json.dumps({"t": time.monotonic(), "event": event, **details}).encode() + b"\n")

    def set_state(self, state):
        with open(f"{self.sysfs}/state", "w", encoding="ascii") as file:
            file.write(state + "\n")

    def do_client_connected(self, _client):
        with self.lock:
            self.is_magic = False
            self.set_state("active")
            self.record("open")

    def do_handle_write(self, client):
        with self.lock:
            data = bytes(client.get_arg().retrieve())
            self.is_magic = b"V" in data
            if self.is_magic:
                # A moment early: a close is not heard of here.
                self.set_state("inactive")
            self.record("write", data=data.decode("latin-1"))
            client.complete(len(data), 0)
        return True

    def do_handle_ioctl(self, client):
        with self.lock:
            result, errno = self.answer(client.get_request() & 0xFFFFFFFF, client.get_arg())
            client.complete(result, errno)
        return True

    def answer(self, request, argument):
        if self.is_gone:
            return -1, ENODEV
        if request == KEEP_ALIVE:
            self.is_magic = False
            self.record("feed")
            return 0, 0
        if request == SUPPORT:
            options = SET_TIMEOUT_OPTION | MAGIC_CLOSE | KEEP_ALIVE_OPTION | CARD_RESET
            argument.resolve(0, 40).update(0, struct.pack("=II32s", options, 1, b"Played Watchdog"))
            return 0, 0
        if request not in (BOOT_STATUS, SET_TIMEOUT, GET_TIMEOUT):
            return -1, ENOTTY
        data = argument.resolve(0, 4)
        value = self.boot_status
        if request == SET_TIMEOUT:
            asked = struct.unpack("=i", bytes(data.retrieve()[:4]))[0]
            if not 1 <= asked <= self.maximum:
                return -1, EINVAL
            self.timeout = asked
            self.record("timeout", seconds=asked)
        if request != BOOT_STATUS:
            value = self.timeout
        data.update(0, struct.pack("=i", value))
        return 0, 0
