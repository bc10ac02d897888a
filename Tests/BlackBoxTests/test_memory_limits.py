"""Apps at limits of their own, and apps that others end for want of memory."""

import os
import signal
from pathlib import Path

import pytest
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


def test_the_next_instance_is_listened_to_as_well_and_the_last_no_more(board, memory):
    board.app("camera", limits={"memory_high": "64M"})
    first, second, _ = memory.limit("camera")
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


def test_a_limit_that_cannot_be_heard_of_is_said(board, memory):
    board.app("camera", limits={"memory_high": "64M"})
    first, *_ = memory.limit("camera")
    first.listener.close()
    first.place.unlink()
    start(board, memory)
    board.wait_active("camera")
    board.wait_log("its memory limit is not heard of: open ")


# Kills by others.


@pytest.mark.parametrize("limited", [True, False])
def test_the_kernels_kill_is_recorded_as_what_it_is(board, memory, limited):
    board.app("camera", **({"limits": {"memory_max": "64M", "memory_high": "32M"}} if limited else {}))
    events, *_ = memory.limit("camera")
    start(board, memory)
    board.wait_active("camera")
    events.write(events_text(max=7, oom=1, oom_kill=1))
    if limited:
        events.opened()
        events.say()
    board.signal("camera", signal.SIGKILL)
    report = board.wait_termination("camera")
    assert (report["namespace"], report["code"]) == ("jetsam", "0x9")
    assert report["explanation"] == (
        "killed by the kernel: the app's memory limit, or the board's memory, was used up")
    # It was in front, and there is memory: it comes back.
    board.wait_app("camera", launches=2, scenePhase="active")


def test_a_kill_is_no_matter_of_memory_without_a_sign_of_it(board, memory):
    board.app("camera", restart="never")
    memory.limit("camera")
    start(board, memory)
    board.wait_active("camera")
    board.signal("camera", signal.SIGKILL)
    assert board.wait_termination("camera")["namespace"] == "crash"


def test_systemd_oomds_mark_at_the_group(board):
    board.app("camera", restart="never")
    board.start()
    board.wait_active("camera")
    os.setxattr(board.instance("camera"), "user.oomd_ooms", b"1")
    board.signal("camera", signal.SIGKILL)
    report = board.wait_termination("camera")
    assert (report["namespace"], report["code"]) == ("jetsam", "0x9")
    assert report["explanation"] == "killed by systemd-oomd, which found memory or swap short"


def test_apps_do_not_inherit_what_protects_the_daemon(board):
    board.app("camera", launch="manual")
    board.start()
    protection = Path(f"/proc/{board.daemon.pid}/oom_score_adj")
    try:
        protection.write_text("-500")
    except PermissionError:
        pytest.skip("needs CAP_SYS_RESOURCE")
    board.call("Launch", app="camera", background=None)
    board.wait_active("camera")
    assert Path(f"/proc/{board.describe('camera')['mainPID']}/oom_score_adj").read_text() == "0\n"
    assert protection.read_text() == "-500\n"
