"""What a sandbox makes of single mounts, folders, networks and system calls."""

import ctypes
import os
import resource
import shutil
import subprocess
from pathlib import Path

import pytest
from board import toml_file
from family import CORE_LIMIT
from test_sandbox import probe, tool, what
from waiting import wait_until

CLONE_NEWNS, MS_BIND, MS_REC_PRIVATE = 0x20000, 0x1000, 0x4000 | 1 << 18
MS_RDONLY, MS_REMOUNT = 1, 32
TOUCH = "for d in {}; do touch $d/x 2>/dev/null && echo $d; done; echo"


def system_call(text):
    return ("/usr/bin/python3 -c 'import ctypes; c = ctypes.CDLL(None, use_errno=True); "
            f"r = {text}; print(r, ctypes.get_errno())'")


@pytest.fixture
def place():
    """A folder that no sandbox hides, and mounts there."""
    path = Path(f"/srv/curfew-{os.getpid()}")
    path.mkdir(parents=True)
    path.chmod(0o777)
    mounts = []

    def mount(name="", *options):
        (path / name).mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", *options, "curfew-test", str(path / name)], check=True)
        mounts.append(path / name)
        return path / name

    yield path, mount
    for one in reversed(mounts):
        subprocess.run(["umount", "-l", str(one)], check=True)
    shutil.rmtree(path)


def with_users(board, *lines):
    """What the daemon's process does: it sees these users, too."""
    users = Path(board.root) / "passwd"
    users.write_text(Path("/etc/passwd").read_text() + "".join(line + "\n" for line in lines))
    path = str(users).encode()

    def prepare():
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.unshare(CLONE_NEWNS) == 0
        assert libc.mount(b"none", b"/", None, MS_REC_PRIVATE, None) == 0
        assert libc.mount(path, b"/etc/passwd", None, MS_BIND, None) == 0

    return prepare


@pytest.mark.parametrize("level, most", [("default", "0"), ("off", "max")])
def test_no_group_can_be_made_below_that_of_a_sandbox(board, level, most):
    """Not by one of root's either, in a mount of the control groups of its own."""
    board.app_file("app", toml_file({
        "exec": ["/bin/sleep", "1000"], "user": "root", "sandbox": level, "restrict_namespaces": False}))
    board.start()
    board.wait_app("app", scenePhase="active")
    assert (board.instance("app") / "cgroup.max.descendants").read_text() == f"{most}\n"


def test_what_the_daemon_sees_read_only_is_so_in_a_sandbox(board):
    """/sys of a container, say: a sandbox gives no more than there was."""
    def prepare():
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.unshare(CLONE_NEWNS) == 0
        assert libc.mount(b"none", b"/", None, MS_REC_PRIVATE, None) == 0
        assert libc.mount(None, b"/sys", None, MS_REMOUNT | MS_BIND | MS_RDONLY, None) == 0

    found = probe(board, "app", {"sys": "grep ' /sys ' /proc/self/mountinfo"})
    board.start(prepare=prepare)
    assert what(board, found)["sys"].split()[5].split(",")[0] == "ro"


def usual_user(board, name):
    """The number that an app of that name has below this root, unless another has it."""
    value = 2166136261
    for byte in (str(board.root) + name).encode():
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return 70000 + value % 10000


# Mounts.


def test_other_file_systems_are_read_only_too(board, place):
    path, mount = place
    mount("", "-o", "mode=1777")
    found = probe(board, "app", {"writes": TOUCH.format(path)})
    board.start()
    assert what(board, found)["writes"] == ""


def test_nothing_in_its_tmp_gives_rights(board):
    found = probe(board, "app", {
        "setuid": "cp /usr/bin/id /tmp/i && chmod 4755 /tmp/i && setpriv --reuid 65534 --clear-groups /tmp/i -u",
        "node": "mknod /tmp/n c 1 5 && head -c 1 /tmp/n > /dev/null && echo read; echo"},
        user="root", no_new_privileges=False, capabilities=["CAP_SETUID", "CAP_SETGID", "CAP_FSETID", "CAP_MKNOD"])
    board.start()
    assert what(board, found) == {"setuid": "65534", "node": ""}


def test_what_is_mounted_later_is_seen(board, place):
    path, mount = place
    mount()
    subprocess.run(["mount", "--make-shared", str(path)], check=True)
    up = board.journals / "up"
    wait = f"touch {up}; for i in $(seq 200); do test -e {path}/stick/mark && echo seen && exit; sleep 0.1; done"
    found = probe(board, "app", {"stick": wait})
    board.start()
    wait_until(up.exists, "it runs")
    mount("stick", "-o", "mode=777")
    (path / "stick/mark").write_text("")
    assert what(board, found)["stick"] == "seen"


@pytest.mark.parametrize("keys", [{}, {"protect_system": False}, {"level": "off"}], ids=["all", "open", "off"])
def test_read_only_paths_are_so_with_all_below_them(board, place, keys):
    path, mount = place
    mount("inner", "-o", "mode=1777")
    found = probe(board, "app", {"writes": TOUCH.format(f"{path} {path}/inner")},
                  read_only_paths=[str(board.programs), str(path)], **keys)
    board.start()
    assert what(board, found)["writes"] == ""


