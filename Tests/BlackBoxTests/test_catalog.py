"""The journal's catalog: every kind of message is explained, by fields that are really sent with it."""

import re
import subprocess

import board as boards
import pytest
from journals import Journal, catalog

CATALOG = boards.REPOSITORY / "deploy/catalog/curfew.catalog"
MESSAGES = (boards.REPOSITORY / "Sources/Journal/MessageID.swift").read_text()
IDS = dict(re.findall(r'case \.(\w+): "([0-9a-f]{32})"', MESSAGES))


@pytest.fixture
def explained():
    return catalog(CATALOG)


@pytest.fixture
def journal(board):
    made = Journal(board.root)
    yield made
    made.close()


def check(entry, explained):
    """What stands under that entry; every field of the text was sent."""
    explanation = explained[entry["MESSAGE_ID"]]
    missing = explanation.fields() - set(entry)
    assert not missing, f"{explanation.headers['Subject']!r} needs {missing}, which {entry} has not"
    return explanation.of(entry)


def test_every_kind_of_message_is_explained_and_no_other(explained):
    assert len(IDS) > 20 and len(CATALOG.read_text().split("\n-- ")) - 1 == len(IDS)
    assert set(explained) == set(IDS.values())
    sources = [path for path in (boards.REPOSITORY / "Sources").rglob("*.swift") if path.name != "MessageID.swift"]
    text = "\n".join(path.read_text() for path in sources)
    assert not [name for name in IDS if not re.search(rf"\.{name}\b", text)], "all are sent"
    for explanation in explained.values():
        assert set(explanation.headers) == {"Subject", "Defined-By", "Support", "Documentation"}
        body = explanation.body
        assert re.search(r"curfew |journalctl|systemctl|There is nothing to do|\.toml|systemd-inhibit", body), body
        assert max(map(len, body.splitlines())) <= 79


def test_commands_and_keys_are_real(explained):
    """A remedy that does not work is worse than no remedy."""
    text = "\n".join(explanation.body for explanation in explained.values())
    commands = set(re.findall(r"(?:^  |: |\")curfew ([a-z-]+)", text, re.M))
    known = subprocess.run([boards.CURFEW, "--help"], capture_output=True, text=True, check=True).stdout
    assert commands and not [name for name in commands if not re.search(rf"^  {name} ", known, re.M)]
    keys = set(re.findall(r"\"([a-z]+(?:-[a-z]+)+)\"", text)) | set(re.findall(r"\b([a-z]+(?:-[a-z]+)+) =", text))
    pages = "".join((boards.REPOSITORY / "deploy/man" / page).read_text()
                    for page in ("curfew-app.5", "curfew.toml.5", "curfew-profile.5"))
    # What the report names so is no key.
    unknown = [key for key in keys - {"process-exit"} if key not in pages]
    assert len(keys) > 5 and not unknown, unknown


def test_a_kill_is_explained_to_a_stranger(board, journal, explained):
    board.app("camera", "hang:DidEnterBackground", restart="never", allowances={"did_enter_background": "300ms"})
    board.start()
    board.wait_active("camera")
    assert board.call("PrepareForSleep", start=True, kind=None)["killed"] == ["camera"]
    entry = journal.wait(IDS["appKilledByWatchdog"], CURFEW_APP="camera")
    assert entry["PRIORITY"] == "3" and "DidEnterBackground did not return within 300 ms" in entry["MESSAGE"]
    assert entry["CURFEW_SLEEP_ID"] == "1"
    text = check(entry, explained)
    report = board.terminations("camera")[0]["report"]
    for words in ("The app camera was too slow and was killed", "DidEnterBackground did not return within 300 ms",
                  "0x8badf00d", "/etc/curfew/apps/camera.toml", "[allowances] did-enter-background",
                  f"curfew report {report}", "journalctl -t curfew-camera"):
        assert words in text, text
    # Told once: who reads the journal finds one entry for one end.
    kinds = [one.get("MESSAGE_ID") for one in journal.entries() if one.get("CURFEW_REPORT") == report]
    assert kinds == [IDS["appKilledByWatchdog"]]


def test_every_end_is_explained(board, journal, explained):
    launch = {"did_finish_launching": "300ms"}
    board.plain("liveness", "ready", restart="never", readiness="notify", liveness="500ms")
    board.app("launch", "hang:DidFinishLaunching", restart="never", allowances=launch)
    board.plain("ready", restart="never", readiness="notify", allowances=launch)
    board.plain("abort", "abort:0", restart="never")
    board.plain("exit", "die:0:3", restart="never")
    board.plain("late", "ignore-term", restart="never", allowances={"will_terminate": "300ms"})
    board.app("holding", "lend", restart="never", background={"task_budget": "1s"})
    board.app_file("gone", 'exec = ["/nothing/there"]\nlaunch = "boot"\nrestart = "never"\n')
    board.start()
    board.wait_active("late", "holding")
    board.borrow("holding").begin("upload")
    board.call("Background", app="holding")
    board.call("Terminate", app="late")
    for kind, name, key in (
        ("appKilledByWatchdog", "liveness", "liveness"),
        ("appKilledByWatchdog", "launch", "[allowances] did-finish-launching"),
        ("appKilledByWatchdog", "ready", "[allowances] did-finish-launching"),
        ("appKilledByWatchdog", "late", "[allowances] will-terminate"),
        ("appCrashed", "abort", None), ("appEnded", "exit", None), ("appLaunchFailed", "gone", None),
        ("taskExpiring", "holding", None), ("appSpentBudget", "holding", "[background] task-budget"),
    ):
        entry = journal.wait(IDS[kind], CURFEW_APP=name)
        text = check(entry, explained)
        assert entry.get("CURFEW_KEY") == key and name in text and (key or name) in text, (kind, name, entry)
        assert name != "late" or "process-exit" in text


def test_all_else_that_a_day_brings(board, journal, explained):
    """Nothing is sent that the catalog does not explain, with the fields that it takes."""
    board.with_login()
    board.app("camera", "error:DidBecomeActive:io.curfew.Delegate.HandlerFailed")
    board.app("flaky", "die:0:1", delegate="none", restart="always", restart_delay="10ms", restart_limit=2)
    board.app_file("wrong", "exec = 1\n")
    board.start()
    journal.wait(IDS["appLeftDown"], CURFEW_APP="flaky")
    board.wait_active("camera")
    board.call("PrepareForSleep", start=True, kind=None)
    board.call("PrepareForSleep", start=False, kind=None)
    (board.apps_folder / "wrong.toml").unlink()
    board.call("Reload")
    assert board.stop() == 0
    journal.wait(IDS["daemonStopping"])
    seen = {entry["MESSAGE_ID"] for entry in journal.entries() if "MESSAGE_ID" in entry}
    for entry in journal.entries():
        if "MESSAGE_ID" in entry:
            check(entry, explained)
    wanted = ("daemonStarted", "configurationInvalid", "appLaunched", "handlerFailed", "appEnded",
              "appRestartScheduled", "appLeftDown", "sleepPreparing", "sleepReleased", "sleepEnded",
              "configurationReloaded", "daemonStopping")
    assert not [kind for kind in wanted if IDS[kind] not in seen]
