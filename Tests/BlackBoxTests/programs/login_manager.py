"""A dbusmock template: logind as far as a holder of delay locks sees it.

Beside dbusmock's own template it has InhibitDelayMaxUSec, knows when each lock's descriptor is closed by all who had
it, refuses locks for what is under way, and writes all of it, with CLOCK_MONOTONIC, to a file. When a lock is closed
it also writes which control groups below a given one were frozen at that moment. It has sessions, which are locked and
unlocked, an idle hint, and what a manager knows of the board.

Locks of others are shown as a test says; some lie as FIFOs in a folder, as logind keeps them, and are gone when they
are closed by all who had them.

Parameters: events (the file), groups (a cgroup directory), delay (us), sleeping, refuse (a list of kinds), board
(LidClosed, Docked, OnExternalPower: those it has), inhibit (the folder).
"""

import json
import os
import time

import dbus
from dbusmock import MOCK_IFACE, mockobject
from gi.repository import GLib

BUS_NAME = "org.freedesktop.login1"
MAIN_OBJ = "/org/freedesktop/login1"
MAIN_IFACE = "org.freedesktop.login1.Manager"
SESSION_IFACE = "org.freedesktop.login1.Session"
SYSTEM_BUS = True

state = {"locks": 0, "kept": {}}


def load(mock, parameters):
    state["events"] = os.open(parameters["events"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    state["groups"] = parameters.get("groups")
    state["refuse"] = parameters.get("refuse", [])
    state["inhibit"] = parameters.get("inhibit")
    state["others"] = [tuple(lock) for lock in parameters.get("others", [])]
    # "block-weak": systemd 257 and later.
    state["modes"] = ["delay", "block", *(["block-weak"] if parameters.get("weak") else [])]
    # Locks of a logind before this one are gone with it.
    record("started")
    mock.AddProperties(
        MAIN_IFACE,
        dbus.Dictionary(
            {
                "InhibitDelayMaxUSec": dbus.UInt64(parameters.get("delay", 5000000)),
                "PreparingForSleep": dbus.Boolean(parameters.get("sleeping", False)),
                "PreparingForShutdown": dbus.Boolean(False),
                "IdleHint": dbus.Boolean(False),
                **({"BlockWeakInhibited": ""} if parameters.get("weak") else {}),
                **{name: dbus.Boolean(value) for name, value in parameters.get("board", {}).items()},
            },
            signature="sv",
        ),
    )


def record(event, **details):
    line = json.dumps({"t": time.monotonic(), "event": event, **details}) + "\n"
    os.write(state["events"], line.encode())


def frozen_groups():
    """{"camera.1": True, ...}: every instance that has processes, and whether it is frozen."""
    found = {}
    try:
        names = os.listdir(state["groups"])
    except (OSError, TypeError):
        return found
    for name in names:
        try:
            with open(f"{state['groups']}/{name}/cgroup.events") as file:
                events = dict(line.split() for line in file)
        except OSError:
            continue
        if events["populated"] == "1":
            found[name] = events["frozen"] == "1"
    return found


@dbus.service.method(MAIN_IFACE, in_signature="ssss", out_signature="h")
def Inhibit(self, what, who, why, mode):
    under_way = self.props[MAIN_IFACE]["PreparingForSleep" if "sleep" in what else "PreparingForShutdown"]
    if what in state["refuse"] or under_way:
        record("refused", what=what)
        raise dbus.exceptions.DBusException(
            "The operation inhibition has been requested for is already running",
            name="org.freedesktop.login1.OperationInProgress",
        )
    if mode not in state["modes"]:
        raise dbus.exceptions.DBusException(
            f"Invalid mode specification {mode}", name="org.freedesktop.DBus.Error.InvalidArgs")
    state["locks"] += 1
    lock = state["locks"]
    reader, writer = os.pipe()
    record("inhibit", lock=lock, what=what, who=who, why=why, mode=mode)

    def dropped(fd, _condition):
        record("closed", lock=lock, what=what, groups=frozen_groups())
        os.close(fd)
        return False

    GLib.unix_fd_add_full(GLib.PRIORITY_HIGH, reader, GLib.IO_HUP, dropped)
    passed = dbus.types.UnixFd(writer)
    os.close(writer)
    return passed


@dbus.service.method(
    MAIN_IFACE, in_signature="", out_signature="a(ssssuu)", async_callbacks=("answer", "refuse"))
def ListInhibitors(self, answer, refuse):
    record("listed")
    if state.get("unlisted", 0) > 0:
        state["unlisted"] -= 1
        refuse(dbus.exceptions.DBusException("Try again", name="org.freedesktop.DBus.Error.Failed"))
        return

    def say():
        answer(dbus.Array(
            [(what, who, why, mode, dbus.UInt32(user), dbus.UInt32(pid))
             for what, who, why, mode, user, pid in [*state.get("others", []), *state["kept"].values()]],
            signature="(ssssuu)"))
        if state.pop("forgetful", False):
            state["others"] = []
        return False

    GLib.timeout_add(state.get("busy", 0), say)


@dbus.service.method(MOCK_IFACE, in_signature="u", out_signature="")
def BeBusy(self, milliseconds):
    """So long passes before ListInhibitors is answered."""
    state["busy"] = int(milliseconds)


@dbus.service.method(MOCK_IFACE, in_signature="u", out_signature="")
def FailLists(self, count):
    """So many times from now on it does not say who holds locks."""
    state["unlisted"] = int(count)


@dbus.service.method(MOCK_IFACE, in_signature="a(ssssuu)", out_signature="")
def HoldOthers(self, locks):
    """Locks of other processes: what, who, why, mode, user, pid."""
    state["others"] = [tuple(lock) for lock in locks]


@dbus.service.method(MOCK_IFACE, in_signature="", out_signature="")
def ForgetOthers(self):
    """As soon as ListInhibitors was answered."""
    state["forgetful"] = True


@dbus.service.method(MOCK_IFACE, in_signature="", out_signature="s")
def MakeLock(self):
    """The path of a FIFO that is to be a lock, open at our end, and not shown yet."""
    state["locks"] += 1
    path = f"{state['inhibit']}/{state['locks']}"
    os.makedirs(state["inhibit"], exist_ok=True)
    os.mkfifo(f"{path}.ref")
    os.chmod(f"{path}.ref", 0o666)

    def dropped(fd, _condition):
        state["kept"].pop(path, None)
        os.close(fd)
        for name in (path, f"{path}.ref"):
            if os.path.exists(name):
                os.unlink(name)
        record("let-go", path=f"{path}.ref")
        return False

    reader = os.open(f"{path}.ref", os.O_RDONLY | os.O_NONBLOCK)
    GLib.unix_fd_add_full(GLib.PRIORITY_HIGH, reader, GLib.IO_HUP, dropped)
    return f"{path}.ref"


@dbus.service.method(MOCK_IFACE, in_signature="s(ssssuu)b", out_signature="")
def ShowLock(self, fifo, lock, is_listed):
    """The FIFO is a lock of this kind from now on."""
    path = fifo.removesuffix(".ref")
    what, who, why, mode, user, pid = lock
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# This is private data. Do not parse.\nWHAT={what}\nMODE={mode}\nUID={user}\nPID={pid}\n"
                   f"WHO={who}\nWHY={why}\nFIFO={fifo}\n")
    if is_listed:
        state["kept"][str(path)] = tuple(lock)


@dbus.service.method(MOCK_IFACE, in_signature="as", out_signature="")
def Refuse(self, kinds):
    """From now on locks on these are refused, and no others."""
    state["refuse"] = [str(kind) for kind in kinds]


@dbus.service.method(MAIN_IFACE, in_signature="b", out_signature="")
def Suspend(self, interactive):
    """Only written down: the test says when the board sleeps."""
    record("suspend", interactive=bool(interactive))
    if "suspend" in state["refuse"]:
        raise dbus.exceptions.DBusException("Refused", name="org.freedesktop.login1.OperationInProgress")


@dbus.service.method(MAIN_IFACE, in_signature="b", out_signature="")
def PowerOff(self, interactive):
    """As Suspend: the edge is the test's."""
    record("power-off", interactive=bool(interactive))
    if "power-off" in state["refuse"]:
        raise dbus.exceptions.DBusException("Refused", name="org.freedesktop.login1.OperationInProgress")


def session_path(name):
    return dbus.ObjectPath(f"{MAIN_OBJ}/session/{name}")


@dbus.service.method(MAIN_IFACE, in_signature="", out_signature="a(susso)")
def ListSessions(self):
    found = []
    for path, session in mockobject.objects.items():
        if "/session/" in path:
            seat = session.props[SESSION_IFACE]["Seat"][0]
            found.append((path.split("/")[-1], dbus.UInt32(1000), "somebody", seat, dbus.ObjectPath(path)))
    return found


@dbus.service.method(MOCK_IFACE, in_signature="sss", out_signature="")
def OpenSession(self, name, kind, seat):
    """A session of a class; seat: "" for one from afar."""
    seat_path = dbus.ObjectPath(f"{MAIN_OBJ}/seat/{seat}" if seat else "/")
    self.AddObject(
        session_path(name), SESSION_IFACE,
        {
            "Class": kind,
            "Seat": dbus.Struct((seat, seat_path), signature="so"),
            "State": "active",
            "Active": dbus.Boolean(True),
            "LockedHint": dbus.Boolean(False),
        }, [])
    self.EmitSignal(MAIN_IFACE, "SessionNew", "so", [name, session_path(name)])


@dbus.service.method(MOCK_IFACE, in_signature="s", out_signature="")
def CloseSession(self, name):
    self.RemoveObject(session_path(name))
    self.EmitSignal(MAIN_IFACE, "SessionRemoved", "so", [name, session_path(name)])


@dbus.service.method(MOCK_IFACE, in_signature="ss", out_signature="d")
def SessionSignal(self, name, signal):
    """Lock or Unlock. Returns when."""
    now = time.monotonic()
    mockobject.objects[session_path(name)].EmitSignal(SESSION_IFACE, signal, "", [])
    return now


@dbus.service.method(MOCK_IFACE, in_signature="sb", out_signature="d")
def HintLocked(self, name, locked):
    """What a locker says. Returns when."""
    now = time.monotonic()
    mockobject.objects[session_path(name)].UpdateProperties(SESSION_IFACE, {"LockedHint": dbus.Boolean(locked)})
    return now


@dbus.service.method(MOCK_IFACE, in_signature="b", out_signature="d")
def HintIdle(self, idle):
    now = time.monotonic()
    self.UpdateProperties(MAIN_IFACE, {"IdleHint": dbus.Boolean(idle)})
    return now


@dbus.service.method(MOCK_IFACE, in_signature="sb", out_signature="d")
def Edge(self, name, start):
    """Emits PrepareForSleep or PrepareForShutdown, the property first, as logind does. Returns when."""
    self.props[MAIN_IFACE]["Preparing" + name[len("Prepare"):]] = dbus.Boolean(start)
    now = time.monotonic()
    record("edge", name=name, start=bool(start))
    self.EmitSignal(MAIN_IFACE, name, "b", [start])
    return now


@dbus.service.method(MOCK_IFACE, in_signature="sv", out_signature="")
def Change(self, name, value):
    """Changes a property and says nothing of it."""
    self.props[MAIN_IFACE][name] = value


@dbus.service.method(MOCK_IFACE, in_signature="sv", out_signature="")
def Announce(self, name, value):
    """Changes a property, and says so."""
    self.UpdateProperties(MAIN_IFACE, {name: value})
