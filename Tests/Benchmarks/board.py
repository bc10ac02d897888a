"""What a measurement runs on: a private root, a control group, a supervisor (curfewd or the floor), what it starts."""

import collections
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from wire import Wire

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
BUILD = REPOSITORY / ".build/bench"
CURFEWD = REPOSITORY / ".build/device/curfewd"
SLEEP = ["/usr/bin/sleep", "infinity"]
MS = 1_000_000


def temporary_folder():
    """On a tmpfs where there is one, as /run is on every board: a socket costs an inode, and on ext4 that takes longer
    than the process it is made for."""
    mounts = dict(line.split()[1:3] for line in Path("/proc/self/mounts").read_text().splitlines())
    return next((place for place in ("/run", "/dev/shm") if mounts.get(place) == "tmpfs"), "/tmp")


class Trouble(Exception):
    """A measurement cannot be made; the text says why."""


def cgroup_mount():
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        if after.split()[0] == "cgroup2" and os.access(before.split()[4], os.W_OK):
            return Path(before.split()[4])
    raise Trouble("no cgroup v2 that this user may write to; run as root")


def wait_for(condition, what, seconds=30, pause=0.02):
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise Trouble(f"not within {seconds} s: {what}")
        time.sleep(pause)  # not a wait: bounded above
    return value


class Lines:
    """Lines that come from processes through a descriptor."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        os.set_blocking(descriptor, False)
        self.poll = select.poll()
        self.poll.register(descriptor, select.POLLIN)
        self.pending = b""

    def next(self, seconds=30):
        end = time.monotonic() + seconds
        while b"\n" not in self.pending:
            left = end - time.monotonic()
            if left <= 0 or not self.poll.poll(left * 1000):
                raise Trouble(f"nothing was said for {seconds} s")
            chunk = os.read(self.descriptor, 1 << 16)
            if not chunk:
                raise Trouble("it ended without a word")
            self.pending += chunk
        line, _, self.pending = self.pending.partition(b"\n")
        return line.decode()

    def drop(self):
        """Forgets what has been said up to now."""
        while self.poll.poll(0) and os.read(self.descriptor, 1 << 16):
            pass
        self.pending = b""


class Fifo(Lines):
    """What apps say: ("start", PID, NOW, …) and ("call", PID, …)."""

    def __init__(self, path):
        self.path = str(path)
        os.mkfifo(path)
        # An app in a sandbox is another user.
        os.chmod(path, 0o666)
        super().__init__(os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK))

    def word(self, kind, seconds=30):
        while True:
            said = self.next(seconds).split()
            if said[0] == kind:
                return [int(number) for number in said[1:]]

    def close(self):
        os.close(self.descriptor)


class Login:
    """A private bus with a logind on it."""

    def __init__(self):
        self.root = tempfile.mkdtemp(prefix="curfew-bench-bus-", dir="/tmp")
        self.address = f"unix:path={self.root}/bus"
        self.bus = self.manager = None
        try:
            self.bus = subprocess.Popen(
                ["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address={self.address}"],
                stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            wait_for(lambda: os.path.exists(f"{self.root}/bus"), "dbus-daemon serves its socket")
            self.manager = subprocess.Popen(
                ["/usr/bin/python3", str(HERE / "login_manager.py"), self.address],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
            self.lines = Lines(self.manager.stdout.fileno())
            self.event("ready")
        except BaseException:
            self.close()
            raise

    def any_event(self, seconds=30):
        return json.loads(self.lines.next(seconds))

    def event(self, kind, seconds=30, **matching):
        while True:
            event = self.any_event(seconds)
            if event["event"] == kind and all(event[name] == value for name, value in matching.items()):
                return event

    def edge(self, start):
        self.manager.stdin.write(b"sleep 1\n" if start else b"sleep 0\n")
        self.manager.stdin.flush()

    def close(self):
        for process in (self.manager, self.bus):
            if process:
                process.kill()
                process.wait()
        shutil.rmtree(self.root, ignore_errors=True)


class Supervisor:
    """A process that keeps others in control groups below `group`. Ended with all that it has started."""

    count = 0

    def __init__(self):
        Supervisor.count += 1
        self.group_name = f"curfew-bench-{os.getpid()}-{Supervisor.count}"
        self.group = cgroup_mount() / self.group_name
        self.root = Path(tempfile.mkdtemp(prefix="curfew-bench-", dir=temporary_folder()))
        self.root.chmod(0o755)
        self.fifo = Fifo(self.root / "fifo")
        self.output = self.root / "output"
        self.pid = None
        self.started = None

    def __enter__(self):
        return self

    def exec(self, arguments, **variables):
        """Starts the supervisor itself; `started` is taken just before."""
        output = os.open(self.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC)
        actions = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)]
        actions += [(os.POSIX_SPAWN_DUP2, output, number) for number in (1, 2)]
        environment = {"PATH": os.environ["PATH"], **variables}
        arguments = [str(argument) for argument in arguments]
        self.started = time.monotonic_ns()
        self.pid = os.posix_spawn(arguments[0], arguments, environment, file_actions=actions, setpgroup=0)
        os.close(output)

    def said(self):
        return self.output.read_text(errors="replace")

    def own(self):
        """The supervisor's own processes: the one that was started, and what of its children is the same program."""
        program = os.readlink(f"/proc/{self.pid}/exe")
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [self.pid] + [int(child) for child in children if os.readlink(f"/proc/{child}/exe") == program]

    def status(self, name):
        """Added up over them."""
        total = 0
        for pid in self.own():
            words = [line.split() for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
            total += next(int(line[1]) for line in words if line[0] == name + ":")
        return total

    def ran(self):
        """Nanoseconds they have been on a processor."""
        return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in self.own())

    def switches(self):
        return self.status("voluntary_ctxt_switches") + self.status("nonvoluntary_ctxt_switches")

    def memory(self):
        """{"Pss": KiB, …} of the supervisor itself, once it has settled."""
        os.sync()
        readings = []
        for _ in range(40):
            reading = collections.Counter()
            for pid in self.own():
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
                reading.update({line.split(":")[0]: int(line.split()[1]) for line in lines})
            readings.append(reading)
            last = [taken["Pss"] for taken in readings[-3:]]
            if len(last) == 3 and max(last) - min(last) <= 8:
                break
            time.sleep(0.25)  # not a wait: the readings are to be apart
        return readings[-1]

    def last_start(self, count):
        """Nanoseconds from our exec to the first instruction of the last of `count` apps."""
        return max(self.fifo.word("start")[1] for _ in range(count)) - self.started

    def processes(self):
        found = 0
        for file in self.group.rglob("cgroup.procs"):
            found += len(file.read_text().split())
        return found

    def __exit__(self, _kind, error, _traceback):
        """Bounded, and not to be interrupted: nothing of it may stay."""
        if isinstance(error, Trouble) and self.output.exists():
            error.args = (f"{error}\n{type(self).__name__} said: {self.said()[-1000:]}",)
        interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.alarm(0)
        try:
            self.end()
            self.remove_group()
        finally:
            self.fifo.close()
            shutil.rmtree(self.root, ignore_errors=True)
            signal.signal(signal.SIGINT, interrupt)

    def end(self):
        if self.pid is None or os.waitpid(self.pid, os.WNOHANG)[0]:
            return
        os.kill(self.pid, signal.SIGTERM)
        end = time.monotonic() + 15
        while not os.waitpid(self.pid, os.WNOHANG)[0]:
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                return
            time.sleep(0.02)  # not a wait: bounded above

    def remove_group(self):
        if not self.group.exists():
            return
        if self.processes():
            (self.group / "cgroup.kill").write_text("1")
            wait_for(lambda: not self.processes(), f"{self.group} is empty", seconds=10)
        for folder, _, _ in os.walk(self.group, topdown=False):
            os.rmdir(folder)


