"""Files that are wrong, and files that change while the daemon runs."""

import os
import signal
import subprocess

import board as boards
import cgroups
from waiting import wait_until

CONTROL = "io.curfew.Control"
GOOD = 'exec = ["/bin/sleep", "1000"]\n'

# What is wrong, in which line (None: the file as a whole), and a word that says so.
BAD = {
    "no-exec": ('description = "x"\n', None, "exec"),
    "unknown-key": (GOOD + 'restrat = "always"\n', 2, "restrat"),
    "unknown-table": (GOOD + "[watchdog]\n", 2, "watchdog"),
    "duration": (GOOD + 'liveness = "99999999999999999999s"\n', 2, "liveness"),
    "size": (GOOD + '[limits]\nmemory-max = "lots"\n', 3, "memory-max"),
    "user": (GOOD + 'user = "nobody-at-all"\n', 2, "nobody-at-all"),
    "signal": (GOOD + 'delegate = "signals"\n[signals]\ndid-enter-background = "SIGKILL"\n', 4, "SIGKILL"),
    "key-twice": (GOOD + GOOD, 2, "exec"),
    "no-toml": (GOOD + "this is no TOML\n", 2, ""),
    "no-utf8": (GOOD.encode() + b'description = "\xff\xfe"\n', None, "UTF-8"),
    "nul": (GOOD.encode() + b"\0\n", None, ""),
    "huge": (GOOD.encode() + b"# " + b"x" * 10_000_000 + b"\n", None, "large"),
    "deep": (GOOD + "after = " + "[" * 100_000 + "\n", None, ""),
    "itself": (GOOD + 'after = ["itself"]\n', None, "waits for itself"),
    "Bad_Name": (GOOD, None, "Bad_Name"),
}


def put_what_is_no_file(folder):
    """Returns the names of the apps that they would be."""
    (folder / "folder.toml").mkdir()
    os.mkfifo(folder / "fifo.toml")
    os.symlink("/nonexistent", folder / "dangling.toml")
    os.symlink("loop.toml", folder / "loop.toml")
    os.symlink("/dev/zero", folder / "endless.toml")
    return ["folder", "fifo", "dangling", "loop", "endless"]


def test_a_bad_file_is_named_and_no_other_app_suffers(board):
    for name, (text, _, _) in BAD.items():
        board.app_file(name, text)
    board.app_file("x" * 64, GOOD)
    board.app_file("good", GOOD + 'launch = "boot"\n')
    no_files = put_what_is_no_file(board.apps_folder)
    # An editor's.
    (board.apps_folder / "good.toml~").write_text("nonsense")
    (board.apps_folder / ".good.toml.swp").write_text("nonsense")
    device = board.apps_folder.parent / "curfew.toml"
    device.write_text("[sleep\n")
    board.start()
    board.wait_active("good")
    apps = board.list()
    log = board.log().splitlines()
    for name in [*BAD, *no_files]:
        _, line, word = BAD.get(name, (None, None, ""))
        place = f"{board.apps_folder}/{name}.toml"
        invalid = apps[name]["invalid"] or ""
        assert (place if line is None else f"{place}:{line}:") in invalid and word in invalid, (name, invalid)
        assert "\n" not in invalid and len(invalid) < 2000, name
        assert apps[name]["taskState"] == "notRunning", name
        assert len([said for said in log if place in said]) == 1, (name, log)
    # A name that is too long is shown cut short.
    [long] = [name for name in apps if name.startswith("xxx")]
    assert len(long) < 64 and apps[long]["invalid"]
    assert apps["good"]["invalid"] is None
    assert set(apps) == {*BAD, *no_files, "good", long}
    assert [said for said in log if f"{device}:1:" in said], log


def test_the_administrators_file_wins_over_the_vendors(board):
    vendor = board.apps_folder.parents[2] / "usr/lib/curfew/apps"
    vendor.mkdir(parents=True)
    for name in ("vendor", "both", "masked"):
        (vendor / f"{name}.toml").write_text(GOOD + "priority-band = 1\n")
    board.app_file("both", GOOD + "priority-band = 2\n")
    os.symlink("/dev/null", board.apps_folder / "masked.toml")
    board.start()
    assert {name: app["priorityBand"] for name, app in board.list().items()} == {"both": 2, "vendor": 1}


