"""The board under test: a machine with Curfew installed, its apps, and what the journal says of them."""

import json
import shlex
import time

from machine import PATIENCE, MachineError

PROGRAM = "/payload/app"
# The kinds of what curfewd and systemd say (MESSAGE_ID), and what is looked for in them.
SLEEP_STARTS = "6bbd95ee977941e497c48be27c254128"
LOGIND = "busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager"
SUSPEND = "systemctl suspend"
# Of a board that sleeps in s2idle: over the time that other hooks may take.
LEAST_ALARM = 12
ALARM = "/run/board-alarm"
ALARM_HOOK = "/usr/lib/systemd/system-sleep/board-alarm"
LAUNCHED = ["DidFinishLaunching", "DidBecomeActive"]
TO_SLEEP = ["WillResignActive", "DidEnterBackground"]
BACK = ["WillEnterForeground", "DidBecomeActive"]


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value)


def toml_file(values):
    """Keys first, then tables. Names are written with - for _."""
    lines, tables = [], []
    for name, value in values.items():
        name = name.replace("_", "-")
        if isinstance(value, dict):
            tables.append(f"[{name}]")
            tables += [f"{key.replace('_', '-')} = {toml(item)}" for key, item in value.items()]
        else:
            lines.append(f"{name} = {toml(value)}")
    return "\n".join(lines + tables) + "\n"


def app(*behaviours, **keys):
    """An app's file: guest/app.c that behaves so."""
    return toml_file({"exec": [PROGRAM, *behaviours], "delegate": "varlink", **keys})


