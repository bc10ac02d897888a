"""A QEMU machine that image/build has made: real logind, real sleep, udev, hardware watchdog and cgroup v2.

It is emulated (TCG), never KVM: a /dev/kvm that can be opened may still hang the guest. So everything in it is slow,
and slower while the host is busy: whatever is waited for is waited for as an event, with a generous bound.
"""

import os
import subprocess
import time
from pathlib import Path

from channel import Channel, Gone

# For what has to happen but not at once.
PATIENCE = 120
BOOT_PATIENCE = 400


class MachineError(Exception):
    """The machine did not do what was asked of it."""


class Architecture:
    """What differs between the boards. sleeps_deeply: S3, of which QEMU tells; else s2idle, of which only the guest
    knows, and in which its clocks run on."""

    def __init__(self, program, machine, cpu, console, sleeps_deeply):
        self.program, self.machine, self.cpu, self.console = program, machine, cpu, console
        self.sleeps_deeply = sleeps_deeply


ARCHITECTURES = {
    # Not q35: it really sleeps only the first time.
    "amd64": Architecture("qemu-system-x86_64", "pc", "max", "ttyS0", True),
    "arm64": Architecture("qemu-system-aarch64", "virt,gic-version=3", "cortex-a57", "ttyAMA0", False),
}