def test_a_read_only_path_in_a_writable_one_stays_so(board, place):
    path, _ = place
    (path / "inner").mkdir()
    (path / "inner").chmod(0o777)
    found = probe(board, "app", {"writes": TOUCH.format(f"{path} {path}/inner")},
                  read_only_paths=[str(board.programs), str(path / "inner")],
                  read_write_paths=[str(board.journals), str(path)])
    board.start()
    assert what(board, found)["writes"] == str(path)


def test_one_home_that_is_seen_opens_no_other(board):
    folder = Path(f"/home/curfew-{os.getpid()}")
    folder.mkdir(parents=True)
    try:
        found = probe(board, "app", {"root": "ls -A /root; echo", "home": "ls -A /home"},
                      read_only_paths=[str(board.programs), str(folder)])
        board.start()
        assert what(board, found) == {"root": "", "home": folder.name}
    finally:
        folder.rmdir()


def test_a_home_that_is_anothers_stays_read_only(board, place):
    path, _ = place
    found = probe(board, "app", {"writes": "touch $HOME/x 2>/dev/null && echo wrote; echo $HOME"}, user="svc")
    board.start(prepare=with_users(board, f"svc:x:65000:65000::{path}:/bin/sh"))
    assert what(board, found)["writes"] == str(path)


def test_no_core_dumps(board):
    found = probe(board, "app", {"limit": "grep core /proc/self/limits"})
    board.start(limits={resource.RLIMIT_CORE: CORE_LIMIT})
    assert what(board, found)["limit"].split()[4:6] == ["0", "0"]


# Networks and system calls.


def test_none_has_no_network_and_loopback_has_one(board):
    connect = ("/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
               ".connect((\"127.0.0.1\", 9)); print(\"up\")' 2>/dev/null; echo")
    none = probe(board, "none", {"lo": connect}, network="none")
    loopback = probe(board, "loopback", {"lo": connect}, network="loopback")
    board.start()
    assert what(board, none)["lo"] == "" and what(board, loopback)["lo"] == "up"


def test_strict_refuses_the_ways_around(board):
    found = probe(board, "app", {
        # ENOSYS, so that libraries take the older call, which is looked at.
        "clone3": system_call("c.syscall(435, (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17), 88)"),
        "io_uring": system_call("c.syscall(425, 1, 0)"), "setns": system_call("c.setns(-1, 0)")}, level="strict")
    board.start()
    assert what(board, found) == {"clone3": "-1 38", "io_uring": "-1 1", "setns": "-1 1"}


OLD = """/usr/bin/python3 -c '
import ctypes, mmap
m = mmap.mmap(-1, 4096, prot=7)
m.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))
f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
print(f() > 0)'"""


def test_programs_of_32_bits_run_in_strict(board):
    if os.uname().machine != "x86_64" or subprocess.run(
            ["/bin/sh", "-c", OLD], capture_output=True, text=True, check=False).stdout != "True\n":
        pytest.skip("this kernel runs none")
    found = probe(board, "app", {"getpid": OLD}, level="strict")
    board.start()
    assert what(board, found)["getpid"] == "True"


# Users of their own, and their folders.


def test_two_apps_never_share_a_number(board):
    taken = {}
    for number in range(100_000):
        name = f"app-{number}"
        first = taken.setdefault(usual_user(board, name), name)
        if first != name:
            break
    for app in (first, name):
        board.app_file(app, 'exec = ["/bin/sleep", "1000"]\nsandbox = "default"\n')
    board.start()
    assert len({os.stat(f"{board.root}/var/lib/curfew-apps/{app}").st_uid for app in (first, name)}) == 2


def test_a_number_that_the_system_knows_is_left_to_it(board):
    user = usual_user(board, "app")
    board.app_file("app", 'exec = ["/bin/sleep", "1000"]\nsandbox = "default"\n')
    board.start(prepare=with_users(board, f"ldap:x:{user}:{user}::/:/bin/sh"))
    assert os.stat(f"{board.root}/var/lib/curfew-apps/app").st_uid == user + 1


def test_a_link_in_place_of_the_folder_is_not_followed(board):
    folders, real = Path(board.root) / "var/lib/curfew-apps", Path(board.root) / "real"
    folders.mkdir(parents=True)
    real.mkdir()
    os.chown(real, 70005, 70005)
    (folders / "app").symlink_to(real)
    board.app_file("app", toml_file({"exec": ["/bin/sleep", "1000"], "sandbox": "default", "restart": "never"}))
    board.start()
    assert "Not a directory" in board.wait_termination("app")["explanation"]


# What check says.


def test_a_folder_beside_home_is_not_hidden(board):
    folder = Path(f"/homepage{os.getpid()}")
    folder.mkdir()
    try:
        shutil.copy("/bin/sleep", folder / "sleep")
        board.app_file("app", f'exec = ["{folder}/sleep", "1000"]\nsandbox = "default"\n')
        assert "hides" not in tool(board, "check").stdout
    finally:
        shutil.rmtree(folder)


