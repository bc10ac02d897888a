"""Apps' notify sockets: who finds them, and who is let in."""

import os
import socket
import subprocess
from pathlib import Path

import board as boards
import cgroups
import pytest
from sandboxed import in_sandbox
from strangers import STRANGER
from waiting import wait_until

# Tries all notify sockets that it finds: where they are known to lie, and where the kernel says that sockets and mounts
# are.
SEEKS = """
import glob, os, re, socket, sys
notify = sys.argv[1]
places = {os.path.join(notify, name) for name in (".hidden", *sys.argv[2:])}
places |= {line.split()[7] for line in open("/proc/net/unix") if notify in line}
for folder in (notify, os.path.join(notify, ".hidden")):
    try:
        places |= {os.path.join(folder, name, end) for name in os.listdir(folder) for end in ("", "s")}
    except PermissionError:
        print("not listed")
for mounts in glob.glob("/proc/[0-9]*/mountinfo"):
    try:
        for name in re.findall("/notify/([.]hidden/[^ ]*)", open(mounts).read()):
            places |= {os.path.join(notify, name), os.path.join(notify, name, "s")}
    except OSError:
        pass
for place in sorted(places):
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        peer.sendto(b"STOPPING=1", place)
    except OSError as error:
        print(os.path.basename(place), type(error).__name__)
    else:
        print("reached", place)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_no_other_user_reaches_an_apps_notify_socket(board):
    board.plain("mine", exec=["/bin/sleep", "1000"], user="daemon")
    board.plain("roots", exec=["/bin/sleep", "1000"], user="root", sandbox="off")
    board.plain("own", exec=["/bin/sleep", "1000"], **{**in_sandbox(board), "user": "root"})
    board.start()
    board.wait_app("mine", taskState="running")
    board.wait_app("roots", taskState="running")
    board.wait_app("own", taskState="running")
    mine = os.stat(board.run / "notify/mine")
    assert (mine.st_mode & 0o777, mine.st_uid) == (0o600, 1)
    # What starts as root may become any user.
    hidden = [folder for folder in (board.run / "notify/.hidden").iterdir() if folder.name != ".own"]
    assert [os.stat(folder / "s").st_mode & 0o777 for folder in hidden] == [0o666] * 2
    names = ["mine", "roots", "own"]
    said = subprocess.run(["/usr/bin/python3", "-c", SEEKS, str(board.run / "notify"), *names], capture_output=True,
                          text=True, check=True, **STRANGER)
    lines = said.stdout.splitlines()
    assert lines.count("not listed") == 2
    assert not [line for line in lines if "reached" in line]
    assert {"not listed", ".hidden PermissionError", "mine PermissionError", "own FileNotFoundError",
            "roots FileNotFoundError"} <= set(lines)


def test_a_notify_socket_that_is_gone_is_made_anew(board):
    for name, user in (("mine", "daemon"), ("roots", "root")):
        board.plain(name, "ready", user=user, readiness="notify")
    board.start()
    for name in ("mine", "roots"):
        path = board.wait_note(name, "start")["environment"]["NOTIFY_SOCKET"]
        board.wait_active(name)
        os.unlink(path)
        board.call("Terminate", app=name, force=True)
        board.call("Launch", app=name, background=None)
        board.wait_active(name)


def told(board, name):
    """Its socket, as its environment has it."""
    pid = board.describe(name)["mainPID"]
    environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") if pid else []
    return next((one[14:] for one in environment if one.startswith(b"NOTIFY_SOCKET=")), None)


def test_who_was_connected_before_another_user_had_it_is_not_heard(board):
    board.plain("app", exec=["/bin/sleep", "1000"], user="daemon")
    board.start()
    board.wait_app("app", taskState="running")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as peer:
        for user in ("nobody", "root", "daemon"):
            peer.connect(wait_until(lambda: told(board, "app"), "its program has been executed"))
            board.plain("app", exec=["/bin/sleep", "1000"], user=user)
            board.call("Reload")
            board.call("Terminate", app="app", force=True)
            board.call("Launch", app="app", background=None)
            board.wait_app("app", taskState="running")
            with pytest.raises(ConnectionRefusedError):
                peer.send(b"STATUS=late")


def test_a_second_daemon_that_is_refused_removes_none(board):
    board.plain("roots", exec=["/bin/sleep", "1000"], user="root", sandbox="off")
    board.start()
    board.wait_app("roots", taskState="running")
    before = sorted(os.listdir(board.run / "notify/.hidden"))
    second = subprocess.run(
        [boards.CURFEWD, "--root", board.root, "--cgroup", board.cgroup + "-other"], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=20, check=False)
    cgroups.remove(str(board.group) + "-other")
    assert second.returncode == 1
    assert len(before) == 2 and sorted(os.listdir(board.run / "notify/.hidden")) == before


def test_what_is_in_the_way_of_hidden_sockets_keeps_no_daemon_from_starting(board):
    (board.run / "notify").mkdir(parents=True)
    (board.run / "notify/.hidden").write_text("in the way")
    board.plain("mine", "ready", user="daemon", readiness="notify")
    board.plain("roots", "ready", user="root", restart="never")
    board.start()
    board.wait_active("mine")
    assert ".hidden" in board.wait_termination("roots")["explanation"]


# Becomes another user, and says what it has to, and whom it sees beside its socket.
BECOMES = """
import os, signal, socket
path = os.environ["NOTIFY_SOCKET"]
own = os.path.dirname(path)
is_alone = os.listdir(os.path.dirname(own)) == [os.path.basename(own)]
if is_alone:
    try:
        open(path + ".more", "w")
    except OSError as error:
        assert error.errno == 30  # EROFS: it is not to fill /run, or to put something else into the place of its socket
os.setgid(65534)
os.setuid(65534)
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as peer:
    peer.sendto(f"READY=1\\nSTATUS={is_alone}".encode(), path)
while True:
    signal.pause()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("sandbox", ["default", "off"])
def test_what_has_become_another_user_is_heard_by_the_socket_that_it_alone_knows(board, sandbox):
    keys = {**in_sandbox(board), "user": "root", "capabilities": ["CAP_SETUID", "CAP_SETGID"]}
    if sandbox == "off":
        keys = {"user": "root", "sandbox": "off"}
    program = board.programs / "becomes.py"
    program.write_text(BECOMES)
    board.plain("own", exec=["/usr/bin/python3", str(program)], readiness="notify", launch="boot", **keys)
    board.plain("other", exec=["/bin/sleep", "1000"], user="root", sandbox="off")
    board.start()
    for _ in range(2):
        board.wait_app("own", scenePhase="active", statusText=str(sandbox == "default"))
        assert os.stat(f"/proc/{board.describe('own')['mainPID']}").st_uid == 65534
        board.call("Terminate", app="own", force=True)
        board.call("Launch", app="own", background=None)
    board.wait_app("own", scenePhase="active", statusText=str(sandbox == "default"))
    os.unlink(board.apps_folder / "own.toml")
    board.call("Reload")
    wait_until(lambda: [one.name for one in (board.run / "notify/.hidden/.own").iterdir()] == ["other"], board.log)
    assert len(list((board.run / "notify/.hidden").iterdir())) == 2
