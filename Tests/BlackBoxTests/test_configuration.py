"""Files that are wrong, and files that change while the daemon runs."""

import os
import signal
import subprocess

import board as boards
import cgroups
import pytest
from waiting import holds_for, wait_until

CONTROL = "io.curfew.Control"
GOOD = 'exec = ["/bin/sleep", "1000"]\n'

# The place of the one that names itself.
ITSELF = 28

# What is wrong, in which line (None: the file as a whole), and a word that says so.
BAD = {
    "no exec": ('description = "x"\n', None, "exec"),
    "exec is a string": ('description = "x"\nexec = "/bin/true"\n', 2, "exec"),
    "exec is empty": ("exec = []\n", 1, "exec"),
    "exec of numbers": ("exec = [1, 2]\n", 1, "exec"),
    "a relative program": ('exec = ["true"]\n', 1, "exec"),
    "an unknown key": (GOOD + 'restrat = "always"\n', 2, "restrat"),
    "an unknown table": (GOOD + "[watchdog]\n", 2, "watchdog"),
    "an unknown handler": (GOOD + '[allowances]\ndid-enter-backround = "1s"\n', 3, "did-enter-backround"),
    "an unknown word": (GOOD + 'restart = "sometimes"\n', 2, "sometimes"),
    "a number for a duration": (GOOD + "restart-delay = 5\n", 2, "restart-delay"),
    "no duration": (GOOD + 'restart-delay = "5 parsecs"\n', 2, "restart-delay"),
    "a negative duration": (GOOD + 'restart-delay = "-5s"\n', 2, "restart-delay"),
    "a duration beyond all bounds": (GOOD + 'liveness = "99999999999999999999s"\n', 2, "liveness"),
    "no size": (GOOD + '[limits]\nmemory-max = "lots"\n', 3, "memory-max"),
    "nice beyond all bounds": (GOOD + "nice = 100\n", 2, "nice"),
    "no umask": (GOOD + 'umask = "0999"\n', 2, "umask"),
    "no user of that name": (GOOD + 'user = "nobody-at-all"\n', 2, "nobody-at-all"),
    "no group of that name": (GOOD + 'group = "no-group-at-all"\n', 2, "no-group-at-all"),
    "a relative directory": (GOOD + 'working-directory = "here"\n', 2, "working-directory"),
    "no signal of that name": (
        GOOD + 'delegate = "signals"\n[signals]\ndid-enter-background = "SIGNOT"\n', 4, "SIGNOT"),
    "a signal that cannot be caught": (
        GOOD + 'delegate = "signals"\n[signals]\ndid-enter-background = "SIGKILL"\n', 4, "SIGKILL"),
    "a key twice": (GOOD + GOOD, 2, "exec"),
    "no TOML": (GOOD + "this is no TOML\n", 2, ""),
    "a string without an end": (GOOD + 'description = "x\n', 2, ""),
    "not UTF-8": (GOOD.encode() + b'description = "\xff\xfe"\n', None, "UTF-8"),
    "NUL": (GOOD.encode() + b"\0\n", None, ""),
    "10 MB": (GOOD.encode() + b"# " + b"x" * 10_000_000 + b"\n", None, "large"),
    "deep nesting": (GOOD + "after = " + "[" * 100_000 + "\n", None, ""),
    "after itself": (GOOD + f'after = ["bad-{ITSELF}"]\n', None, "waits for itself"),
}


@pytest.fixture(scope="module")
def many_bad():
    """One board with a file of each kind, and a good one among them."""
    board = boards.Board()
    for number, (text, _, _) in enumerate(BAD.values()):
        board.app_file(f"bad-{number}", text)
    board.app_file("good", GOOD + 'launch = "boot"\n')
    board.start()
    board.wait_active("good")
    yield board
    log = board.log()
    complaints = board.close()
    assert not complaints, log


@pytest.mark.parametrize("what", list(BAD))
def test_a_bad_file_is_named_and_no_other_app_suffers(many_bad, what):
    board = many_bad
    _, line, word = BAD[what]
    name = f"bad-{list(BAD).index(what)}"
    bad = board.describe(name)
    assert bad["invalid"] and bad["taskState"] == "notRunning"
    place = f"{board.apps_folder}/{name}.toml"
    expected = place if line is None else f"{place}:{line}:"
    assert expected in bad["invalid"], bad["invalid"]
    assert word in bad["invalid"], bad["invalid"]
    assert "\n" not in bad["invalid"] and len(bad["invalid"]) < 2000
    said = [text for text in board.log().splitlines() if place in text]
    assert len(said) == 1, said
    assert board.describe("good")["invalid"] is None


def test_a_circle_of_after(board):
    board.app_file("a", GOOD + 'after = ["b"]\n')
    board.app_file("b", GOOD + 'after = ["c"]\n')
    board.app_file("c", GOOD + 'after = ["a"]\n')
    board.app_file("d", GOOD + 'launch = "boot"\n')
    board.start()
    board.wait_active("d")
    for name in "abc":
        assert "a.toml" in board.describe("a")["invalid"]
        assert all(f"{other}" in board.describe(name)["invalid"] for other in "abc")


