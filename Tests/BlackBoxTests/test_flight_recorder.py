"""The recording of what the daemon hears and decides, and its replay."""

import os
import signal

import pytest
from loops import kill_loop
from recordings import parts, replay, steps
from test_resources import fill, sleeps_and_wakes
from waiting import wait_until

HEAD = 8


def recording(board, name="recording"):
    return board.state / name


def has(board, *words):
    return any(all(word in step["event"] for word in words) for step in steps(board.root))


def check_sum(body):
    number = 0x811C9DC5
    for byte in body:
        number = (number ^ byte) * 0x01000193 & 0xFFFFFFFF
    return number


def records(data):
    """(place, body) of each."""
    place, found = 0, []
    while place < len(data):
        length = int.from_bytes(data[place:place + 4], "little")
        body = data[place + HEAD:place + HEAD + length]
        assert check_sum(body) == int.from_bytes(data[place + 4:place + HEAD], "little")
        found.append((place, body))
        place += HEAD + length
    return found


def framed(body):
    return len(body).to_bytes(4, "little") + check_sum(body).to_bytes(4, "little") + body


def test_a_run_with_kills_is_decided_again_as_it_was(board):
    board.app("prompt")
    board.app("ended", restart_delay="1ms")
    board.start()
    board.wait_active("prompt", "ended")
    sleeps_and_wakes(board)
    board.wait_active("prompt")
    for _ in range(3):
        kill_loop(board)
        board.call("Background", app="prompt")
        board.call("Activate", app="prompt")
    board.signal("ended", signal.SIGSEGV)
    board.wait_app("ended", launches=2, scenePhase="active")
    assert board.stop() == 0
    played = replay(board.root)
    assert played.returncode == 0, played.stdout
    assert played.stdout.splitlines()[-1].endswith("decided as recorded"), played.stdout
    found = parts(board.root)
    assert len([part for part in found if "boot" in part]) == 4
    told = [step for step in found if "step" in step]
    assert all(step["isSame"] is not False for step in told)
    assert [step["step"] for step in told] == list(range(1, len(told) + 1))
    ends = [step for step in told if "exited(ended" in step["event"]]
    assert "signalled(11)" in ends[0]["event"]
    assert any(effect.startswith("report(ended") and "signal 11" in effect for effect in ends[0]["effects"])
    # A line of a step, of its decisions, and of what the app is after it.
    assert "process.exited(ended." in played.stdout and "-> process.clear(ended." in played.stdout
    assert "= prompt: suspended, background" in played.stdout