class Board:
    def __init__(self, machine):
        self.machine = machine
        self.sh, self.until = machine.sh, machine.until

    # Curfew on it.

    def mount_payload(self):
        """Now, and at every boot before the apps are started from it."""
        self.sh("mkdir -p /payload; mountpoint -q /payload || mount -o ro /dev/vdb /payload; "
                "grep -q payload /etc/fstab || echo /dev/vdb /payload ext4 ro 0 2 >>/etc/fstab")

    def install(self):
        self.mount_payload()
        if not self.machine.kind.sleeps_deeply:
            self.set_alarm()
        return self.sh(
            "export DEBIAN_FRONTEND=noninteractive; apt-get install -y -q --no-install-recommends /payload/debs/*.deb",
            timeout=400)

    def wait(self, condition, what, timeout=PATIENCE):
        """The first true value of condition(); what: text, or what returns one."""
        end = time.monotonic() + timeout
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                raise MachineError(f"not within {timeout} s: {what() if callable(what) else what}")
            time.sleep(0.1)  # not a wait: between two looks at the condition, which has a bound

    def put(self, path, text):
        self.sh(f"mkdir -p $(dirname {shlex.quote(path)}); cat >{shlex.quote(path)} <<'END-OF-FILE'\n{text}END-OF-FILE")

    def begin(self, apps, device=""):
        """A daemon that begins anew, with these apps; returns when those that start at boot are active."""
        files = {f"/etc/curfew/apps/{name}.toml": text for name, text in apps.items()}
        if device:
            files["/etc/curfew/curfew.toml"] = device
        script = ["set -e; systemctl stop curfewd",
                  "rm -rf /etc/curfew/apps/* /etc/curfew/curfew.toml /var/lib/curfew/*"]
        script += [f"cat >{path} <<'END-OF-FILE'\n{text}END-OF-FILE" for path, text in files.items()]
        self.sh("\n".join(script))
        # The last words of those before belong to another story.
        self.mark()
        self.sh("systemctl reset-failed curfewd 2>/dev/null; systemctl start curfewd")
        self.wait_active(*[name for name, text in apps.items() if "launch =" not in text])
        # Without its lock logind does not wait for it.
        self.wait_lock()

    def status(self):
        return json.loads(self.sh("curfew status --json"))

    def device(self):
        return self.status()["device"]

    def apps(self):
        return {one["name"]: one for one in self.status()["apps"]}

    def are_active(self, *names):
        status, output = self.machine.try_sh("curfew status --json")
        if status != 0:
            return False
        apps = {one["name"]: one for one in json.loads(output)["apps"]}
        return all(apps.get(name, {}).get("scenePhase") == "active" for name in names)

    def wait_active(self, *names):
        self.wait(lambda: self.are_active(*names),
                  lambda: f"{', '.join(names)}: in front\n{self.machine.try_sh('curfew status')[1]}")

    def wait_lock(self):
        self.until("systemd-inhibit --list --no-pager | grep -i curfew | grep sleep | grep -q delay",
                   "curfewd holds its lock on sleep")

    def reports(self, name=None):
        """Why apps have ended, the oldest first."""
        answer = json.loads(self.sh(f"curfew reports --json {name or ''}"))
        return answer["terminations"] if isinstance(answer, dict) else answer

    def main_pid(self):
        return int(self.sh("systemctl show --value -p MainPID curfewd"))

    def loop_pid(self):
        """Of the child that does all but start programs."""
        return int(self.sh(f"pgrep -P {self.main_pid()} -x curfewd"))

    # The journal.

    def mark(self):
        """What is read of the journal from now on is newer than this."""
        text = self.sh("journalctl --sync; journalctl -n 0 --show-cursor --no-pager | tail -n 1")
        self.cursor = text.split("cursor: ")[1].strip()

    def journal(self, *matches, boot="all"):
        """Entries since the mark, or of a whole boot (0, -1), the oldest first."""
        # Not --after-cursor, which leaves out the first that matches (systemd 252).
        since = f"--cursor={shlex.quote(self.cursor)}" if boot == "all" else f"-b {boot}"
        wanted = " ".join(map(shlex.quote, matches))
        text = self.sh(f"journalctl --sync; journalctl --no-pager -o json {since} {wanted}")
        entries = [json.loads(line) for line in text.split("\n") if line.startswith("{")]
        return [entry for entry in entries if boot != "all" or entry["__CURSOR"] != self.cursor]

    def said(self, name, boot="all"):
        """What an app has said: [(the handler, the line)]."""
        entries = self.journal(f"SYSLOG_IDENTIFIER=curfew-{name}", boot=boot)
        lines = [entry["MESSAGE"] for entry in entries if isinstance(entry.get("MESSAGE"), str)]
        return [(line.split()[0], line) for line in lines]

    def handlers(self, name):
        """The handlers that it has heard, without those that only inform."""
        return [word for word, _ in self.said(name) if word[:3] in ("Did", "Wil") and not word.endswith("DidChange")]

    def wait_handler(self, name, handler, number=1):
        self.wait(lambda: self.handlers(name).count(handler) >= number,
                  lambda: f"{name} hears {handler} ({number}): {self.said(name)}")

    def daemon_said(self, text, boot="all"):
        return [entry for entry in self.journal("_COMM=curfewd", boot=boot) if text in str(entry.get("MESSAGE"))]

    def wait_daemon_said(self, text, number=1):
        return self.wait(lambda: len(self.daemon_said(text)) >= number and self.daemon_said(text),
                         lambda: f"curfewd says '{text}' ({number}):\n{self.daemon_log()}")

    def daemon_log(self):
        return self.machine.try_sh("journalctl --no-pager -u curfewd -n 40 -o short-monotonic")[1]

    # Sleeping.

    def sleeps(self):
        return int(self.sh("cat /sys/power/suspend_stats/success"))

    def sleep(self, command=SUSPEND, seconds=1.5):
        """One real sleep by that command, and a wake-up: by the power button after `seconds` where QEMU tells that the
        board sleeps, else by the real-time clock (see set_alarm). Returns for how many seconds it has slept. It is an
        error if the kernel has not."""
        before, clocks = self.sleeps(), self.machine.clocks
        if self.machine.kind.sleeps_deeply:
            request = self.machine.start(command)
            self.await_sleep(seconds)
            self.machine.finish(request)
        else:
            self.sh(f"echo {max(int(seconds), LEAST_ALARM)} >{ALARM}; {command}")
        self.wait_awake(before)
        if self.machine.kind.sleeps_deeply:
            after = self.machine.clocks
            return (after[1] - after[0]) - (clocks[1] - clocks[0])
        # There both clocks run on; the kernel's log knows.
        times = self.sh(r"dmesg | sed -nE 's/^\[ *([0-9.]+)\] PM: suspend (entry|exit).*/\1/p' | tail -n 2").split()
        return float(times[1]) - float(times[0])

    def set_alarm(self):
        """In s2idle nothing but the real-time clock wakes the board. The alarm is set at the last moment, as a sleep
        hook: one that rings before the board sleeps would be the only one."""
        seconds = f"$(cat {ALARM} || echo {LEAST_ALARM})"
        self.put(ALARM_HOOK, f"#!/bin/sh\n[ $1 = pre ] && rtcwake -m no -s {seconds}\nexit 0\n")
        self.sh(f"chmod +x {ALARM_HOOK}")

    def await_sleep(self, seconds=1.5):
        """QEMU tells that the board sleeps; then it is woken."""
        self.machine.wait_event("SUSPEND")
        time.sleep(seconds)  # not a wait: so long the board sleeps
        self.machine.qmp("system_wakeup")
        self.machine.wait_event("WAKEUP")

    def wait_awake(self, before):
        """The kernel has slept once more than that, and logind takes a next sleep."""
        self.until(
            f"[ $(cat /sys/power/suspend_stats/success) -gt {before} ]"
            f" && [ \"$({LOGIND} PreparingForSleep)\" = 'b false' ]"
            " && ! systemctl is-active -q systemd-suspend.service", "awake again")

    def time_to_sleep(self):
        """Milliseconds from logind's decision, and from curfewd's word that all are ready (None: it has none), to the
        kernel being asked to sleep: of the latest sleep."""
        entries = self.journal()
        ends = [stamp(entry) for entry in entries if entry.get("MESSAGE_ID") == SLEEP_STARTS]
        begins = stamps(entries, "systemd-logind", "suspend now")
        ready = stamps(entries, "curfewd", "ready after")
        assert ends and begins, f"no sleep in the journal: {[entry.get('MESSAGE') for entry in entries][-20:]}"
        return (ends[-1] - begins[-1]) / 1000, (ends[-1] - ready[-1]) / 1000 if ready else None


def stamps(entries, program, text):
    return [stamp(one) for one in entries if one.get("_COMM") == program and text in str(one.get("MESSAGE"))]


def stamp(entry):
    """When it was said, in microseconds."""
    return int(entry.get("_SOURCE_REALTIME_TIMESTAMP") or entry["__REALTIME_TIMESTAMP"])