class Machine:
    """image: the folder that image/build has printed. payload: an ext4 image, /dev/vdb of the guest, or None. folder:
    where the serial log and QEMU's own words go."""

    def __init__(self, arch, image, payload, folder):
        self.arch, self.image, self.payload, self.folder = arch, Path(image), payload, Path(folder)
        self.kind = ARCHITECTURES[arch]
        self.process = None
        self.events, self._pending = [], []
        # For a scenario that wants to know for how long the board has slept: what MONOTONIC and BOOTTIME were.
        self.clocks = (0.0, 0.0)
        self._id, self._hello = 0, None

    # Life.

    def boot(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self._qmp, self._agent = Channel(), Channel()
        self._started = time.monotonic()
        self._epoch = time.time()
        passed = [self._qmp.other.fileno(), self._agent.other.fileno()]
        with open(self.folder / "qemu.err", "w") as errors:
            self.process = subprocess.Popen(
                self._command(*passed), stdin=subprocess.DEVNULL, stderr=errors, pass_fds=passed,
                env={**os.environ, "TMPDIR": str(self.folder)})
        self._qmp.other.close()
        self._agent.other.close()
        if not self._from(self._qmp, time.monotonic() + PATIENCE):
            raise MachineError("QEMU does not greet")
        self.qmp("qmp_capabilities")
        return self

    def _command(self, qmp, agent):
        kind, image = self.kind, self.image
        disk = f"file={image}/disk.img,format=raw,if=none,id=disk,cache=unsafe,snapshot=on"
        command = [
            # It does not outlive us.
            "setpriv", "--pdeathsig", "KILL", "--",
            kind.program, "-machine", kind.machine, "-cpu", kind.cpu, "-smp", "2", "-m", "1024",
            "-accel", "tcg,thread=multi,tb-size=512", "-nodefaults", "-no-user-config", "-display", "none",
            "-kernel", f"{image}/vmlinuz", "-initrd", f"{image}/initrd.gz",
            "-append", f"console={kind.console} quiet panic=-1 net.ifnames=0 mitigations=off psi=1 "
            "systemd.getty_auto=no",
            "-drive", disk, "-device", "virtio-blk-pci,drive=disk",
            "-chardev", f"file,id=serial,path={self.folder}/serial.log", "-serial", "chardev:serial",
            "-chardev", f"socket,id=qmp,fd={qmp}", "-mon", "chardev=qmp,mode=control",
            "-chardev", f"socket,id=agent,fd={agent}",
            "-device", "virtio-serial-pci", "-device", "virtserialport,chardev=agent,name=board.agent",
            "-device", "i6300esb", "-action", "watchdog=reset"]
        if self.payload:
            command += ["-drive", f"file={self.payload},format=raw,if=none,id=payload,readonly=on",
                        "-device", "virtio-blk-pci,drive=payload"]
        return command

    def wait_boot(self, timeout=BOOT_PATIENCE):
        """Until the guest's agent answers, after boot() or a reset."""
        deadline = time.monotonic() + timeout
        while self._hello is None:
            message = self._from(self._agent, deadline)
            if message is None:
                raise MachineError(f"not up after {timeout} s, see {self.folder}/serial.log")
            self._hello = message.get("hello")
        self._hello = None

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def close(self):
        """Pulls the plug."""
        if self.is_running():
            try:
                self._qmp.send({"execute": "quit"})
                self.process.wait(10)
            except (OSError, subprocess.TimeoutExpired):
                self.process.kill()
                self.process.wait()
        if self.process:
            self._qmp.close()
            self._agent.close()

    # The guest.

    def start(self, command, timeout=PATIENCE):
        """Runs a command of bash as root; finish() has its outcome."""
        self._id += 1
        self._agent.send({"id": self._id, "command": command, "timeout": timeout})
        return self._id, time.monotonic() + timeout + PATIENCE, command

    def finish(self, request):
        """(exit status, what it has printed). What it has started in the background may stay."""
        identifier, deadline, command = request
        while True:
            message = self._from(self._agent, deadline)
            if message is None:
                raise MachineError(f"the guest does not answer; it was asked to: {command}")
            if "hello" in message:
                self._hello = message["hello"]
                raise MachineError(f"the board was reset; it was asked to: {command}")
            if message.get("id") == identifier:
                self.clocks = message["monotonic"], message["boottime"]
                return message["status"], message["output"]

    def try_sh(self, command, timeout=PATIENCE):
        return self.finish(self.start(command, timeout))

    def sh(self, command, timeout=PATIENCE):
        """What the command has printed; it has to succeed."""
        status, output = self.try_sh(command, timeout)
        if status:
            raise MachineError(f"exit {status} of: {command}\n{output.strip()[-3000:]}")
        return output

    def until(self, command, what=None, timeout=PATIENCE):
        """Runs a command in the guest until it succeeds; what it has printed then."""
        script = f"""end=$((SECONDS + {timeout}))
            until output=$({command}); do [ $SECONDS -lt $end ] || {{ echo "$output"; exit 99; }}; sleep 0.1; done
            echo "$output" """
        status, output = self.try_sh(script, timeout + PATIENCE)
        if status:
            raise MachineError(f"not within {timeout} s: {what or command}\n{output.strip()[-3000:]}")
        return output

    # QEMU.

    def qmp(self, command, **arguments):
        self._qmp.send({"execute": command, "arguments": arguments})
        deadline = time.monotonic() + PATIENCE
        while True:
            message = self._from_qmp(deadline)
            if message is None or "error" in message:
                raise MachineError(f"QMP {command}: {message['error']['desc'] if message else 'no answer'}")
            if "return" in message:
                return message["return"]

    def stands(self, file):
        """Whether QEMU runs, and its guest has not answered: where its processors are is in the file then."""
        if not self.is_running():
            return False
        try:
            state = self.qmp("query-status")["status"]
            registers = self.qmp("human-monitor-command", **{"command-line": "info registers -a"})
        except MachineError as error:
            state, registers = f"unknown: {error}", ""
        file.write_text(f"{state}\n{registers}\n")
        return True

    def wait_event(self, name, timeout=PATIENCE):
        """QEMU's oldest event of that name that was not waited for yet; it has to come. "t": seconds since boot()."""
        event = self.find_event(name, timeout)
        if event is None:
            raise MachineError(f"no {name} within {timeout} s; QEMU has told of: {self.said()}")
        return event

    def find_event(self, name, timeout=0.0):
        deadline = time.monotonic() + timeout
        while True:
            for event in self._pending:
                if event["event"] == name:
                    self._pending.remove(event)
                    return event
            if self._from_qmp(deadline) is None:
                return None

    def forget_events(self):
        """What comes from now on is new: several RESETs follow one."""
        while self._from_qmp(time.monotonic()) is not None:
            pass
        self._pending.clear()

    def said(self):
        return ", ".join(f"{event['event']} at {event['t']:.1f} s" for event in self.events[-12:]) or "nothing"

    def _from_qmp(self, deadline):
        message = self._from(self._qmp, deadline)
        if message and "event" in message:
            stamp = message["timestamp"]
            message["t"] = stamp["seconds"] + stamp["microseconds"] / 1e6 - self._epoch
            self.events.append(message)
            self._pending.append(message)
        return message

    def _from(self, channel, deadline):
        try:
            return channel.receive(deadline)
        except Gone:
            errors = (self.folder / "qemu.err").read_text().strip()
            raise MachineError(f"QEMU is gone ({self.process.wait(30)}) {errors}") from None