class Curfew(Supervisor):
    """curfewd as it is shipped, with apps of the same kind, and others: [(command, keys), …]."""

    def __init__(self, login, command, count=1, others=(), **keys):
        super().__init__()
        self.login = login
        folder = self.root / "etc/curfew/apps"
        folder.mkdir(parents=True)
        self.count = count
        for number in range(count):
            (folder / f"app-{number:04}.toml").write_text(self.toml(command, keys))
        for number, other in enumerate(others):
            (folder / f"other-{number}.toml").write_text(self.toml(*other))

    def toml(self, command, keys):
        command = [self.fifo.path if word is Fifo else str(word) for word in command]
        values = {"exec": command, "launch": "boot", "delegate": "none", "restart": "never", **keys}
        if "sandbox" in values:
            # It hides /tmp, and what the apps speak to is there.
            values["read_only_paths"] = [str(self.root)]
        tables = {name: values.pop(name) for name in ("allowances", "background") if name in values}
        lines = self.members(values)
        for name, members in tables.items():
            lines += [f"[{name}]", *self.members(members)]
        return "\n".join(lines) + "\n"

    @staticmethod
    def members(values):
        return [f"{name.replace('_', '-')} = {json.dumps(value)}" for name, value in values.items()]

    def start(self, **variables):
        self.login.lines.drop()
        self.exec(
            [CURFEWD, "--root", self.root, "--cgroup", self.group_name],
            DBUS_SYSTEM_BUS_ADDRESS=self.login.address, **variables)
        return self

    def wire(self):
        return Wire(str(self.root / "run/curfew/io.curfew.Control"))

    def apps(self):
        try:
            with self.wire() as wire:
                return wire.call("List")["apps"]
        except OSError:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                self.pid = None
                raise Trouble(f"curfewd ended by itself:\n{self.said()}") from None
            return []

    def wait_running(self, phase=None):
        """All but the others."""
        def all_run():
            apps = [app for app in self.apps() if app["name"].startswith("app-")]
            invalid = [f"{app['name']}: {app['invalid']}" for app in apps if app.get("invalid")]
            if invalid:
                raise Trouble("\n".join(invalid))
            running = [app for app in apps if app["taskState"] == "running" and phase in (None, app["scenePhase"])]
            return len(running) == self.count

        wait_for(all_run, f"{self.count} apps run", pause=0.1)
        return self

    def wait_locked(self):
        self.login.event("inhibit", what="sleep")


class Floor(Supervisor):
    """The C program that does the least."""

    def start(self, count, command):
        self.exec([BUILD / "floor", "--group", self.group, count, "--", *self.words(command)])
        return self

    def delegates(self, *arguments, command):
        self.exec([BUILD / "floor_delegates", *arguments, self.group, *self.words(command)])
        return self

    def tasks(self, mode, number, command):
        """mode: --serve or --expire."""
        self.exec([BUILD / "floor_tasks", mode, number, self.root / "socket", self.group, *self.words(command)])
        return self

    def conditions(self, *arguments, command):
        self.exec([BUILD / "floor_conditions", *arguments, self.group, *self.words(command)])
        return self

    def words(self, command):
        return [self.fifo.path if word is Fifo else str(word) for word in command]

    def wait_started(self):
        return self.wait_said("started")

    def wait_said(self, word):
        wait_for(lambda: word in self.said(), f"the floor says: {word}")
        return self
