"""Apps at limits of their own, and apps that others end for want of memory."""

import os
import signal

from memory import events_text, skip, start, wait_warnings, warnings


def test_an_app_at_its_own_limit_is_told_alone_and_not_all_the_time(board, memory):
    board.app("camera", limits={"memory_high": "64M"})
    board.app("other")
    events, *_ = memory.limit("camera")
    start(board, memory)
    events.opened()
    board.wait_active("camera", "other")
    assert memory.place(board.instance("camera") / "memory.high").read_text() == f"{64 << 20}"
    # Something else than the limit.
    events.write(events_text(low=1))
    events.say()
    board.device_state()
    assert warnings(board, "camera") == []
    events.write(events_text(high=1))
    events.say()
    wait_warnings(board, "camera", "warning")
    assert board.device_state()["memoryPressure"] == "normal"
    # The kernel says so again and again.
    for count in range(2, 50):
        events.write(events_text(high=count))
        events.say()
    skip(board, 9)
    assert warnings(board, "camera") == ["warning"]
    # What happened meanwhile is past.
    skip(board, 1)
    board.device_state()
    assert warnings(board, "camera") == ["warning"]
    events.write(events_text(high=50))
    events.say()
    wait_warnings(board, "camera", "warning", "warning")
    assert warnings(board, "other") == []


def test_a_reload_without_its_limit_is_for_the_next_instance(board, memory):
    board.app("camera", limits={"memory_high": "64M"})
    first, second, *_ = memory.limit("camera")
    start(board, memory)
    first.opened()
    board.wait_active("camera")
    board.app("camera")
    assert board.call("Reload")["changed"] == ["camera"]
    first.write(events_text(high=1))
    first.say()
    wait_warnings(board, "camera", "warning")
    # The kernel still holds it to that.
    skip(board, 10)
    board.device_state()
    first.write(events_text(high=2))
    first.say()
    wait_warnings(board, "camera", "warning", "warning")
    board.call("Terminate", app="camera", force=True)
    board.call("Activate", app="camera")
    board.wait_active("camera")
    assert not second.is_open()


def test_the_next_instance_is_listened_to_as_well_and_the_last_no_more(board, memory):
    board.app("camera", limits={"memory_high": "64M"})
    memory.with_pressure()
    first, second, third, *_ = memory.limit("camera")
    third.listener.close()
    third.place.unlink()
    start(board, memory, hears=False)
    connection = first.opened()
    board.wait_active("camera")
    board.call("Terminate", app="camera", force=True)
    assert connection.recv(1) == b""
    board.call("Activate", app="camera")
    second.opened()
    board.wait_active("camera")
    second.write(events_text(high=1))
    second.say()
    wait_warnings(board, "camera", "warning")
    # Where it cannot be heard of, that is said.
    board.call("Terminate", app="camera", force=True)
    assert "its memory limit is not heard of" not in board.log()
    board.call("Activate", app="camera")
    board.wait_log("its memory limit is not heard of: open ")
    board.wait_active("camera")
    # Without its board the daemon listens to no pressure of all, before a reload and after it.
    board.call("Reload")
    assert not memory.pressure.file.is_open()


def test_kills_by_others_are_recorded_as_what_they_are(board, memory):
    board.app("limited", limits={"memory_max": "64M", "memory_high": "32M"})
    board.app("unlimited")
    board.app("marked", restart="never")
    board.app("crashing", restart="never")
    names = ("limited", "unlimited", "marked", "crashing")
    files = {name: memory.limit(name) for name in names}
    start(board, memory)
    board.wait_active(*names)
    for name in ("limited", "unlimited"):
        events = files[name][int(board.instance(name).suffix[1:]) - 1]
        events.write(events_text(max=7, oom=1, oom_kill=1))
        if name == "limited":
            events.opened()
            events.say()
    os.setxattr(board.instance("marked"), "user.oomd_ooms", b"1")
    kernel = "killed by the kernel: the app's memory limit, or the board's memory, was used up"
    for name, namespace, explanation in [
            ("limited", "jetsam", kernel), ("unlimited", "jetsam", kernel),
            ("marked", "jetsam", "killed by systemd-oomd, which found memory or swap short"),
            # No matter of memory without a sign of it.
            ("crashing", "crash", None)]:
        board.signal(name, signal.SIGKILL)
        report = board.wait_termination(name)
        assert (report["namespace"], report["code"]) == (namespace, "0x9"), name
        assert report["explanation"] == (explanation or report["explanation"]), name
    # They were in front, and there is memory: they come back.
    for name in ("limited", "unlimited"):
        board.wait_app(name, launches=2, scenePhase="active")
