"""logind as far as a holder of delay locks sees it, on a private bus; run by bench.py.

Reads "sleep 1" and "sleep 0" from stdin and emits PrepareForSleep; ends when stdin does. Writes a line of JSON for each
lock that is taken or closed and for each signal, with the time in nanoseconds of CLOCK_MONOTONIC.
"""

import json
import os
import sys
import time

import dbus
import dbus.bus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

MANAGER = "org.freedesktop.login1.Manager"
DELAY = 5_000_000


def say(event, at, **details):
    sys.stdout.write(json.dumps({"event": event, "at": at, **details}) + "\n")
    sys.stdout.flush()


class Manager(dbus.service.Object):
    preparing = False
    locks = 0

    @dbus.service.method(MANAGER, in_signature="ssss", out_signature="h")
    def Inhibit(self, what, who, why, mode):
        self.locks += 1
        lock = self.locks
        reader, writer = os.pipe()

        def closed(descriptor, _condition):
            at = time.monotonic_ns()
            os.close(descriptor)
            say("closed", at, what=what, lock=lock)
            return False

        GLib.unix_fd_add_full(GLib.PRIORITY_HIGH, reader, GLib.IOCondition.HUP, closed)
        passed = dbus.types.UnixFd(writer)
        os.close(writer)
        say("inhibit", time.monotonic_ns(), what=what, lock=lock)
        return passed

    def properties(self):
        return {
            "InhibitDelayMaxUSec": dbus.UInt64(DELAY),
            "PreparingForSleep": dbus.Boolean(self.preparing),
            "PreparingForShutdown": dbus.Boolean(False),
        }

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="ss", out_signature="v")
    def Get(self, _interface, name):
        return self.properties()[name]

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="s", out_signature="a{sv}")
    def GetAll(self, _interface):
        return self.properties()

    @dbus.service.signal(MANAGER, signature="b")
    def PrepareForSleep(self, start):
        pass

    def edge(self, start):
        self.preparing = start
        at = time.monotonic_ns()
        self.PrepareForSleep(start)
        self.connection.flush()
        say("edge", at, start=start)


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    loop = GLib.MainLoop()
    bus = dbus.bus.BusConnection(sys.argv[1])
    manager = Manager(bus, "/org/freedesktop/login1")
    name = dbus.service.BusName("org.freedesktop.login1", bus)

    def command(_source, _condition):
        line = sys.stdin.readline()
        if not line:
            loop.quit()
            return False
        manager.edge(line.split()[1] == "1")
        return True

    GLib.io_add_watch(sys.stdin, GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN | GLib.IOCondition.HUP, command)
    say("ready", time.monotonic_ns(), name=name.get_name())
    loop.run()


main()
