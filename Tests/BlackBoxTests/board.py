"""A board of its own for a test: a root, a daemon under test, its apps."""

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import cgroups
import family
from hardware import Hardware
from login import Login
from waiting import PATIENCE, wait_until
from wire import AppWire, VarlinkError, Wire, one_call

REPOSITORY = Path(__file__).resolve().parents[2]
CURFEWD = os.environ.get("CURFEWD", str(REPOSITORY / ".build/debug/curfewd"))
CURFEW = os.environ.get("CURFEW", str(REPOSITORY / ".build/debug/curfew"))
PYTHON = ["/usr/bin/python3", "-S", "-E"]
PROGRAMS = Path(__file__).parent / "programs"
CRASHES = ("Fatal error", "Crash:", "AddressSanitizer", "ThreadSanitizer", "runtime error:", "stack trace")
CONTROL = "io.curfew.Control"
count = 0


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    raise TypeError(value)


def toml_file(values):
    """Keys first, then tables. Names are written with - for _."""
    lines, tables = [], []
    for name, value in values.items():
        name = name.replace("_", "-")
        if isinstance(value, dict):
            tables.append(f"\n[{name}]")
            tables += [f"{key.replace('_', '-')} = {toml(item)}" for key, item in value.items()]
        else:
            lines.append(f"{name} = {toml(value)}")
    return "\n".join(lines + tables) + "\n"


