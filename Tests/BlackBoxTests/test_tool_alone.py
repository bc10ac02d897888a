"""`curfew` where no daemon is: what is configured, profiles of boards, and the sample apps of curfew demo."""

import json
import os
import socket
import subprocess

import pytest
from board import CURFEW, REPOSITORY
from waiting import PATIENCE
from wire import Wire

PROFILES = REPOSITORY / "hardware-profiles"


@pytest.fixture
def root(tmp_path):
    """A system with the project's profiles installed."""
    (tmp_path / "etc/curfew").mkdir(parents=True)
    installed = tmp_path / "usr/share/curfew/hardware-profiles"
    installed.parent.mkdir(parents=True)
    installed.symlink_to(PROFILES)
    return tmp_path


def curfew(root, *arguments):
    end = subprocess.run(
        [CURFEW, "--root", str(root), *map(str, arguments), "--json"], capture_output=True, text=True, timeout=30)
    assert end.returncode == 0, end.stdout + end.stderr
    return json.loads(end.stdout)


def values(part):
    return {(one["section"], one["key"]): one for one in part["values"]}


def origin(value):
    return value["value"], value["origin"], value["file"], value["line"]


def test_a_value_is_of_a_file_of_the_profile_or_the_default(root):
    file = root / "etc/curfew/curfew.toml"
    file.write_text('front = "one"\nprofile = "raspberry-pi-4b"\n[sleep]\nmargin = "1s"\n')
    found = curfew(root, "config", "show")
    device = values(found["device"])
    assert origin(device["", "front"]) == ("one", "file", str(file), 1)
    assert origin(device["sleep", "margin"]) == ("1s", "file", str(file), 4)
    assert origin(device["sleep", "task-grace"]) == ("2s", "default", None, None)
    assert found["profile"]["name"] == "raspberry-pi-4b"
    profile = found["profile"]["file"]
    timeout = device["watchdog", "timeout"]
    assert timeout["origin"] == "profile" and timeout["file"] == profile
    with open(profile) as lines:
        assert lines.readlines()[timeout["line"] - 1].startswith(f'timeout = "{timeout["value"]}"')
    assert found["warnings"] == [] and found["device"]["errors"] == []


def test_installed_profiles_are_listed_shown_checked_and_detected(root):
    names = [one["name"] for one in curfew(root, "profile", "list")["profiles"]]
    assert names == sorted(path.stem for path in PROFILES.glob("*.toml"))
    shown = curfew(root, "profile", "show", "pinephone")
    assert values(shown)["power", "battery"]["value"] == '["axp20x-battery"]'
    assert curfew(root, "profile", "check") == {"errors": [], "warnings": []}
    tree = root / "board/sys/firmware/devicetree/base"
    tree.mkdir(parents=True)
    (tree / "compatible").write_bytes(b"radxa,rock-5b\0rockchip,rk3588\0")
    found = curfew(root, "profile", "detect", "--system", root / "board")
    assert found["profile"] == "rock-5b" and found["why"] == "the device tree says radxa,rock-5b"
    assert found["skeleton"] is None
    # This machine.
    assert curfew(root, "profile", "detect")["board"]["architecture"] == os.uname().machine
    assert subprocess.run([CURFEW, "profile", "chek"], capture_output=True, timeout=30).returncode == 2


def test_what_an_app_tells_of_a_handler_is_told_before_its_answer(tmp_path):
    # The answer to the last handler before a sleep freezes it: what it has not told by then comes after the wake.
    fifo = tmp_path / "story"
    os.mkfifo(fifo)
    story = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    ours, theirs = socket.socketpair()
    environment = {**os.environ, "CURFEW_DELEGATE_FD": str(theirs.fileno()), "CURFEW_DEMO": str(fifo)}
    app = subprocess.Popen([CURFEW, "demo-app", "slow"], env=environment, pass_fds=[theirs.fileno()])
    theirs.close()
    # On one processor, and with the least of priorities: an answer that comes first is read first.
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})
    os.sched_setaffinity(app.pid, {min(processors)})
    os.sched_setscheduler(app.pid, os.SCHED_IDLE, os.sched_param(0))
    try:
        with Wire(connected=ours) as wire:
            wire.call("io.curfew.Delegate.DidEnterBackground", {})
            assert b"end\tDidEnterBackground" in os.read(story, 65536)
        assert app.wait(PATIENCE) == 0
    finally:
        os.sched_setaffinity(0, processors)
        app.kill()
        app.wait()
        os.close(story)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_check_tells_any_user_what_a_daemon_of_roots_refuses(tmp_path):
    """README's `curfew check`, without sudo, of a file that was moved into place and still is its writer's."""
    etc, program = tmp_path / "etc", tmp_path / "program"
    (etc / "curfew/apps").mkdir(parents=True)
    file = etc / "curfew/apps/cam.toml"
    file.write_text(f'exec = ["{program}"]\nuser = "auto"\n')
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for path in (file, program):
        os.chown(path, 65534, 65534)
    # The system's own folder, for this process alone.
    script = ('cp -a /etc/passwd /etc/group /etc/ld.so.cache "$1/etc" && mount --bind "$1/etc" /etc && '
              'cd / && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$2" check $3')
    # Any user reaches it.
    for folder in [tmp_path, *tmp_path.parents]:
        if folder.stat().st_uid == os.geteuid() and folder.stat().st_mode & 0o5 != 0o5:
            folder.chmod(0o755)

    def check(*arguments):
        return subprocess.run(
            ["unshare", "-m", "sh", "-c", script, "sh", tmp_path, CURFEW, *arguments], capture_output=True, text=True,
            timeout=60, check=False)

    for arguments, code, wrong in (
            ((), 1, "/etc/curfew/apps/cam.toml: belongs to user 65534; expected root's\n"),
            (("/etc/curfew/apps/cam.toml",), 0,
             "/etc/curfew/apps/cam.toml: warning: belongs to user 65534; expected root's; curfewd refuses it\n")):
        outcome = check(*arguments)
        assert (outcome.returncode, wrong in outcome.stdout) == (code, True), outcome
    # What is not installed yet may be its writer's.
    old = etc / "curfew-old/cam.toml"
    old.parent.mkdir()
    for path in (tmp_path / "cam.toml", old):
        path.write_text(file.read_text())
        os.chown(path, 65534, 65534)
    for path in (tmp_path / "cam.toml", "/etc/curfew-old/cam.toml"):
        outcome = check(path)
        assert outcome.returncode == 0 and "curfewd refuses it" not in outcome.stdout, outcome
    os.chown(file, 0, 0)
    outcome = check()
    said = "belongs to user 65534; expected root's\n"
    assert outcome.returncode == 0 and said in outcome.stdout, outcome
