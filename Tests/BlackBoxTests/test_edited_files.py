"""A file that is being edited, or is gone, as another loop begins: what runs goes on as it was configured."""

import os
import signal

import hardware
import pytest
from loops import kill_loop
from upgrades import installed, upgrade
from waiting import wait_until


def breaks(board):
    with open(board.apps_folder / "app.toml", "a", encoding="utf-8") as file:
        file.write("\ntypo = 1\n")


def hooked(board):
    said = board.journals / "hooked"
    hook = ["/bin/sh", "-c", f'echo "$CURFEW_EVENT $EDITED" >> {said}']
    board.app("app", delegate="hooks", environment={"EDITED": "not yet"}, restart_delay="1ms",
              hooks={"did-enter-background": hook, "will-terminate": hook})
    return said


def says(said, *lines):
    wait_until(lambda: said.exists() and said.read_text().splitlines() == list(lines),
               lambda: said.read_text() if said.exists() else "nothing")


def edit(board):
    file = board.apps_folder / "app.toml"
    file.write_text(file.read_text().replace("not yet", "by now"))


def starts_again(board):
    board.signal("app", signal.SIGKILL)
    board.wait_app("app", launches=2, scenePhase="active")


@pytest.mark.parametrize("how", ["killed", "upgraded"])
def test_with_an_error_in_its_file_it_is_called_ended_and_started_as_before(board, how):
    said = hooked(board)
    replace = kill_loop if how == "killed" else upgrade
    board.start()
    board.wait_active("app")
    breaks(board)
    pid = board.describe("app")["mainPID"]
    # The second finds the error as the first does.
    for _ in range(2):
        replace(board)
    assert board.describe("app")["mainPID"] == pid
    board.call("Background", app="app")
    says(said, "DidEnterBackground not yet")
    board.call("Activate", app="app")
    starts_again(board)
    board.call("Terminate", app="app")
    says(said, "DidEnterBackground not yet", "WillTerminate not yet")
    assert board.terminations("app")[-1]["namespace"] == "user"


@pytest.mark.parametrize("reloads", [False, True], ids=["not reloaded", "reloaded"])
def test_what_runs_keeps_what_it_was_started_with(board, reloads):
    said = hooked(board)
    board.start()
    board.wait_active("app")
    edit(board)
    if reloads:
        board.call("Reload")
    for _ in range(2):
        kill_loop(board)
    board.call("Background", app="app")
    says(said, "DidEnterBackground not yet")
    board.call("Activate", app="app")
    starts_again(board)
    board.call("Background", app="app")
    says(said, "DidEnterBackground not yet", "DidEnterBackground by now")


def test_one_whose_file_is_gone_is_ended_in_order(board):
    said = hooked(board)
    board.start()
    board.wait_active("app")
    (board.apps_folder / "app.toml").unlink()
    kill_loop(board)
    says(said, "WillTerminate not yet")


def test_a_folder_that_is_not_there_ends_no_app(board):
    board.plain("app")
    board.start()
    board.wait_active("app")
    pid, away = board.describe("app")["mainPID"], board.apps_folder.with_name("away")
    board.apps_folder.rename(away)
    kill_loop(board)
    error = board.error("Reload")
    assert error.short == "InvalidConfiguration" and "is not there; what runs stays" in error.parameters["message"]
    board.wait_app("app", mainPID=pid, scenePhase="active")
    away.rename(board.apps_folder)
    board.call("Reload")
    board.wait_app("app", mainPID=pid, scenePhase="active")
    board.apps_folder.rename(away)
    board.apps_folder.mkdir()
    board.call("Reload")
    wait_until(lambda: not board.instances(), board.instances)


def test_one_whose_file_a_reload_has_found_gone_ends_in_order_though_the_loop_dies(board):
    said, go = board.journals / "hooked", board.journals / "go"
    hook = ["/bin/sh", "-c", f"echo begun >> {said}; cat {go}; echo ended >> {said}"]
    os.mkfifo(go)
    board.app("app", delegate="hooks", allowances={"will_terminate": "20s"}, hooks={"will-terminate": hook})
    board.start()
    board.wait_active("app")
    (board.apps_folder / "app.toml").unlink()
    board.call("Reload")
    says(said, "begun")
    kill_loop(board)
    go.write_text("on")
    says(said, "begun", "ended")


def test_what_a_reload_has_read_counts_when_its_file_breaks_after_it(board):
    said = hooked(board)
    board.start()
    board.wait_active("app")
    edit(board)
    board.call("Reload")
    breaks(board)
    kill_loop(board)
    starts_again(board)
    board.call("Background", app="app")
    says(said, "DidEnterBackground by now")


@pytest.mark.skipif(hardware.missing() is not None, reason=hardware.missing() or "")
def test_with_an_error_in_curfew_toml_the_board_is_kept_as_before(board):
    played = board.with_hardware()
    first, second = played.add_watchdog(0), played.add_watchdog(1)
    board.device(watchdog={"device": second, "timeout": "20s"})
    board.app("app")
    board.start()
    board.wait_active("app")
    kept = f"{second} (Played Watchdog), 20 s"
    wait_until(lambda: board.device_state()["hardwareWatchdog"] == kept, board.log)
    with open(f"{board.root}/etc/curfew/curfew.toml", "a", encoding="utf-8") as file:
        file.write("\ntypo = 1\n")
    for _ in range(2):
        kill_loop(board)
        wait_until(lambda: board.device_state()["hardwareWatchdog"] == kept, board.log)
    assert not played.watchdog_events(first)