class Board:
    def __init__(self):
        global count
        count += 1
        self.root = tempfile.mkdtemp(prefix="curfew-", dir="/tmp")
        os.chmod(self.root, 0o755)
        self.cgroup = f"curfew-test-{os.getpid()}-{count}"
        point = cgroups.mount_point()
        assert point, "these tests need a cgroup v2 that they can write to"
        self.group = Path(point) / self.cgroup
        self.apps_group = self.group / "apps"
        self.journals = Path(self.root) / "journals"
        self.journals.mkdir()
        self.journals.chmod(0o777)
        self.programs = Path(self.root) / "programs"
        shutil.copytree(PROGRAMS, self.programs)
        self.programs.chmod(0o755)
        self.apps_folder = Path(self.root) / "etc/curfew/apps"
        self.apps_folder.mkdir(parents=True)
        self.run = Path(self.root) / "run/curfew"
        self.state = Path(self.root) / "var/lib/curfew"
        self.control_socket = str(self.run / "io.curfew.Control")
        self.application_socket = str(self.run / "io.curfew.Application")
        self.log_path = Path(self.root) / "curfewd.log"
        self.program, self.login = CURFEWD, None
        # What it is played by, if a test plays it.
        self.hardware = None
        self.daemon = None
        self.mounts = []
        # The apps that run sample_app.py.
        self.samples = set()
        self.others = []
        # What a test sets when its daemon may end otherwise than by SIGTERM with 0.
        self.expects_stop = True

    # Configuration.

    def device(self, **tables):
        (Path(self.root) / "etc/curfew/curfew.toml").write_text(toml_file(tables))

    def app(self, name, *behaviours, **keys):
        """Configures a sample app. It is prompt and has a varlink delegate if not said otherwise."""
        keys.setdefault("exec", [*PYTHON, str(self.programs / "sample_app.py"), str(self.journal(name)), *behaviours])
        keys.setdefault("launch", "boot")
        keys.setdefault("delegate", "varlink")
        allowances = {"will_terminate": "1s", **keys.pop("allowances", {})}
        self.app_file(name, toml_file({**keys, "allowances": allowances}))
        self.samples.add(name)

    def plain(self, name, *behaviours, **keys):
        """One without a delegate."""
        self.app(name, *behaviours, delegate="none", **keys)

    def app_file(self, name, text):
        data = text if isinstance(text, bytes) else text.encode()
        (self.apps_folder / f"{name}.toml").write_bytes(data)

    def profile(self, name, text):
        """A board of this one name, for `profile = NAME`."""
        folder = Path(self.root) / "etc/curfew/hardware-profiles"
        folder.mkdir(exist_ok=True)
        head = 'description = "a board of tests"\n[match]\ncompatible = ["curfew,test-board"]\n'
        (folder / f"{name}.toml").write_text(head + text)

    def with_login(self, delay=5.0, **parameters):
        self.login = Login(self.root, groups=str(self.apps_group), delay=int(delay * 1e6), **parameters)
        return self.login

    def with_hardware(self):
        """Its devices are played, and its daemon hears of them."""
        self.hardware = Hardware()
        self.hardware.show_groups(cgroups.mount_point())
        return self.hardware

    # The daemon.

    def start(self, *arguments, wait=True, cgroup=None, environment=None, limits=None, descriptors=(), hears=None,
              prepare=None):
        """Starts the daemon; returns when it serves its Control socket.

        limits: of setrlimit(2); descriptors: it inherits them; hears: whether it hears of its board (power, heat,
        memory, people); if not said, of one that is played; prepare: what its process does before it is the daemon.
        """
        address = self.login.address if self.login else f"unix:path={self.root}/no-bus"
        variables = {"PATH": os.environ["PATH"], "SWIFT_BACKTRACE": "enable=no", "DBUS_SYSTEM_BUS_ADDRESS": address}
        if self.hardware:
            variables.update(self.hardware.environment())
        variables.update(environment or {})
        if not (self.hardware if hears is None else hears):
            arguments = ("--no-board", *arguments)

        def before():
            for limit, value in (limits or {}).items():
                resource.setrlimit(limit, value)
            if prepare:
                prepare()

        with open(self.log_path, "ab") as log:
            self.daemon = process = subprocess.Popen(
                [self.program, "--root", self.root, "--cgroup", cgroup or self.cgroup, *arguments],
                env=variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                # Python between fork and exec may wait for a lock that another thread had: only where it must be.
                preexec_fn=before if limits or prepare else None, pass_fds=descriptors)
        if wait:
            wait_until(self.answers, lambda: f"the daemon answers; it said:\n{self.log()}")
        return process

    def awake(self, *apps, delay=5.0, arguments=(), **parameters):
        """Starts a logind and the daemon; the login manager, when these apps are in front and its lock is held."""
        login = self.with_login(delay, **parameters)
        self.start(*arguments)
        self.wait_active(*apps)
        login.wait_held("sleep")
        return login

    def answers(self):
        assert self.daemon.poll() is None, f"curfewd ended with {self.daemon.returncode}:\n{self.log()}"
        try:
            one_call(self.control_socket, f"{CONTROL}.DescribeDevice", timeout=5)
        except OSError:
            return False
        return True

    def stop(self, timeout=PATIENCE):
        """SIGTERM; returns the exit status."""
        self.daemon.send_signal(signal.SIGTERM)
        return self.wait_end(timeout)

    def wait_end(self, timeout=PATIENCE):
        try:
            status = self.daemon.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"curfewd has not ended after {timeout} s; it said:\n{self.log()}") from None
        self.daemon = None
        return status

    def kill(self):
        """SIGKILL: the daemon dies without a word, and its loop with it."""
        with family.ends(family.loops(self.daemon.pid)):
            self.daemon.kill()
            self.daemon.wait()
        self.daemon = None

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def wait_log(self, text, times=1):
        wait_until(lambda: self.log().count(text) >= times, lambda: f"'{text}' is said:\n{self.log()}")

    def loop(self):
        """The pid of its loop, the child that does all but start programs."""
        return wait_until(lambda: next(iter(family.loops(self.daemon.pid)), None), "curfewd has a loop")

    # Its interfaces.

    def wire(self, timeout=PATIENCE):
        return Wire(self.control_socket, timeout)

    def call(self, method, timeout=PATIENCE, **parameters):
        return one_call(self.control_socket, f"{CONTROL}.{method}", parameters, timeout)

    def descriptors(self):
        """How many the daemon holds, when all connections that were closed before are closed there too: by the second
        answer it has looked at whatever was ready before the first question."""
        with self.wire() as wire:
            for _ in range(2):
                wire.call(f"{CONTROL}.DescribeDevice")
            return len(os.listdir(f"/proc/{self.loop()}/fd"))

    def error(self, method, **parameters):
        """The error that a call ends with."""
        try:
            answer = self.call(method, **parameters)
        except VarlinkError as error:
            return error
        raise AssertionError(f"{method} {parameters} was answered with {answer}")

    def device_state(self):
        return self.call("DescribeDevice")["device"]

    def describe(self, name):
        return self.call("Describe", app=name)["app"]

    def list(self):
        return {app["name"]: app for app in self.call("List")["apps"]}

    def terminations(self, name=None):
        return self.call("ListTerminations", app=name, since=None)["terminations"]

    def wait_app(self, name, **expected):
        """Returns the app's description when all given members have the given values."""
        def is_there():
            app = self.describe(name)
            return app if all(app[key] == value for key, value in expected.items()) else None

        return wait_until(is_there, lambda: f"{name} is {expected}: {self.describe(name)}\n{self.log()}")

    def wait_active(self, *names):
        """Returns when they are in front, and have done what they do at their start."""
        for name in names:
            self.wait_app(name, scenePhase="active", taskState="running")
            if name in self.samples:
                self.wait_running(name)

    def wait_running(self, name):
        """The pid of a sample app's main process, once it listens."""
        def is_running():
            pid = self.describe(name)["mainPID"]
            return pid if pid in [note["pid"] for note in self.notes(name, "running")] else None

        return wait_until(is_running, lambda: f"{name} has started: {self.notes(name)}\n{self.log()}")

    def wait_sleep(self, state):
        wait_until(
            lambda: self.device_state()["sleepState"] == state,
            lambda: f"the device is {state}: {self.device_state()}\n{self.log()}")

    def wait_termination(self, name, number=1):
        wait_until(
            lambda: len(self.terminations(name)) >= number,
            lambda: f"{name} has ended {number} times: {self.terminations(name)}\n{self.log()}")
        return self.terminations(name)[number - 1]

    # Its apps.

    def journal(self, name):
        return self.journals / f"{name}.jsonl"

    def notes(self, name, event=None):
        """What an app wrote down."""
        try:
            # A line that is just being written may be there in part.
            lines = self.journal(name).read_text().split("\n")[:-1]
        except OSError:
            return []
        notes = [json.loads(line) for line in lines]
        return [note for note in notes if event in (None, note["event"])]

    def wait_note(self, name, event, number=1):
        """The number-th note of a kind."""
        wait_until(
            lambda: len(self.notes(name, event)) >= number,
            lambda: f"{name} notes {event} ({number}): {self.notes(name)}\n{self.log()}")
        return self.notes(name, event)[number - 1]

    def calls(self, name):
        return [note["handler"] for note in self.notes(name, "call")]

    def wait_call(self, name, handler, number=1):
        def found():
            matching = [note for note in self.notes(name, "call") if note["handler"] == handler]
            return matching[number - 1] if len(matching) >= number else None

        return wait_until(found, lambda: f"{name} hears {handler}: {self.notes(name)}\n{self.log()}")

    def borrow(self, name):
        """A connection to io.curfew.Application that an app with `lend` has opened."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as desk:
            desk.settimeout(PATIENCE)
            desk.connect(f"{self.journal(name)}.lend")
            _, descriptors, _, _ = socket.recv_fds(desk, 1, 1)
        return AppWire(connected=socket.socket(fileno=descriptors[0]))

    def signal(self, name, number):
        pid = self.wait_running(name) if name in self.samples else self.describe(name)["mainPID"]
        os.kill(pid, number)

    def instance(self, name):
        """The control group of the app's running instance."""
        groups = cgroups.instances(self.apps_group)
        found = [path for key, path in groups.items() if key.rpartition(".")[0] == name]
        assert len(found) == 1, f"{name} has {len(found)} instances: {found}"
        return found[0]

    def instances(self):
        """The names of the apps that have processes, one an instance."""
        return sorted(name.rpartition(".")[0] for name in cgroups.instances(self.apps_group))

    def is_frozen(self, name):
        return cgroups.events(self.instance(name)).get("frozen", False)

    # The end.

    def tmpfs(self, path, size):
        """Mounts a small file system of the board's own."""
        Path(path).mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "curfew-test", str(path)], check=True)
        self.mounts.append(str(path))

    def close(self, look=lambda: []):
        """Ends everything that belongs to this board; returns what was wrong with the daemon's own end, and what
        `look` finds in what it has left."""
        try:
            return self._end_daemon() + look()
        finally:
            self._clean()

    def _end_daemon(self):
        complaints = []
        log = self.log()
        complaints += [f"the daemon said '{word}'" for word in CRASHES if word in log]
        if self.daemon is None:
            return complaints
        if self.daemon.poll() is not None:
            return complaints + [f"the daemon died with status {self.daemon.returncode}"]
        if not self.expects_stop:
            return complaints
        self.daemon.send_signal(signal.SIGTERM)
        try:
            status = self.daemon.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return complaints + [f"the daemon has not ended {PATIENCE} s after SIGTERM"]
        self.daemon = None
        if status != 0:
            complaints.append(f"the daemon ended with {status} after SIGTERM")
        left = cgroups.instances(self.apps_group)
        if left:
            complaints.append(f"it left {list(left)}")
        return complaints

    def _clean(self):
        if self.daemon is not None and self.daemon.poll() is None:
            self.kill()
        for process in self.others:
            if process.poll() is None:
                process.kill()
            process.wait()
        started = [note["pid"] for path in self.journals.glob("*.jsonl") for note in self.notes(path.stem)]
        for pid in set(started):
            if self._is_ours(pid):
                cgroups.kill_if_same(pid, cgroups.started_at(pid))
        cgroups.remove(self.group)
        if self.login:
            self.login.close()
        if self.hardware:
            self.hardware.close()
        for path in reversed(self.mounts):
            subprocess.run(["umount", "--lazy", path], check=False)
        shutil.rmtree(self.root, ignore_errors=True)

    def _is_ours(self, pid):
        try:
            return self.root.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False
