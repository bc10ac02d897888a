"""Delegates that are commands, and delegates that are signals."""

import pwd

import cgroups
import pytest
from waiting import wait_until

EVENTS = ["did-finish-launching", "did-become-active", "will-resign-active", "did-enter-background",
          "will-enter-foreground", "will-terminate"]


def write_hook(board, name, text):
    path = board.programs / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def records(board, app):
    """What the hooks of an app wrote: an environment each."""
    files = sorted(board.journals.glob(f"hook-{app}-*"), key=lambda path: path.stat().st_mtime_ns)
    return [dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line) for path in files]


def test_hooks_run_as_the_app_s_user_in_its_group(board):
    hook = write_hook(
        board, "hook",
        "{ env; echo UID=$(id -u); echo GROUP=$(grep ^0:: /proc/self/cgroup); }"
        f" > {board.journals}/hook-$CURFEW_APP-$CURFEW_EVENT\nsleep 1000 &\n")
    board.app("app", delegate="hooks", user="nobody", hooks={event: [hook] for event in EVENTS})
    # An event without a hook is not waited for.
    board.app("one", delegate="hooks", hooks={"did-enter-background": [hook]})
    board.start()
    board.wait_active("app", "one")
    assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == []
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_active("app", "one")
    main = board.describe("app")["mainPID"]
    # What hooks leave behind is the app's, and does not hold up its end.
    group = board.instance("app")
    wait_until(lambda: len(cgroups.processes(group)) == 7, "its hooks have left something")
    board.call("Terminate", app="app", force=None)
    assert board.instances() == ["one"]
    found = records(board, "app")
    events = [record["CURFEW_EVENT"] for record in found]
    # DidBecomeActive came twice, and wrote its file anew.
    assert events == ["DidFinishLaunching", "WillResignActive", "DidEnterBackground", "WillEnterForeground",
                      "DidBecomeActive", "WillTerminate"]
    for record in found:
        assert record["MAINPID"] == str(main)
        assert record["UID"] == str(pwd.getpwnam("nobody").pw_uid)
        assert record["GROUP"].endswith(f"{board.cgroup}/apps/app.1")
        assert record["CURFEW_APP"] == "app"
        assert 0 < float(record["CURFEW_DEADLINE"]) <= 20
        assert "SWIFT_BACKTRACE" not in record
    assert not board.calls("app")
    assert [record["CURFEW_EVENT"] for record in records(board, "one")] == ["DidEnterBackground"]


def test_a_hook_that_fails_shows_until_it_succeeds(board):
    mark = board.journals / "mark"
    hook = write_hook(board, "hook", f"test -e {mark}\n")
    board.app("app", delegate="hooks", hooks={"did-enter-background": [hook]})
    board.start()
    board.wait_active("app")

    def sleep():
        board.call("PrepareForSleep", start=True, kind=None)
        board.call("PrepareForSleep", start=False, kind=None)
        board.wait_active("app")
        return board.describe("app")["statusText"]

    assert sleep() == "DidEnterBackground: its hook exited with status 1"
    mark.write_text("")
    assert sleep() is None


@pytest.mark.parametrize("next_hooks", [{"did-become-active": ["/bin/true"]}, None])
def test_a_hook_that_failed_and_is_removed_does_not_show_any_more(board, next_hooks):
    """While the instance runs that has it, it does: it may fail again."""
    failing = write_hook(board, "hook", "exit 1\n")
    board.app("app", delegate="hooks", hooks={"did-become-active": ["/bin/true"], "did-enter-background": [failing]})
    board.start()
    board.wait_active("app")
    board.call("Background", app="app")
    failed = "DidEnterBackground: its hook exited with status 1"
    assert board.describe("app")["statusText"] == failed
    keys = {"delegate": "hooks", "hooks": next_hooks} if next_hooks else {"delegate": "none"}
    board.app("app", **keys)
    board.call("Reload")
    assert board.describe("app")["statusText"] == failed
    board.call("Terminate", app="app", force=True)
    assert board.describe("app")["statusText"] is None


def test_a_hook_that_failed_and_is_removed_while_its_app_is_down_does_not_show_any_more(board):
    failing = write_hook(board, "hook", "exit 1\n")
    board.app("app", delegate="hooks", hooks={"did-enter-background": [failing]})
    board.start()
    board.wait_active("app")
    board.call("Background", app="app")
    board.call("Terminate", app="app", force=True)
    failed = "DidEnterBackground: its hook exited with status 1"
    assert board.describe("app")["statusText"] == failed
    # Another command of it has not succeeded yet.
    board.app("app", delegate="hooks", hooks={"did-enter-background": ["/bin/true"]})
    board.call("Reload")
    assert board.describe("app")["statusText"] == failed
    board.plain("app")
    with board.wire() as monitor:
        monitor.send("io.curfew.Control.Monitor", more=True)
        while monitor.reply()["kind"] != "synchronized":
            pass
        board.call("Reload")
        change = monitor.reply()
    assert (change["kind"], change["app"], change["detail"]["statusText"]) == ("app", "app", None)
    assert board.describe("app")["statusText"] is None


