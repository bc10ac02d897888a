"""What an app can see and change of the system: its sandbox."""

import json
import os
import secrets
import shutil
import subprocess
from pathlib import Path

import pytest
from board import CURFEW, PYTHON, toml_file
from waiting import wait_until

STATUS = "grep -E '^(Uid|NoNewPrivs|CapBnd|CapEff|Seccomp):' /proc/self/status | tr -s '\\t' ' ' | cut -d ' ' -f 1,2"


def probe(board, name, commands, level="default", **keys):
    """An app that runs these commands and writes what came of them."""
    found = board.journals / f"{name}.found"
    keys.setdefault("read_only_paths", [str(board.programs)])
    keys.setdefault("read_write_paths", [str(board.journals)])
    program = [*PYTHON, str(board.programs / "probe.py"), str(found), json.dumps(commands)]
    board.app_file(name, toml_file({"exec": program, "sandbox": level, "restart": "never", **keys}))
    return found


def what(board, found):
    """What a probe has found."""
    wait_until(found.exists, lambda: f"{found} is written\n{board.log()}")
    return json.loads(found.read_text())


def tool(board, *arguments):
    return subprocess.run([CURFEW, "--root", board.root, *arguments], capture_output=True, text=True, timeout=30)


def test_the_default_takes_all_rights_but_those_of_its_own_user(board):
    found = probe(board, "app", {
        "status": STATUS, "limit": "cat /proc/self/limits | grep core", "folder": "stat -c '%a %u' $STATE_DIRECTORY",
        "keeps": "echo 1 > $STATE_DIRECTORY/kept && cat $HOME/kept", "groups": "id -G"})
    board.start()
    seen = what(board, found)
    lines = dict(line.split(": ") for line in seen["status"].splitlines())
    user = int(lines.pop("Uid"))
    assert 70000 <= user < 80000
    assert lines == {"CapEff": "0" * 16, "CapBnd": "0" * 16, "NoNewPrivs": "1", "Seccomp": "2"}
    assert seen["limit"].split()[4:6] == ["0", "0"]
    assert seen["folder"] == f"700 {user}" and seen["keeps"] == "1" and seen["groups"] == str(user)
    assert (Path(board.root) / "var/lib/curfew-apps/app/kept").read_text() == "1\n"
    limit = (board.instance("app") / "pids.max")
    assert not limit.exists() or limit.read_text() == "256\n"


def test_the_default_hides_what_is_not_its_own(board):
    mark = Path("/var/tmp") / f"curfew-probe-{os.getpid()}"
    mark.write_text("")
    found = probe(board, "app", {
        "tmp": "ls -A /tmp /var/tmp /dev/shm", "homes": "ls -A /home /root", "first": "test -e /proc/1 && echo seen",
        "write": "for d in / /usr /etc /run /var/lib /sys/kernel; do touch $d/probe 2>/dev/null && echo $d; done; echo",
        "own": "touch /tmp/a && ls /var/tmp /dev/shm && echo x > /dev/shm/a", "null": "echo x > /dev/null",
        "root": "ls /proc/1/root"}, user="root")
    try:
        board.start()
        seen = what(board, found)
    finally:
        mark.unlink()
    name = Path(board.root).name
    assert seen["tmp"] == f"/dev/shm:\n\n/tmp:\n{name}\n\n/var/tmp:"
    # Root's own home is its own.
    assert seen["homes"].startswith("/home:\n\n/root:") and seen["write"] == ""
    assert seen["own"] == "/dev/shm:\n\n/var/tmp:" and seen["null"] == "" and "!" in seen["root"]
    assert not Path("/tmp/a").exists()


def test_processes_of_other_users_are_hidden(board):
    commands = {"first": "test -e /proc/1", "self": "test -e /proc/self/status", "home": "ls -A /root"}
    found = probe(board, "app", commands)
    board.start()
    assert what(board, found) == {"first": "!1", "self": "", "home": ""}


