"""Looks at the system as an app sees it: each command of the second argument's JSON, by name, and what came of it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

FOUND, COMMANDS = Path(sys.argv[1]), json.loads(sys.argv[2])


def run(command):
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else f"{done.stdout.strip()} !{done.returncode}".strip()


found = {name: run(command) for name, command in COMMANDS.items()}
part = FOUND.with_suffix(".part")
part.write_text(json.dumps(found))
part.rename(FOUND)
if os.environ.get("CURFEW_EVENT") is None:
    time.sleep(1000)  # not a wait: it lives on