def test_what_is_listed_as_writable_is_not_hidden(board):
    program = board.programs / "hook"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    keys = {"exec": [str(program)], "sandbox": "default", "read_write_paths": [str(board.programs)]}
    board.app_file("app", toml_file(keys))
    assert "hides" not in tool(board, "check").stdout


@pytest.mark.parametrize("folder", ["/tmp", "/var/tmp", "/dev/shm", "/home", "/root", "/run/user", "/srv", "/var/lib"])
def test_check_and_sandbox_hide_the_same(board, folder):
    """They are kept in two languages."""
    path = Path(folder) / f"curfew-hidden-{os.getpid()}"
    if not path.parent.exists():
        pytest.skip("there is no such folder")
    path.mkdir()
    try:
        found = probe(board, "app", {"seen": f"test -e {path} && echo seen; echo"})
        board.app_file("named", f'exec = ["/bin/true", "{path}"]\nsandbox = "default"\nlaunch = "manual"\n')
        board.start()
        is_told = f"the argument {path} is in" in tool(board, "check").stdout
        assert is_told == (what(board, found)["seen"] == "")
    finally:
        path.rmdir()


@pytest.mark.parametrize("owner", ["the app's", "root's"])
def test_a_link_on_the_way_of_a_path_is_followed_if_it_is_roots(board, owner):
    """Below a folder of its own an app could have it lead anywhere."""
    hidden = Path("/var/tmp") / f"curfew-hidden-{os.getpid()}"
    folder = board.journals / "own"
    folder.mkdir(parents=True)
    os.chown(folder, 65534, 65534)
    (hidden / "cache").mkdir(parents=True)
    (hidden / "cache/secret").write_text("x")
    (folder / "data").symlink_to(hidden)
    if owner == "the app's":
        os.lchown(folder / "data", 65534, 65534)
    try:
        found = probe(board, "app", {"ls": f"ls {hidden}/cache"}, user="nobody",
                      read_write_paths=[str(board.journals), str(folder / "data/cache")])
        board.start()
        if owner == "root's":
            assert what(board, found)["ls"] == "secret"
            return
        report = board.wait_termination("app")
        assert f"read-write-paths: {folder}/data/cache, on whose way is a symbolic link" in report["explanation"]
    finally:
        shutil.rmtree(hidden)


def test_a_reload_leaves_the_folder_of_what_runs(board):
    folder = Path(board.root) / "var/lib/curfew-apps/app"
    file = {"exec": ["/bin/sleep", "1000"], "sandbox": "default", "launch": "boot"}
    board.app_file("app", toml_file(file))
    board.start()
    board.wait_app("app", taskState="running")
    before = folder.stat()
    board.app_file("app", toml_file({**file, "user": "nobody"}))
    board.call("Reload")
    after = folder.stat()
    assert (before.st_ino, before.st_uid) == (after.st_ino, after.st_uid)


@pytest.mark.parametrize("keys", [{}, {"restrict_namespaces": False}, {"no_new_privileges": False}])
def test_namespaces_are_for_those_that_ask_for_them(board, keys):
    """In its own an app can mount and build networks: a storm in one would burn the board while it is frozen."""
    found = board.journals / "namespaces"
    found.touch()
    found.chmod(0o666)
    tries = " ".join(f"unshare -U{kind} true 2>/dev/null; echo $?;" for kind in ("", "n", "m", "p"))
    board.app_file("app", toml_file({
        "exec": ["/bin/sh", "-c", f"({tries}) > {found}; sleep 1000"], "sandbox": "default",
        "read_write_paths": [str(board.journals)], **keys}))
    board.start()
    wait_until(lambda: len(found.read_text().split()) == 4, board.log)
    assert found.read_text().split() == ["0" if keys else "1"] * 4
    assert ("no namespaces of its own" in board.describe("app")["sandboxHas"]) == (not keys)


def test_status_is_of_the_sandbox_that_runs(board):
    """A reload is for the next instance."""
    def shown():
        app = board.describe("app")
        return {key: app[key] for key in ("sandbox", "sandboxHas", "sandboxLacks")}

    file = {"exec": ["/bin/sleep", "1000"], "restart": "never"}
    board.app_file("app", toml_file({**file, "sandbox": "off"}))
    board.start()
    board.wait_app("app", scenePhase="active")
    off = shown()
    assert off["sandbox"] == "off" and "fewer system calls" not in off["sandboxHas"]
    board.app_file("app", toml_file({**file, "sandbox": "strict"}))
    assert board.call("Reload")["changed"] == ["app"]
    assert shown() == off
    board.call("Terminate", app="app", force=True)
    assert shown()["sandbox"] == "strict"
    board.call("Launch", app="app", background=None)
    strict = shown()
    assert strict["sandbox"] == "strict" and "fewer system calls" in strict["sandboxHas"]