def test_a_hook_sees_what_its_app_sees_whatever_that_has_done(board):
    hooked = board.journals / "hook.found"
    script = board.programs / "hook"
    commands = json.dumps({"tmp": "ls /tmp", "share": "ls /usr/share | wc -l"})
    script.write_text(f"#!/bin/sh\nexec {' '.join(PYTHON)} {board.programs}/probe.py {hooked} '{commands}'\n")
    script.chmod(0o755)
    # The app goes on in a mount namespace that is in its own hands, with another /usr.
    program = "touch /tmp/apps; exec unshare -Urm sh -c 'mount -t tmpfs x /usr/share; exec sleep 1000'"
    board.app_file("app", toml_file({
        "exec": ["/bin/sh", "-c", program], "sandbox": "default", "restrict_namespaces": False, "delegate": "hooks",
        "read_only_paths": [str(board.programs)], "read_write_paths": [str(board.journals)],
        "hooks": {"did-enter-background": [str(script)]}}))
    board.start()
    board.wait_app("app", scenePhase="active")
    wait_until(lambda: Path(f"/proc/{board.describe('app')['mainPID']}/comm").read_text() == "sleep\n", board.log)
    board.call("PrepareForSleep", start=True, kind=None)
    seen = what(board, hooked)
    assert "apps" in seen["tmp"].split() and int(seen["share"]) > 1


def test_strict_refuses_what_administers_the_board(board):
    found = probe(board, "app", {
        "status": STATUS, "devices": "ls /dev", "user": "unshare -U true", "mount": "unshare -Urm true",
        "network": "tail -n +3 /proc/net/dev | cut -d : -f 1", "thread": "python3 -c 'import threading as t;"
        " x = t.Thread(target=print, args=(1,)); x.start(); x.join()'",
        "trace": "python3 -c 'import ctypes; print(ctypes.CDLL(None).ptrace(0, 0, 0, 0))'"},
        level="strict", network="none", devices=["/dev/kmsg", "/dev/nothing"])
    board.start()
    seen = what(board, found)
    assert "Seccomp: 2" in seen["status"]
    assert set(seen["devices"].split()) >= {"null", "urandom", "kmsg", "fd", "shm"}
    assert not {"mem", "vda", "nothing"} & set(seen["devices"].split())
    assert "!" in seen["user"] and "!" in seen["mount"] and seen["thread"] == "1" and seen["trace"] == "-1"
    assert seen["network"].strip() == "lo"


def test_an_app_cannot_leave_its_sandbox(board):
    setuid = Path("/usr/local/bin") / f"curfew-probe-{os.getpid()}"
    shutil.copy("/usr/bin/id", setuid)
    setuid.chmod(0o4755)
    board.app_file("victim", 'exec = ["/bin/sh", "-c", "echo x > $STATE_DIRECTORY/secret; exec sleep 1000"]\n'
                   'sandbox = "default"\n')
    found = probe(board, "app", {
        "setuid": f"{setuid} -u",
        "remount": "unshare -Urm sh -c 'mount -o remount,rw,bind / && touch /etc/probe && echo wrote'",
        "uncover": "unshare -Urm sh -c 'umount /home || umount -l /tmp && echo uncovered'",
        "others": f"ls {board.root}/var/lib/curfew-apps; cat {board.root}/var/lib/curfew-apps/victim/secret",
        "signal": "for p in $(seq 1 100000); do kill -0 $p 2>/dev/null && test ! -e /proc/$p && echo $p; done; echo",
        "nodes": "mknod /tmp/n b 259 0 2>/dev/null && echo made", "groups": "echo $$ > /sys/fs/cgroup/cgroup.procs"})
    try:
        board.start()
        board.wait_app("victim", scenePhase="active")
        seen = what(board, found)
    finally:
        setuid.unlink()
    assert int(seen["setuid"]) >= 70000
    assert "wrote" not in seen["remount"] and "uncovered" not in seen["uncover"]
    assert "x" not in seen["others"].split() and seen["signal"] == "" and "made" not in seen["nodes"]
    assert "!" in seen["groups"]


def test_a_network_of_its_own_still_reaches_its_daemon(board):
    board.app("app", sandbox="default", network="loopback",
              read_only_paths=[str(board.programs)], read_write_paths=[str(board.journals)])
    board.start()
    board.wait_active("app")


def test_a_path_that_is_missing_is_named(board):
    probe(board, "app", {}, read_write_paths=["/var/lib/no-such-folder"])
    board.start()
    board.wait_log("make its sandbox: read-write-paths: /var/lib/no-such-folder: No such file or directory")
    assert board.wait_app("app", taskState="notRunning")