def test_files_that_are_no_files(board):
    (board.apps_folder / "folder.toml").mkdir()
    os.mkfifo(board.apps_folder / "fifo.toml")
    os.symlink("/nonexistent", board.apps_folder / "dangling.toml")
    os.symlink("loop.toml", board.apps_folder / "loop.toml")
    os.symlink("/dev/zero", board.apps_folder / "endless.toml")
    board.app_file("Bad_Name", GOOD)
    board.app_file("x" * 64, GOOD)
    board.app_file("good", GOOD + 'launch = "boot"\n')
    (board.apps_folder / "good.toml~").write_text("nonsense")
    (board.apps_folder / ".good.toml.swp").write_text("nonsense")
    board.start()
    board.wait_active("good")
    apps = board.list()
    for name in ("folder", "fifo", "dangling", "loop", "endless", "Bad_Name"):
        assert apps[name]["invalid"], name
    # A name that is too long is shown cut short.
    assert [app for name, app in apps.items() if name.startswith("xxx") and app["invalid"]]
    assert "good~" not in apps


def test_an_app_named_like_a_path(board):
    board.app_file("..", GOOD)
    board.start()
    assert all(app["invalid"] for app in board.list().values())


@pytest.mark.parametrize("text", [
    "nonsense", "front = 5\n", '[sleep]\nmargin = "never"\n', "unknown = 1\n", "[sleep\n",
])
def test_a_bad_device_file_does_not_stop_the_daemon(board, text):
    (board.apps_folder.parent / "curfew.toml").write_text(text)
    board.app_file("good", GOOD + 'launch = "boot"\n')
    board.start()
    board.wait_active("good")
    assert [line for line in board.log().splitlines() if "curfew.toml:" in line]


def test_the_administrator_s_file_wins_over_the_vendor_s(board):
    vendor = board.apps_folder.parents[2] / "usr/lib/curfew/apps"
    vendor.mkdir(parents=True)
    (vendor / "vendor.toml").write_text(GOOD + "priority-band = 1\n")
    (vendor / "both.toml").write_text(GOOD + "priority-band = 1\n")
    (vendor / "masked.toml").write_text(GOOD)
    board.app_file("both", GOOD + "priority-band = 2\n")
    os.symlink("/dev/null", board.apps_folder / "masked.toml")
    board.start()
    apps = board.list()
    assert sorted(apps) == ["both", "vendor"]
    assert apps["both"]["priorityBand"] == 2
    assert apps["vendor"]["priorityBand"] == 1


def check(board):
    return subprocess.run(
        [boards.CURFEWD, "--root", board.root, "--check"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)


def test_check_says_what_is_wrong_and_where(board):
    board.app_file("good", GOOD + 'user = "nobody"\n')
    ended = check(board)
    assert ended.returncode == 0, ended.stdout
    board.app_file("bad", GOOD + 'colour = "green"\nnice = "very"\n')
    ended = check(board)
    assert ended.returncode == 1
    assert f"{board.apps_folder}/bad.toml:2:" in ended.stdout
    assert f"{board.apps_folder}/bad.toml:3:" in ended.stdout
    assert not board.run.exists()


def test_check_warns_of_a_missing_program_and_of_root(board):
    board.app_file("app", 'exec = ["/nonexistent/program"]\n')
    ended = check(board)
    assert ended.returncode == 0
    warnings = [line for line in ended.stdout.splitlines() if ": warning: " in line]
    assert any("/nonexistent/program" in line for line in warnings), ended.stdout
    assert any("root" in line for line in warnings), ended.stdout


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


def test_removed_and_put_back(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    text = (board.apps_folder / "app.toml").read_text()
    os.unlink(board.apps_folder / "app.toml")
    assert board.call("Reload")["changed"] == ["app"]
    board.app_file("app", text)
    assert board.call("Reload")["changed"] == ["app"]
    board.wait_active("app")
    wait_until(lambda: len(board.instances()) == 1, "it runs once")
    board.wait_note("app", "start", 2)


def test_reload_with_a_bad_file_changes_nothing(board):
    board.app("app")
    board.app("other")
    board.start()
    board.wait_active("app", "other")
    board.app("other", allowances={"did_enter_background": "321ms"})
    board.app("new")
    board.app_file("app", GOOD + "\nfront = 1\n")
    error = board.error("Reload")
    assert error.name == f"{CONTROL}.InvalidConfiguration"
    assert error.parameters["file"] == f"{board.apps_folder}/app.toml"
    assert error.parameters["line"] == 3
    assert "front" in error.parameters["message"]
    assert board.describe("app")["invalid"] is None
    assert "new" not in board.list()
    board.wait_active("app", "other")
    board.call("Background", app="other")
    assert board.wait_call("other", "DidEnterBackground")["parameters"]["deadline"] == 5
    # Mended, all of it counts.
    board.app("app")
    assert board.call("Reload")["changed"] == ["new", "other"]
    board.wait_active("new")


def test_a_bad_app_is_mended(board):
    board.app_file("app", "exec = 1\n")
    board.start()
    assert board.describe("app")["invalid"]
    board.app("app")
    assert board.call("Reload")["changed"] == ["app"]
    board.wait_active("app")


def test_sighup_reloads(board):
    board.start()
    board.app("new")
    board.daemon.send_signal(signal.SIGHUP)
    board.wait_log("reloaded")
    board.wait_active("new")
    board.app_file("new", "nonsense")
    board.daemon.send_signal(signal.SIGHUP)
    board.wait_log("not reloaded")
    board.wait_active("new")


def test_reload_while_asleep(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    board.call("PrepareForSleep", start=True, kind=None)
    board.app("new")
    os.unlink(board.apps_folder / "app.toml")
    board.call("Reload")
    wait_until(lambda: not board.instances(), "the removed one is ended in its sleep")
    holds_for(0.3, lambda: board.describe("new")["launches"] == 0, "nothing is launched in a sleep")
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_active("new")


def test_no_configuration_at_all(board):
    os.rmdir(board.apps_folder)
    os.rmdir(board.apps_folder.parent)
    board.start()
    assert board.list() == {}
    assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == []
