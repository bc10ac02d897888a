"""What apps can see and change of a real board."""

import re
from pathlib import Path

from board import app
from scenario import scenario

README = Path(__file__).resolve().parents[3] / "README.md"
GROUPS = "/sys/fs/cgroup/system.slice/curfew-apps.service/apps"
ASKED = {
    "redis": "test $(redis-cli set board awake) = OK && test $(redis-cli save) = OK",
    "postgres": "test $(cd / && setpriv --reuid postgres --clear-groups psql -Atc 'select 42') = 42",
    "mosquitto": "grep -q running /var/log/mosquitto/mosquitto.log && (exec 3<>/dev/tcp/127.0.0.1/1883)",
    "nginx": "exec 3<>/dev/tcp/127.0.0.1/80; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; grep -q 'nginx!' <&3",
}
LOOK = """
touch /etc/probe /usr/probe /var/tmp/probe /root/probe /home/probe 2>/dev/null
(id -u; ls -A /tmp; ls -d /proc/1; ls /dev/vda) >$STATE_DIRECTORY/seen 2>/dev/null
id -un >$STATE_DIRECTORY/name 2>&1
busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager ListSeats \\
    >$STATE_DIRECTORY/bus 2>&1
touch $STATE_DIRECTORY/end; exec sleep 10000
"""


def files():
    """The apps that README.md shows with their paths, by name."""
    found = re.findall(r"```toml\n# /etc/curfew/apps/([a-z]+)\.toml[^\n]*\n(.*?)```", README.read_text(), re.DOTALL)
    return dict(found)


def ask(board, name):
    return board.machine.try_sh(f"bash -c {quoted(ASKED[name])}")[0] == 0


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


@scenario("debian", "redis, PostgreSQL, mosquitto and nginx run in the default sandbox with README.md's lines, "
          "before a sleep and after it", architectures=("amd64",))
def debian(board):
    board.sh("mkdir -p /run/mosquitto && chown mosquitto /run/mosquitto")
    apps = files()
    assert apps.keys() == ASKED.keys(), apps
    board.begin(apps)
    for name in apps:
        board.wait(lambda name=name: ask(board, name), lambda name=name: f"{name} answers\n{board.daemon_log()}")
    board.sleep()
    for name in apps:
        assert ask(board, name), f"{name} after a sleep\n{board.daemon_log()}"
    found = board.apps()
    assert all(found[name]["sandbox"] == "default" and not found[name]["sandboxLacks"] for name in apps), found
    assert all(found[name]["launches"] == 1 for name in apps), found


@scenario("sandbox", "an app whose file says nothing is a user of its own who sees and changes nothing but its folder")
def sandbox(board):
    looks = {"plain": f"exec = ['/bin/sh', '-c', '''{LOOK}''']\n"}
    looks["strict"] = looks["plain"] + 'sandbox = "strict"\n'
    board.begin({**looks, "other": app()})
    for name in looks:
        folder = f"/var/lib/curfew-apps/{name}"
        board.until(f"test -e {folder}/end")
        user, *seen = board.sh(f"cat {folder}/seen").split()
        owner = board.sh(f"stat -c '%u %a' {folder}").split()
        assert 70000 <= int(user) < 80000 and owner == [user, "700"], (user, owner)
        assert seen == (["/dev/vda"] if name == "plain" else []), seen
        status = board.sh(f"cat /proc/{board.apps()[name]['mainPID']}/status")
        assert "NoNewPrivs:\t1" in status and "CapBnd:\t0000000000000000" in status, status
        assert "Seccomp:\t2" in status, status
        has = board.apps()[name]["sandboxHas"]
        assert ("fewer system calls" if name == "strict" else "no namespaces of its own") in has, has
        assert board.sh(f"cat {GROUPS}/{name}.*/pids.max").strip() == "256"
    # Who has a name is let in by dbus-daemon.
    folder = "/var/lib/curfew-apps/plain"
    assert board.sh(f"cat {folder}/name").strip() == "curfew-plain"
    assert board.sh(f"cat {folder}/bus").startswith("a(so)"), board.sh(f"cat {folder}/bus")
    board.sh("! ls /etc/probe /usr/probe /var/tmp/probe /root/probe /home/probe 2>/dev/null")
    assert not any(one["sandboxLacks"] for one in board.apps().values()), board.apps()