def without_namespaces():
    """As in a container that may not make any."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(24, 21, 0, 0, 0) == 0  # PR_CAPBSET_DROP, CAP_SYS_ADMIN


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_where_there_are_no_namespaces_the_notify_socket_of_roots_is_found_by_it_alone(board):
    says = "import os, signal, socket; peer = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); " \
        "peer.sendto(b'READY=1', os.environ['NOTIFY_SOCKET']); signal.pause()"
    board.plain(
        "own", exec=["/usr/bin/python3", "-c", says], readiness="notify", launch="boot", user="root",
        sandbox="default")
    # That of a program which could not be started lies where it should, too.
    program = board.programs / "late"
    board.plain("late", exec=[str(program)], launch="boot", restart="never", user="root", sandbox="default")
    board.start(prepare=without_namespaces)
    board.wait_termination("late")
    program.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    board.call("Launch", app="late", background=None)
    board.wait_app("late", taskState="running")
    for _ in range(2):
        board.wait_app("own", scenePhase="active", taskState="running")
        assert not (board.run / "notify/own").exists()
        board.call("Terminate", app="own", force=True)
        board.call("Launch", app="own", background=None)
    os.unlink(board.apps_folder / "own.toml")
    board.call("Reload")
    wait_until(lambda: [one.name for one in (board.run / "notify/.hidden/.own").iterdir()] == ["late"], board.log)


def test_where_there_are_no_namespaces_default_goes_without_and_strict_refuses(board):
    one = probe(board, "one", {"tmp": "ls /tmp", "status": STATUS})
    two = probe(board, "two", {"tmp": "ls /tmp"})
    probe(board, "hard", {}, level="strict")
    board.start(prepare=without_namespaces)
    assert Path(board.root).name in what(board, one)["tmp"] and "NoNewPrivs: 1" in what(board, one)["status"]
    what(board, two)
    board.wait_log("make its sandbox: namespaces: Operation not permitted")
    assert board.log().count("which this kernel or container does not give") == 1
    lacks = board.describe("one")["sandboxLacks"]
    assert [one for one in lacks if "limit" not in one] == ["namespaces"]
    assert "Without" in tool(board, "status", "one").stdout


def test_people_are_told(board):
    probe(board, "app", {}, level="strict", network="none")
    board.app_file("open", 'exec = ["/bin/sleep", "1000"]\nsandbox = "off"\n[limits]\nprocesses = 9\n')
    board.start()
    board.wait_app("app", scenePhase="active")
    board.wait_app("open", scenePhase="active")
    said = " ".join(tool(board, "status", "app").stdout.split())
    assert "strict: a read-only system, a private /dev, a private /tmp, hidden homes, hidden processes, " \
        "private IPC, no network, fewer system calls, no new privileges, no capabilities" in said
    # What is not there is said, wherever it is.
    has_limit, known = (board.instance("open") / "pids.max").exists(), tool(board, "status", "open").stdout
    assert ("Without a limit of processes" in " ".join(known.split())) == (not has_limit) and "Sandbox" in known
    assert "Without a limit" not in said
    check = tool(board, "check").stdout
    assert "open.toml:" in check and "is not sandboxed" in check and "app.toml" not in check


@pytest.mark.parametrize("text, said", [
    ('read-write-paths = ["etc"]', "'read-write-paths' holds \"etc\"; expected an array of absolute paths"),
    ('read-write-paths = ["/"]', "'read-write-paths' holds \"/\", which is all of it; name what is in it"),
    ('read-write-paths = ["/nowhere/a"]', "read-write-paths: /nowhere/a is not there; without it the app is not"),
    ('read-only-paths = ["/nowhere/b"]', "read-only-paths: /nowhere/b is not there"),
    ('working-directory = "/nowhere/c"', "working-directory: /nowhere/c is not there"),
    ('sandbox = "default"\nworking-directory = "/root"', "the working-directory /root is in /root, which its sandbox"),
    ('umask = 022', "leading zeroes are prohibited; a number like 0022 is written in quotes"),
    ('read-only-paths = ["/srv/../etc"]', "which goes up by \"..\""),
    ('devices = ["/etc/passwd"]', "'devices' holds \"/etc/passwd\"; expected an array of paths below /dev"),
    ('sandbox = "on"', "'sandbox' is \"on\"; expected \"default\", \"strict\" or \"off\""),
    ('network = "host"', "expected \"full\", \"loopback\" or \"none\""),
    ('sandbox = "default"\ndevices = ["/dev/snd"]', "'devices' is not used without private-devices = true"),
])
def test_mistakes_are_told(board, text, said):
    board.app_file("app", f'exec = ["/bin/true"]\n{text}\n')
    assert said in tool(board, "check").stdout


def test_a_path_that_the_app_cannot_write_is_told_with_whom_to_give_it(board):
    place = Path("/srv") / f"curfew-{os.getpid()}"
    place.mkdir()
    try:
        keys = {"exec": ["/bin/sleep", "1000"], "sandbox": "default", "read_write_paths": [str(place)]}
        board.app_file("app", toml_file(keys))
        assert f"read-write-paths: {place} is writable for root alone" in tool(board, "check").stdout
        board.start()
        user = board.wait_app("app", scenePhase="active")["user"]
        assert f"number {user}" in tool(board, "status", "app").stdout
        os.chown(place, user, user)
        assert "for root alone" not in tool(board, "check").stdout
    finally:
        place.rmdir()


def test_a_command_line_in_one_text_is_told(board):
    board.app_file("app", 'exec = ["/bin/sleep 100"]\n')
    assert "is not there; each of its arguments is a text of its own" in tool(board, "check").stdout


def test_a_program_that_is_hidden_is_told(board):
    board.app_file("app", f'exec = ["{board.programs}/hook"]\nsandbox = "default"\n')
    (board.programs / "hook").write_text("#!/bin/sh\nexit 0\n")
    (board.programs / "hook").chmod(0o755)
    assert "is in /tmp, which its sandbox hides; move it, or list its folder in read-only-paths" \
        in tool(board, "check").stdout


def test_an_argument_that_is_hidden_is_told(board):
    board.app_file("app", f'exec = ["/bin/sh", "{board.programs}/hook"]\nsandbox = "default"\n')
    (board.programs / "hook").write_text("exit 0\n")
    assert f"the argument {board.programs}/hook is in /tmp, which its sandbox hides" in tool(board, "check").stdout


def test_a_program_that_goes_to_the_background_is_told(board):
    board.plain("app", exec=["/bin/sh", "-c", "setsid sleep 1000 & sleep 0.1"], restart="never")
    board.start()
    board.wait_log("its main process has ended and left others behind")


NOTES = "test -d $STATE_DIRECTORY && echo $(id -u) > $STATE_DIRECTORY/note; exec sleep 1000"


@pytest.mark.parametrize("kept", [False, True], ids=["empty", "kept"])
def test_a_folder_follows_its_app_to_another_user(board, kept):
    folder = Path(board.root) / "var/lib/curfew-apps/app"
    file = {"exec": ["/bin/sh", "-c", NOTES], "sandbox": "default", "launch": "manual"}
    board.app_file("app", toml_file(file))
    board.start()
    board.call("Launch", app="app")
    wait_until((folder / "note").exists, "it has written")
    first = (folder / "note").read_text().strip()
    board.call("Terminate", app="app")
    if not kept:
        (folder / "note").unlink()
    board.app_file("app", toml_file({**file, "user": "nobody"}))
    board.call("Reload")
    done = tool(board, "launch", "app")
    if kept:
        assert f"{folder} belongs to user {first}, but the app runs as user 65534" in done.stderr
        assert (folder / "note").read_text().strip() == first
        # What it says is what helps, without another word.
        subprocess.run(["/bin/sh", "-c", done.stderr.split("run '")[1].split("'")[0]], check=True)
        done = tool(board, "launch", "app")
    assert done.returncode == 0, done.stderr
    wait_until(lambda: (folder / "note").exists() and (folder / "note").read_text() == "65534\n", "it writes again")
    assert folder.stat().st_uid == 65534


def test_a_folder_that_is_gone_is_made_again(board):
    folder = Path(board.root) / "var/lib/curfew-apps/app"
    board.app_file("app", toml_file({"exec": ["/bin/sh", "-c", NOTES], "sandbox": "strict"}))
    board.start()
    wait_until((folder / "note").exists, "it has written")
    board.call("Terminate", app="app")
    shutil.rmtree(folder)
    board.call("Launch", app="app")
    wait_until((folder / "note").exists, "it has written again")


def test_below_a_new_root_apps_reach_their_folders(board):
    shutil.rmtree(Path(board.root) / "var", ignore_errors=True)
    board.app_file("app", toml_file({"exec": ["/bin/sh", "-c", NOTES], "sandbox": "default", "launch": "manual"}))
    board.plain("first", exec=["/bin/false"], restart="never")
    board.start()
    # The daemon's own folder comes first, and is no one else's.
    board.wait_termination("first")
    state = Path(board.root) / "var/lib/curfew"
    wait_until(lambda: state.exists() and state.stat().st_mode & 0o7777 == 0o750, "the report is kept")
    board.call("Launch", app="app")
    wait_until((Path(board.root) / "var/lib/curfew-apps/app/note").exists, lambda: f"it has written\n{board.log()}")


def test_a_root_may_be_named_from_where_one_is(board):
    program = "test -d $STATE_DIRECTORY && echo x > $STATE_DIRECTORY/note; systemd-notify --ready; exec sleep 1000"
    board.app_file("app", toml_file(
        {"exec": ["/bin/sh", "-c", program], "sandbox": "default", "readiness": "notify"}))
    board.start("--root", board.root.removeprefix("/"))
    board.wait_active("app")
    assert (Path(board.root) / "var/lib/curfew-apps/app/note").exists()


def test_temporary_folders_are_bounded(board):
    found = probe(board, "app", {"inodes": "df --output=itotal /tmp /var/tmp /dev/shm | tail -n +2",
                                 "size": "df --output=size /tmp | tail -n 1"})
    board.start()
    seen = what(board, found)
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1024
    assert seen["inodes"].split() == ["65536"] * 3 and int(seen["size"]) <= total // 4 + 4


KEYS = """
import ctypes, sys
keyctl = {"x86_64": 250, "aarch64": 219, "armv7l": 311}[__import__("os").uname().machine]
print(ctypes.CDLL(None).syscall(keyctl, 0, -3, 1, 0))
"""


def test_each_app_has_a_session_keyring_of_its_own(board):
    program = board.programs / "keys.py"
    program.write_text(KEYS)
    ids = [probe(board, name, {"id": f"/usr/bin/python3 {program}"}) for name in ("one", "two")]
    board.start()
    one, two = (what(board, found)["id"] for found in ids)
    own = subprocess.run(["/usr/bin/python3", str(program)], capture_output=True, text=True, check=True).stdout.strip()
    if "-1" in (one, own):
        pytest.skip("the machine gives no keys")
    assert len({one, two, own}) == 3


def test_root_in_a_sandbox_cannot_configure_the_kernel(board):
    asks = {"writes": "for f in /proc/sys/kernel/core_pattern /sys/fs/cgroup/cgroup.procs /sys/kernel/profiling; do "
                      "test -e $f && touch -c $f 2>/dev/null && echo $f; done; echo",
            "classes": "test -w /sys/class && echo writable",
            "groups": "for f in Ur Um UC; do unshare -$f true && echo $f; done 2>/dev/null; echo"}
    found = [probe(board, f"app{len(path)}", asks, user="root", read_write_paths=[str(board.journals), *path.split()])
             for path in ("", "/proc/sys", "/proc/sys/kernel", "/proc")]
    board.start()
    closed, *opened = (what(board, one) for one in found)
    # Nor by a mount of its own, in namespaces of its own.
    assert closed == {"writes": "", "classes": "writable", "groups": ""}
    assert [one["writes"] for one in opened] == ["/proc/sys/kernel/core_pattern"] * 3


SHARED = """
import ctypes, sys
print(ctypes.CDLL(None).shmget(int(sys.argv[1]), 4096, 0o1666))
"""


def test_strict_has_system_v_memory_of_its_own(board):
    program = board.programs / "shared.py"
    program.write_text(SHARED)
    key = 1 + secrets.randbelow(2**30)
    asks = {"made": f"/usr/bin/python3 {program} {key}", "seen": "tail -n +2 /proc/sysvipc/shm | wc -l"}
    found = probe(board, "app", asks, level="strict")
    board.start()
    seen = what(board, found)
    assert int(seen["made"]) >= 0 and seen["seen"] == "1"
    assert f" {key} " not in Path("/proc/sysvipc/shm").read_text()
