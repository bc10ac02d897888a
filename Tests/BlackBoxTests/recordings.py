"""What a daemon has recorded, as `curfew replay` has it."""

import json
import subprocess
from pathlib import Path

import board as boards


def replay(root, *arguments):
    """The whole command; its text is in stdout."""
    return subprocess.run(
        [boards.CURFEW, "--root", str(root), "replay", *arguments], capture_output=True, text=True, timeout=60)


def parts(root, *arguments):
    """Beginnings and steps, in order."""
    played = replay(root, "--json", *arguments)
    assert played.returncode in (0, 1), played.stderr
    return [json.loads(line) for line in played.stdout.splitlines()]


def steps(root, *arguments):
    return [part for part in parts(root, *arguments) if "step" in part]


def differences(root):
    """A list: what this version's core decides otherwise than the daemon did, where there is a recording."""
    recording = Path(root) / "var/lib/curfew/recording"
    if recording.is_symlink() or not recording.is_file():
        return []
    played = replay(root, "--compare")
    return [f"the recording of the run: {played.stdout}{played.stderr}"] if played.returncode != 0 else []