def test_a_hook_that_hangs_costs_the_app_its_life(board):
    marker = board.journals / "pid"
    hook = write_hook(board, "hook", f"setsid sh -c 'echo $$ > {marker}; exec sleep 1000' &\nsleep 1000\n")
    board.app("app", delegate="hooks", hooks={"did-enter-background": [hook]}, restart="never",
              allowances={"did_enter_background": "600ms"})
    failing = write_hook(board, "failing", "exit 4\n")
    board.app("failing", delegate="hooks",
              hooks={"did-enter-background": [failing], "will-resign-active": ["/nonexistent/hook"]})
    board.app("neighbour")
    board.start()
    board.wait_active("app", "failing", "neighbour")
    assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == ["app"]
    [report] = board.terminations()
    assert (report["app"], report["code"], report["event"]) == ("app", "0x8badf00d", "DidEnterBackground")
    # The hook and what it left behind were in the app's group.
    assert not cgroups.is_alive(int(marker.read_text()))
    assert board.instances() == ["failing", "neighbour"]
    # One that fails is logged, and is an answer.
    said = [line for line in board.log().splitlines() if "failing: " in line]
    assert any("DidEnterBackground" in line and "4" in line for line in said), said
    assert any("/nonexistent/hook" in line for line in said), said


SIGNALS = {"did-enter-background": "SIGUSR1", "will-enter-foreground": "SIGUSR2"}


def test_ready_is_the_answer_to_a_signal(board):
    board.app("app", "ready", "ready-on-signal", delegate="signals", signals=SIGNALS)
    board.app("unasked", delegate="signals", signals={**SIGNALS, "acknowledge": False})
    board.app("silent", "ready", delegate="signals", signals=SIGNALS, restart="never",
              allowances={"did_enter_background": "500ms"})
    board.start()
    board.wait_active("app", "unasked", "silent")
    assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == ["silent"]
    assert [note["number"] for note in board.notes("app", "signal")] == [10]
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_active("app", "unasked")
    assert [note["number"] for note in board.notes("app", "signal")] == [10, 12]
    # The signal was sent before it was frozen, and is heard at the latest when it is thawed.
    board.wait_note("unasked", "signal", 2)
    [report] = board.terminations()
    assert (report["app"], report["code"], report["event"]) == ("silent", "0x8badf00d", "DidEnterBackground")


@pytest.mark.parametrize("change", [{"delegate": "none"}, {"delegate": "signals", "signals": {}}])
def test_a_reload_is_for_the_next_instance(board, change):
    """What runs hears the signals that it was started with, and is not waited for in vain."""
    board.app("app", "ready", "ready-on-signal", delegate="signals", signals=SIGNALS)
    board.start()
    board.wait_active("app")
    board.app("app", "ready", "ready-on-signal", **change)
    board.call("Reload")
    board.call("Background", app="app")
    board.wait_app("app", scenePhase="background")
    assert not board.terminations() and board.describe("app")["launches"] == 1


def test_a_hook_has_the_variables_that_its_app_has(board):
    """A reload is for the next instance."""
    keys = {"delegate": "hooks", "hooks": {"did-enter-background": [write_hook(
        board, "hook", f"env > {board.journals}/hook-$CURFEW_APP-$CURFEW_EVENT\n")]}}
    board.app("app", **keys, environment={"KIND": "old"})
    board.start()
    board.wait_active("app")
    board.app("app", **keys, environment={"KIND": "new"})
    assert board.call("Reload")["changed"] == ["app"]
    board.call("Background", app="app")
    assert [record["KIND"] for record in records(board, "app")] == ["old"]


def test_of_many_hooks_that_leave_processes_behind_the_newest_can_still_write(board):
    hook = write_hook(board, "hook", "sleep 1000 &\necho said || exit 9\n")
    board.app("app", delegate="hooks", hooks={"did-become-active": [hook]}, restart="never")
    board.start()
    board.wait_active("app")
    for _ in range(10):
        board.call("Background", app="app")
        board.call("Activate", app="app")
    assert board.describe("app")["statusText"] is None, board.log()
