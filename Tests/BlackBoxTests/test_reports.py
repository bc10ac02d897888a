"""What is kept of ends: no app and no command takes the place of others' reports."""

import json
import os
import subprocess
from pathlib import Path

from board import CURFEW, PYTHON, toml_file
from waiting import wait_until


def lines(board):
    folder = Path(board.root) / "var/lib/curfew"
    # Not what the one before was made of.
    places = [folder / name for name in ("reports.jsonl.1", "reports.jsonl")]
    texts = [path.read_text() for path in places if path.is_file()]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def of(board, app):
    return [line for line in lines(board) if line.get("app") == app]


def test_ends_with_much_output_leave_others_reports(board):
    board.app_file("quiet", toml_file({"exec": ["/bin/sh", "-c", "echo why; exit 3"], "launch": "boot",
                                       "restart": "never"}))
    loud = "import sys; print('x' * 99 + '\\n' * 600); sys.stdout.write(('y' * 99 + '\\n') * 600); sys.exit(1)"
    board.app_file("loud", toml_file({
        "exec": [*PYTHON, "-c", loud], "launch": "manual", "restart": "always", "restart_delay": "0s",
        "restart_limit": 120}))
    board.start()
    board.wait_termination("quiet")
    # More than the file holds: it is begun anew, and again.
    board.call("Launch", app="loud", background=None)
    wait_until(lambda: board.describe("loud")["leftDown"], board.log, 60)
    ends = of(board, "loud")
    assert 20 <= len(ends) < 120 and all(sum(map(len, end["output"])) <= 4096 for end in ends)
    assert [end["output"] for end in of(board, "quiet")] == [["why"]]
    assert [end["explanation"] for end in board.terminations("quiet")] == ["exited by itself with status 3"]


def test_commands_without_number_leave_apps_reports(board):
    board.app_file("quiet", toml_file({"exec": ["/bin/sh", "-c", "exit 3"], "launch": "boot", "restart": "never"}))
    board.start()
    board.wait_termination("quiet")
    # Each is an app of its own for as long as it runs; together they share one part of what is kept.
    script = (f"for number in $(seq 1500); do echo '{{\"app\":\"task-'$number'\",\"text\":\"'$(printf %0600d 0)'\"}}'; "
              f"done >>{board.root}/var/lib/curfew/reports.jsonl")
    subprocess.run(["sh", "-c", script], check=True, timeout=60)
    for number in range(4):
        subprocess.run([CURFEW, "--root", board.root, "run", "--name", f"n{number}", "--", "true"], check=True,
                       timeout=60)
        wait_until(lambda: of(board, f"task-n{number}"), board.log)
    kept = lines(board)
    assert [end["namespace"] for end in of(board, "quiet")] == ["exit"]
    assert len([end for end in kept if end["app"].startswith("task-")]) <= 40 + 4


def test_what_is_no_file_in_the_place_of_one_holds_up_nothing(board):
    """A FIFO is waited for by whatever opens it without care."""
    places = [board.state / name for name in ("reports.jsonl", "reports.jsonl.1", "preferences.json.new")]
    places += [board.run / name for name in ("asleep.new", "announced.new", "announced", "hook-limit.new")]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(place)
    os.mkfifo(board.state / "preferences.json")
    board.app_file("app", 'exec = ["/bin/sh", "-c", "exit 3"]\nrestart = "never"\n')
    board.start()
    assert board.wait_termination("app")["code"] == "0x3"
    board.call("SetLowPowerMode", enabled=True)
    assert json.loads((board.state / "preferences.json").read_text()) == {"lowPowerMode": True}
    board.call("PrepareForSleep", start=True)
    board.call("PrepareForSleep", start=False)
    tool = subprocess.run([CURFEW, "--root", board.root, "reports"], capture_output=True, text=True, timeout=30,
                          stdin=subprocess.DEVNULL, check=False)
    assert tool.returncode == 0 and "app" in tool.stdout, tool
    assert board.stop() == 0
    # What was in the place of the reports is set aside, and that is said once.
    assert board.log().count("was set aside as ") == 1 and len(of(board, "app")) == 1
    # Without a daemon the tool reads them itself.
    os.unlink(board.state / "reports.jsonl")
    os.mkfifo(board.state / "reports.jsonl")
    tool = subprocess.run([CURFEW, "--root", board.root, "reports"], capture_output=True, text=True, timeout=30,
                          stdin=subprocess.DEVNULL, check=False)
    assert "reports.jsonl" in tool.stderr, tool


def test_an_id_that_none_can_have_counted_to_is_no_id(board):
    board.state.mkdir(parents=True)
    line = '{"report": "%d", "app": "old", "time": "2026-01-01T00:00:00.000Z"}\n'
    (board.state / "reports.jsonl").write_text("".join(line % number for number in (4, 2**63 - 1, 2**53 + 1)))
    board.app_file("app", 'exec = ["/bin/sh", "-c", "exit 3"]\nrestart = "never"\n')
    board.start()
    assert board.wait_termination("app")["report"] == "5"
    assert [end["report"] for end in board.terminations()] == ["4", "5"]


# A moment, and how many of the ends at 00.000, 00.500 and 01.250 are not before it.
MOMENTS = {"00Z": 3, "00.0Z": 3, "00.000Z": 3, "00.001Z": 2, "00.4999999Z": 2, "00.5Z": 2, "00.500000Z": 2,
           "00.5001Z": 1, "01Z": 1, "01.25Z": 1, "01.250Z": 1, "01.251Z": 0, "02Z": 0}
NO_MOMENTS = ["", "Z", "yesterday", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01T00:00:00+00:00",
              "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.5", "2026-01-01T00:00:00,5Z", "2026-01-01 00:00:00Z",
              "2026-01-01T00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-32T00:00:00Z",
              "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00z",
              "+026-01-01T00:00:00Z", "2026-01-01T00:00:00.5xZ", "2026-01-01T00:00:00Z\n"]


def test_ends_since_a_moment_are_those_that_are_not_before_it(board):
    board.state.mkdir(parents=True)
    line = '{"report": "%d", "app": "old", "time": "2026-01-01T00:00:0%s"}\n'
    times = enumerate(["0.000Z", "0.500Z", "1.250Z"], 1)
    (board.state / "reports.jsonl").write_text("".join(line % time for time in times))
    board.start()

    def since(time):
        return board.call("ListTerminations", app=None, since=time)["terminations"]

    assert {moment: len(since(f"2026-01-01T00:00:{moment}")) for moment in MOMENTS} == MOMENTS
    assert [len(since(time)) for time in (None, "2025-12-31T23:59:60Z", "2026-01-01T00:01:00Z")] == [3, 3, 0]
    for text in NO_MOMENTS:
        error = board.error("ListTerminations", since=text)
        assert (error.name, error.parameters) == (
            "org.varlink.service.InvalidParameter", {"parameter": "since"}), text