def check(board):
    return subprocess.run(
        [boards.CURFEWD, "--root", board.root, "--check"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)


def test_check_says_what_is_wrong_and_where(board):
    board.app_file("good", GOOD + 'user = "nobody"\n')
    ended = check(board)
    assert ended.returncode == 0, ended.stdout
    board.app_file("good", 'exec = ["/nonexistent/program"]\n')
    ended = check(board)
    assert ended.returncode == 0, ended.stdout
    warnings = [line for line in ended.stdout.splitlines() if ": warning: " in line]
    assert any("/nonexistent/program" in line for line in warnings), ended.stdout
    assert any("root" in line for line in warnings), ended.stdout
    board.app_file("bad", GOOD + 'colour = "green"\nnice = "very"\n')
    ended = check(board)
    assert ended.returncode == 1
    for line in (2, 3):
        assert f"{board.apps_folder}/bad.toml:{line}:" in ended.stdout
    assert not board.run.exists()


def test_what_files_are_called_is_shown_and_does_nothing(board):
    folder = os.fsencode(board.apps_folder)
    for name in (b"a\xff\xfe.toml", b"b\x1b[31m.toml", b"c\n.toml", b"d\xc2\x9b31m.toml"):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(GOOD)
    ended = check(board)
    assert ended.returncode == 1
    tool = subprocess.run([boards.CURFEW, "--root", board.root, "check"], capture_output=True, text=True, timeout=30,
                          check=False)
    board.start()
    for text in (ended.stdout, tool.stdout, board.log()):
        # One line for each of them, and for the first a warning.
        assert "/a\ufffd\ufffd.toml: " in text and "is passed over: its name is not UTF-8" in text, text
        assert not [each for each in text if each != "\n" and not each.isprintable()], repr(text)
        assert text.count(": the name ") == 3 and "\n.toml" not in text, text


# Reading it again.

def test_reload_adds_removes_and_changes(board):
    board.app("stays")
    board.app("changes")
    board.app("goes", "grandchild")
    board.start()
    board.wait_active("stays", "changes", "goes")
    pids = {name: board.describe(name)["mainPID"] for name in ("stays", "changes", "goes")}
    grandchild = board.wait_note("goes", "grandchild")["pid"]
    os.unlink(board.apps_folder / "goes.toml")
    board.app("changes", allowances={"did_enter_background": "321ms"}, environment={"NEW": "1"})
    board.app("comes")
    board.app("manual", launch="manual")
    assert board.call("Reload")["changed"] == ["changes", "comes", "goes", "manual"]
    board.wait_active("comes")
    assert board.describe("manual")["taskState"] == "notRunning"
    wait_until(lambda: not cgroups.is_alive(pids["goes"]), "the removed one is ended")
    wait_until(lambda: not cgroups.is_alive(grandchild), "with its grandchild")
    wait_until(lambda: "goes" not in board.list(), "it is not listed any more")
    assert board.calls("goes")[-1] == "WillTerminate"
    assert board.error("Launch", app="goes", background=None).name == f"{CONTROL}.NoSuchApp"
    # What runs keeps its process; its new policy counts at once, its new environment from the next launch.
    assert board.describe("stays")["mainPID"] == pids["stays"]
    assert board.describe("changes")["mainPID"] == pids["changes"]
    board.call("Background", app="changes")
    assert board.wait_call("changes", "DidEnterBackground")["parameters"]["deadline"] == 0.321
    board.call("Terminate", app="changes", force=None)
    board.call("Launch", app="changes", background=None)
    assert board.notes("changes", "start")[-1]["environment"]["NEW"] == "1"
    assert board.call("Reload")["changed"] == []


def test_reload_names_the_device_and_its_profile(board):
    profiles = board.apps_folder.parent / "hardware-profiles"
    profiles.mkdir()
    text = 'description = "Ours"\nmatch.compatible = ["acme,ours"]\n'
    (profiles / "ours.toml").write_text(text)
    board.app("app")
    board.start(hears=True)
    board.device(sleep={"margin": "600ms"})
    assert board.call("Reload")["changed"] == ["curfew.toml"]
    board.wait_log("configuration reloaded: curfew.toml")
    assert board.call("Reload")["changed"] == []
    # Another profile is another text of curfew.toml too.
    board.device(profile="ours")
    board.app("app", nice=1)
    assert board.call("Reload")["changed"] == ["app", "curfew.toml", "hardware profile"]
    assert board.device_state()["profile"] == "ours"
    # What it says counts, not only which one it is.
    (profiles / "ours.toml").write_text(text + "power.battery-low = 30\n")
    assert board.call("Reload")["changed"] == ["hardware profile"]
    tool = [boards.CURFEW, "--root", board.root, "reload"]
    assert subprocess.run(tool, capture_output=True, text=True, timeout=30).stdout == "nothing has changed\n"
    (board.apps_folder.parent / "curfew.toml").unlink()
    ended = subprocess.run(tool, capture_output=True, text=True, timeout=30)
    assert ended.stdout == "changed: curfew.toml, hardware profile\n"


def test_reloads_that_are_asked_for_at_once_are_one(board):
    board.app("app", launch="manual")
    board.start()
    wires = [board.wire() for _ in range(10)]
    for wire in wires:
        wire.call(f"{CONTROL}.DescribeDevice")
    loop = board.loop()
    os.kill(loop, signal.SIGSTOP)
    try:
        board.app("new", launch="manual")
        for wire in wires:
            wire.send(f"{CONTROL}.Reload")
    finally:
        os.kill(loop, signal.SIGCONT)
    assert [wire.reply()["changed"] for wire in wires].count(["new"]) >= 5
    # Two, should the daemon have lost the processor while it read what they ask.
    assert board.log().count("configuration reloaded") <= 2
    # Each of these is asked for after the answer to the one before.
    board.app("newer", launch="manual")
    assert [wire.call(f"{CONTROL}.Reload")["changed"] for wire in wires] == [["newer"]] + 9 * [[]]
    # And what follows in one breath finds what the reload has read.
    board.app("newest", launch="manual")
    wires[0].send(f"{CONTROL}.Reload")
    wires[0].send(f"{CONTROL}.Describe", {"app": "newest"})
    assert wires[0].reply()["changed"] == ["newest"] and wires[0].reply()["app"]["name"] == "newest"
    board.app_file("bad", "exec = 1\n")
    os.kill(loop, signal.SIGSTOP)
    try:
        for wire in wires:
            wire.send(f"{CONTROL}.Reload")
    finally:
        os.kill(loop, signal.SIGCONT)
    for wire in wires:
        error = wire.receive()
        assert error["error"] == f"{CONTROL}.InvalidConfiguration", error
        wire.close()
    assert board.log().count("was not reloaded") <= 2


def test_a_reload_with_a_bad_file_changes_nothing(board):
    board.app("app")
    board.app("other")
    board.app_file("mended", "exec = 1\n")
    board.start()
    board.wait_active("app", "other")
    assert board.describe("mended")["invalid"]
    board.app("mended")
    board.app("other", allowances={"did_enter_background": "321ms"})
    board.app("new")
    board.app_file("app", GOOD + "\nfront = 1\n")
    board.daemon.send_signal(signal.SIGHUP)
    board.wait_log("not reloaded")
    error = board.error("Reload")
    assert error.name == f"{CONTROL}.InvalidConfiguration"
    assert error.parameters["file"] == f"{board.apps_folder}/app.toml"
    assert error.parameters["line"] == 3
    assert "front" in error.parameters["message"]
    assert board.describe("app")["invalid"] is None
    assert board.describe("mended")["invalid"]
    assert "new" not in board.list()
    board.wait_active("app", "other")
    board.call("Background", app="other")
    assert board.wait_call("other", "DidEnterBackground")["parameters"]["deadline"] == 5
    # Mended, all of it counts.
    board.app("app")
    board.daemon.send_signal(signal.SIGHUP)
    board.wait_log("configuration reloaded: mended, new, other")
    board.wait_active("mended", "new")
