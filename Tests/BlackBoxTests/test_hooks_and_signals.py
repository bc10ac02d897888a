"""Delegates that are commands, and delegates that are signals."""

import os
import pwd

import cgroups
from waiting import holds_for, wait_until

EVENTS = ["did-finish-launching", "did-become-active", "will-resign-active", "did-enter-background",
          "will-enter-foreground", "will-terminate"]


def write_hook(board, name, text):
    path = board.programs / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def records(board):
    """What the hooks wrote: an environment each."""
    files = sorted(board.journals.glob("hook-*"), key=lambda path: path.stat().st_mtime_ns)
    return [dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line) for path in files]


def test_hooks_run_as_the_app_s_user_in_its_group(board):
    hook = write_hook(
        board, "hook",
        "{ env; echo UID=$(id -u); echo GROUP=$(grep ^0:: /proc/self/cgroup); }"
        f" > {board.journals}/hook-$CURFEW_EVENT\n")
    board.app("app", delegate="hooks", user="nobody", hooks={event: [hook] for event in EVENTS})
    board.start()
    board.wait_active("app")
    board.call("PrepareForSleep", start=True, kind=None)
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_active("app")
    main = board.describe("app")["mainPID"]
    board.call("Terminate", app="app", force=None)
    found = records(board)
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


def test_an_event_without_a_hook_returns_at_once(board):
    hook = write_hook(board, "hook", f"env > {board.journals}/hook-$CURFEW_EVENT\n")
    board.app("app", delegate="hooks", hooks={"did-enter-background": [hook]})
    board.start()
    board.wait_active("app")
    board.call("Background", app="app")
    assert [record["CURFEW_EVENT"] for record in records(board)] == ["DidEnterBackground"]
    assert board.is_frozen("app")


def test_a_hook_that_fails_is_logged_and_counts(board):
    hook = write_hook(board, "hook", "exit 4\n")
    board.app("app", delegate="hooks",
              hooks={"did-enter-background": [hook], "will-resign-active": ["/nonexistent/hook"]})
    board.start()
    board.wait_active("app")
    assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == []
    assert "4" in [line for line in board.log().splitlines() if "DidEnterBackground" in line][0]
    assert "/nonexistent/hook" in board.log()
    assert not board.terminations()


def test_a_hook_that_hangs_costs_the_app_its_life(board):
    marker = board.journals / "pid"
    hook = write_hook(board, "hook", f"setsid sh -c 'echo $$ > {marker}; exec sleep 1000' &\nsleep 1000\n")
    board.app("app", delegate="hooks", hooks={"did-enter-background": [hook]}, restart="never",
              allowances={"did_enter_background": "600ms"})
    board.app("neighbour")
    board.start()
    board.wait_active("app", "neighbour")
    assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == ["app"]
    report = board.wait_termination("app")
    assert (report["code"], report["event"]) == ("0x8badf00d", "DidEnterBackground")
    # The hook and what it left behind were in the app's group.
    assert not cgroups.is_alive(int(marker.read_text()))
    assert board.instances() == ["neighbour"]


def test_what_a_hook_leaves_behind_does_not_hold_up_the_end(board):
    hook = write_hook(board, "hook", "sleep 1000 &\n")
    board.app("app", delegate="hooks", hooks={"did-become-active": [hook]})
    board.start()
    board.wait_active("app")
    group = board.instance("app")
    wait_until(lambda: len(cgroups.processes(group)) == 2, "the hook has left something")
    board.call("Terminate", app="app", force=None)
    assert board.instances() == []


SIGNALS = {"did-enter-background": "SIGUSR1", "will-enter-foreground": "SIGUSR2"}


def test_signals_with_an_acknowledgement(board):
    board.app("app", "ready", "ready-on-signal", delegate="signals", signals=SIGNALS)
    board.start()
    board.wait_active("app")
    assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == []
    assert [note["number"] for note in board.notes("app", "signal")] == [10]
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_active("app")
    assert [note["number"] for note in board.notes("app", "signal")] == [10, 12]
    assert not board.terminations()


def test_no_acknowledgement_is_no_return(board):
    board.app("app", "ready", delegate="signals", signals=SIGNALS, restart="never",
              allowances={"did_enter_background": "500ms"})
    board.start()
    board.wait_active("app")
    assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == ["app"]
    report = board.wait_termination("app")
    assert (report["code"], report["event"]) == ("0x8badf00d", "DidEnterBackground")


def test_signals_without_an_acknowledgement(board):
    board.app("app", delegate="signals", signals={**SIGNALS, "acknowledge": False})
    board.start()
    board.wait_active("app")
    assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == []
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_active("app")
    # The signal was sent before the app was frozen, and is heard at the latest when it is thawed.
    board.wait_note("app", "signal", 2)


def test_without_a_delegate_it_is_frozen_and_thawed_and_never_told(board):
    board.plain("app")
    board.start()
    board.wait_active("app")
    assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == []
    assert board.is_frozen("app")
    board.call("PrepareForSleep", start=False, kind=None)
    board.wait_active("app")
    holds_for(0.2, lambda: not board.is_frozen("app"), "it is thawed")
    assert [note["event"] for note in board.notes("app")] == ["start", "running"]
    assert os.path.exists(f"/proc/{board.describe('app')['mainPID']}")
