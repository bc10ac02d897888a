"""The users that apps and the daemon run as."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from board import CURFEW, CURFEWD
from test_sandbox import probe, what
from waiting import wait_until


def test_its_user_has_a_name_for_the_system(board):
    """As nss-systemd(8) finds it, which reads /run/userdb. A name that is too long is its number."""
    long = "a-name-of-more-than-24-letters"
    founds = {name: probe(board, name, {"user": "id -u"}) for name in ("app", long)}
    board.start()
    numbers = {name: what(board, found)["user"] for name, found in founds.items()}
    asked = [word for number in numbers.values() for word in ("passwd " + number, "group " + number)]
    folder = f"{board.root}/run/userdb"
    script = f"mkdir -p /run/userdb && mount --bind {folder} /run/userdb && " + " && ".join(
        f"getent {words}" for words in asked)
    said = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=True)
    entries = [line.split(":") for line in said.stdout.splitlines()]
    for name, number in numbers.items():
        user, group = entries.pop(0), entries.pop(0)
        expected = "curfew-app" if name == "app" else f"curfew-{number}"
        assert user[0] == group[0] == expected and user[2] == user[3] == group[2] == number
        assert user[5] == f"{board.root}/var/lib/curfew-apps/{name}" and user[6] == "/usr/sbin/nologin"


@pytest.mark.parametrize("has_operators", [False, True])
def test_a_daemon_without_roots_rights_runs_sandboxed_apps(tmp_path, has_operators):
    """has_operators: the group curfew is there, as the package makes it."""
    if os.geteuid() != 0:
        pytest.skip("it takes root to be another user")
    root = Path("/var/tmp") / f"curfew-user-{os.getpid()}"
    (root / "etc/curfew/apps").mkdir(parents=True)
    (root / "etc/curfew/apps/app.toml").write_text('exec = ["/bin/sleep", "1000"]\nsandbox = "default"\n')
    for folder, _, files in os.walk(root):
        for one in [folder, *(os.path.join(folder, name) for name in files)]:
            os.chown(one, 65534, 65534)
    groups = [line for line in Path("/etc/group").read_text().splitlines() if not line.startswith("curfew:")]
    (tmp_path / "group").write_text("\n".join([*groups, *(["curfew:x:64999:"] if has_operators else [])]) + "\n")
    with open(tmp_path / "log", "wb") as log:
        daemon = subprocess.Popen(
            ["unshare", "-m", "sh", "-c", "mount --bind $0 /etc/group && exec setpriv --reuid 65534 --regid 65534 "
             '--clear-groups "$@"', str(tmp_path / "group"), CURFEWD, "--root", str(root), "--no-board"],
            env={"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={root}/no-bus", "PATH": os.environ["PATH"]},
            stdout=log, stderr=log)
    try:
        def status():
            done = subprocess.run([CURFEW, "--root", str(root), "status", "app", "--json"], capture_output=True,
                                  text=True, timeout=30)
            return done.returncode == 0 and '"running"' in done.stdout
        wait_until(status, lambda: (tmp_path / "log").read_text())
    finally:
        daemon.terminate()
        daemon.wait(30)
        shutil.rmtree(root)


# Has as many children as it can, and says how many.
FORKS = """
import os, time
count = 0
try:
    while count < 100:
        if os.fork() == 0:
            time.sleep(1000)
        count += 1
except BlockingIOError:
    pass
with open(os.environ["STATE_DIRECTORY"] + "/count", "w") as file:
    file.write(f"{count}.")
time.sleep(1000)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="it takes root to be another user")
def test_an_app_has_no_more_processes_than_it_may(board):
    """Without the control group's controller its user's are counted."""
    program = board.programs / "forks.py"
    program.write_text(FORKS)
    for name in ("one", "two"):
        board.app_file(name, f'exec = ["/usr/bin/python3", "-S", "-E", "{program}"]\nlaunch = "boot"\nuser = "auto"\n'
                             '[limits]\nprocesses = 20\n')
    board.start()
    for name in ("one", "two"):
        said = Path(board.root) / f"var/lib/curfew-apps/{name}/count"
        wait_until(lambda said=said: said.exists() and said.read_text() == "19.",
                   lambda said=said: f"19 children: {said.exists() and said.read_text()}\n{board.log()}")
        assert "a limit of processes" not in board.describe(name)["sandboxLacks"]
    assert "limits need" not in board.log()