def test_what_a_loop_heard_last_is_there_though_it_died_of_it(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    board.call("Background", app="app")
    # It has written nothing since its start, and has no time to.
    kill_loop(board)
    board.signal("app", signal.SIGKILL)
    wait_until(lambda: has(board, "exited(app"), "the end is written at once")
    found = parts(board.root)
    begun = [place for place, part in enumerate(found) if "boot" in part]
    assert len(begun) == 2
    last = [part["event"] for part in found[:begun[1]] if "step" in part]
    assert any("background(app)" in event for event in last), last


def test_an_app_an_end_and_the_last_steps_alone(board):
    board.app("one")
    board.app("two", restart="never")
    board.start()
    board.wait_active("one", "two")
    board.signal("two", signal.SIGKILL)
    board.wait_termination("two")
    assert board.stop() == 0
    every = steps(board.root)
    of_two = steps(board.root, "--app", "two")
    assert of_two and len(of_two) < len(every)
    assert all("two" in step["event"] + "".join(step["effects"]) for step in of_two)
    assert steps(board.root, "--until", "5") == every[:5]
    assert steps(board.root, "--last", "3") == every[-3:]
    assert steps(board.root, "--app", "two", "--last", "2") == of_two[-2:]
    assert steps(board.root, "--compare") == []
    for wrong in (["--until", "0"], ["--last", "x"]):
        assert replay(board.root, *wrong).returncode == 2
    missing = replay(board.root, "/nonexistent")
    assert missing.returncode == 1 and "/nonexistent" in missing.stderr and "No such file" in missing.stderr


def test_another_run_goes_on_in_the_same_file(board):
    board.app("app")
    for run in (1, 2):
        board.start()
        board.wait_active("app")
        assert board.stop() == 0
        assert len([part for part in parts(board.root) if "boot" in part]) == run
    assert replay(board.root).returncode == 0


def test_a_copy_for_others_has_no_names_and_is_decided_as_the_original(board):
    board.app("camera")
    board.start()
    board.wait_active("camera")
    kill_loop(board)
    board.call("Background", app="camera")
    assert board.stop() == 0
    copy = board.state / "copy"
    assert replay(board.root, "--anonymous", str(copy)).returncode == 0
    assert b"camera" in recording(board).read_bytes() and b"camera" not in copy.read_bytes()
    shown = replay(board.root, str(copy))
    assert shown.returncode == 0 and shown.stdout.endswith("decided as recorded\n"), shown.stdout


def test_without_a_recording_it_is_said(board):
    played = replay(board.root)
    assert played.returncode == 1
    assert "curfewd has not run here" in played.stderr and played.stdout == ""


def test_a_decision_that_is_another_is_shown(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    assert board.stop() == 0
    data = recording(board).read_bytes()
    found = records(data)
    place, body = next((place, body) for place, body in found if body[0] == 2 and len(body) > 4)
    # One that decided nothing, say.
    other = data[:place] + framed(b"\x02\x00") + data[place + HEAD + len(body):]
    recording(board, "other").write_bytes(other)
    path = str(recording(board, "other"))
    played = replay(board.root, path)
    assert played.returncode == 1
    assert "!! curfewd decided otherwise here" in played.stdout
    assert played.stdout.splitlines()[-1].endswith("1 of them decided otherwise than recorded")
    assert len(steps(board.root, "--compare", path)) == 1


def test_a_recording_of_another_format_is_refused_by_name(board):
    board.app("app")
    board.start()
    assert board.stop() == 0
    data = recording(board).read_bytes()
    place, body = records(data)[0]
    mark = b"curfew recording"
    assert body[1:1 + len(mark)] == mark
    format_place = 1 + len(mark)
    newer = body[:format_place] + b"\xfe" + body[format_place + 1:]
    recording(board, "newer").write_bytes(framed(newer) + data[place + HEAD + len(body):])
    played = replay(board.root, str(recording(board, "newer")))
    assert played.returncode == 1
    assert "all of it is curfewd 0.1.0's, in a format that this version does not know" in played.stderr


def test_what_another_version_wrote_first_hides_nothing_of_this_one_s(board):
    """As an upgrade leaves it."""
    board.app("app")
    board.start()
    assert board.stop() == 0
    data = recording(board).read_bytes()
    body = records(data)[0][1]
    format_place = 1 + len(b"curfew recording")
    other = framed(body[:format_place] + b"\xfe" + body[format_place + 1:]) + data[HEAD + len(body):]
    recording(board).write_bytes(other)
    board.start()
    board.wait_active("app")
    assert board.stop() == 0
    played = replay(board.root)
    assert played.returncode == 0, played.stderr
    assert played.stdout.startswith("curfewd 0.1.0 wrote on, in a format that this version does not know: passed over")
    assert "damaged" not in played.stdout and "-> process.spawn(app, app." in played.stdout


def test_what_is_damaged_is_left_out_and_counted(board):
    board.app("app")
    for _ in range(2):
        board.start()
        board.wait_active("app")
        assert board.stop() == 0
    data = bytearray(recording(board).read_bytes())
    whole = len(steps(board.root))
    data[len(data) // 4] ^= 0xFF
    recording(board, "damaged").write_bytes(data)
    path = str(recording(board, "damaged"))
    played = replay(board.root, path)
    assert played.returncode == 0 and "bytes are damaged, and left out" in played.stdout, played.stdout
    assert whole // 2 <= len(steps(board.root, path)) < whole
    nothing = replay(board.root, "/bin/ls")
    assert nothing.returncode == 1 and "/bin/ls is no recording" in nothing.stderr and nothing.stdout == ""


def test_a_long_file_becomes_the_one_before(board):
    board.app("app", restart_delay="1ms")
    board.state.mkdir(parents=True)
    with recording(board).open("wb") as file:
        file.truncate((4 << 20) + 1)
    board.start()
    board.wait_active("app")
    board.signal("app", signal.SIGKILL)
    board.wait_app("app", launches=2, scenePhase="active")
    wait_until(lambda: recording(board, "recording.1").exists() and recording(board).exists(), board.log)
    assert board.stop() == 0
    assert recording(board, "recording.1").stat().st_size > 4 << 20
    played = replay(board.root)
    assert played.returncode == 0 and "decided as recorded" in played.stdout, played.stdout
    # The newer of them begins with what the core was, and can be replayed by itself.
    newer = parts(board.root, str(recording(board)))
    assert "boot" in newer[0] and replay(board.root, str(recording(board))).returncode == 0


def test_what_a_loop_heard_last_goes_into_the_file_before_the_one_that_begins(board):
    board.app("app")
    board.start()
    board.wait_active("app")
    wait_until(lambda: has(board, "started"), board.log)
    os.truncate(recording(board), (4 << 20) + 1)
    board.call("Background", app="app")
    kill_loop(board)
    wait_until(recording(board, "recording.1").exists, board.log)
    assert board.stop() == 0
    assert records(recording(board).read_bytes())[0][1][0] == 0, "it begins with a beginning"
    late = recording(board, "recording.1").read_bytes()[(4 << 20) + 1:]
    assert any(body[0] == 1 for _, body in records(late)), "what the dead loop heard"


def test_a_full_disk_pauses_it(board):
    board.tmpfs(board.state, "64k")
    board.app("app", restart_delay="1ms")
    board.start()
    board.wait_active("app")
    fill(board.state)
    # More than goes into the page that it has.
    for _ in range(40):
        sleeps_and_wakes(board)
    for launches in (2, 3):
        board.signal("app", signal.SIGKILL)
        board.wait_app("app", launches=launches, scenePhase="active")
    board.wait_log("the recording of events pauses: ")
    line = next(line for line in board.log().splitlines() if "recording of events" in line)
    assert "No space left on device" in line and str(recording(board)) in line
    sleeps_and_wakes(board)
    assert board.log().count("recording of events") == 1
    assert board.stop() == 0


def test_on_a_full_disk_the_older_file_makes_room(board):
    board.tmpfs(board.state, "9m")
    for name in ("recording.1", "recording"):
        recording(board, name).write_bytes(b"-" * (4 << 20))
    fill(board.state)
    board.app("app", restart="never")
    board.start()
    board.wait_active("app")
    board.signal("app", signal.SIGKILL)
    wait_until(lambda: has(board, "exited(app"), board.log)
    assert recording(board, "recording.1").read_bytes() == b"-" * (4 << 20)
    assert "recording of events" not in board.log() and not recording(board, "recording.next").exists()
    assert board.stop() == 0


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_what_lies_in_its_place_is_left_alone(board, kind):
    board.state.mkdir(parents=True)
    other = board.state / "other"
    other.write_text("precious")
    if kind == "folder":
        recording(board).mkdir()
    elif kind == "pipe":
        os.mkfifo(recording(board))
    else:
        recording(board).symlink_to(other)
    board.app("app", restart_delay="1ms")
    board.start()
    board.wait_active("app")
    board.signal("app", signal.SIGKILL)
    board.wait_app("app", launches=2, scenePhase="active")
    board.wait_log("the recording of events pauses: ")
    assert board.stop() == 0
    assert other.read_text() == "precious"


def test_it_is_root_s_alone_to_read(board):
    board.app("app")
    board.start()
    assert board.stop() == 0
    assert recording(board).stat().st_mode & 0o777 == 0o640
