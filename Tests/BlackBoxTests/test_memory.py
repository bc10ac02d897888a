"""Memory that runs short: who is told, who is ended, and who is not."""


import family
import pressure
import pytest
from board import PYTHON
from memory import Memory, alive, skip, start, suspend, wait_pressure, wait_warnings, warnings
from waiting import wait_until

# A program that has 64 MiB.
LARGE = [*PYTHON, "-c", "import signal; held = bytearray(b'x') * (64 << 20); signal.pause()"]


@pytest.fixture(scope="module")
def hog(tmp_path_factory):
    return pressure.build(tmp_path_factory.mktemp("hog"))


# The board's own memory, played.


def test_a_warning_is_told_to_all_apps_and_ends_none(board, memory):
    board.app("front")
    board.app("back")
    trigger = memory.with_pressure()
    (memory.proc / "meminfo").write_text("MemTotal: none\n")
    assert start(board, memory) == {"some": (100_000, 1_000_000), "full": (200_000, 1_000_000)}
    board.wait_active("front", "back")
    suspend(board, "back")
    # How much there is cannot be told: no app is ended for it.
    trigger.say("full")
    assert board.device_state()["memoryPressure"] == "normal"
    assert alive(board) == ["back", "front"]
    # Apps wait, and there is plenty: one of them is at a limit of its own.
    memory.available(401)
    trigger.say("some")
    trigger.say("full")
    # Answered after what it heard before.
    assert board.device_state()["memoryPressure"] == "normal"
    memory.available(399)
    trigger.say("some")
    wait_warnings(board, "front", "warning")
    wait_pressure(board, "warning")
    # No app is ended while more than a quarter is to be had, however long they wait.
    memory.available(201)
    trigger.say("full")
    wait_pressure(board, "warning")
    assert alive(board) == ["back", "front"]
    # Who sleeps is told when it wakes.
    assert warnings(board, "back") == []
    board.call("Activate", app="back")
    wait_warnings(board, "back", "warning")
    skip(board, 10)
    wait_pressure(board, "normal")
    assert board.log().count("memory pressure: warning") == 1
    assert board.terminations() == []


def test_suspended_apps_go_first_then_the_lowest_band_then_the_largest(board, memory):
    board.device(memory={"protected_band": 500})
    for name, band in (("front", 1), ("small", 50), ("large", 50), ("lower", 40), ("guard", 500)):
        board.app(name, priority_band=band)
    trigger = memory.with_pressure()
    start(board, memory)
    board.wait_active("front", "small", "large", "lower", "guard")
    suspend(board, "small", "large", "lower", "guard")
    for name, amount in (("front", 200), ("small", 10), ("large", 30), ("lower", 5), ("guard", 300)):
        memory.uses(name, amount)
    # 100 MiB are wanted, an eighth of all: 30 have to come back.
    memory.available(70)
    trigger.say("full")
    reports = {name: board.wait_termination(name) for name in ("lower", "large")}
    assert alive(board) == ["front", "guard", "small"]
    assert warnings(board, "front") == ["critical"]
    for name, amount in (("lower", 5), ("large", 30)):
        assert (reports[name]["namespace"], reports[name]["code"]) == ("jetsam", "0x0")
        assert reports[name]["explanation"] == (
            f"memory was critically short (70 MiB available); the app had {amount} MiB")
        assert "WillTerminate" not in board.calls(name)
    assert board.device_state()["memoryPressure"] == "critical"
    # It takes time to show; then it is who is left in background, only then who is in front, and last who is protected.
    memory.available(95)
    for name, left in (("small", ["front", "guard"]), ("front", ["guard"]), ("guard", [])):
        skip(board, 1)
        trigger.say("full")
        report = board.wait_termination(name)
        assert alive(board) == left
    assert report["explanation"] == (
        "memory was critically short (95 MiB available); the app had 300 MiB and was protected, but no other was left "
        "to be ended")
    board.wait_log(report["explanation"])
    skip(board, 1)
    trigger.say("full")
    board.wait_log("memory is critically short, and no app is left to be ended")
    reports = board.terminations()
    assert len(reports) == 5 and sum("protected" in each["explanation"] for each in reports) == 1
    # Who was in front comes back when there is memory again, alone.
    memory.available(700)
    skip(board, 10)
    board.wait_active("front")
    assert alive(board) == ["front"]


def profile(board, warning, critical):
    board.profile("desk", f"[memory]\npressure-warning = {warning}\npressure-critical = {critical}\n")


def test_other_thresholds_are_listened_for_after_a_reload(board, memory):
    board.device(profile="desk")
    profile(board, 30, 40)
    trigger = memory.with_pressure()
    assert start(board, memory) == {"some": (300_000, 1_000_000), "full": (400_000, 1_000_000)}
    before = board.descriptors()
    profile(board, 5, 40)
    board.call("Reload")
    trigger.left()
    assert trigger.thresholds() == {"some": (50_000, 1_000_000), "full": (400_000, 1_000_000)}
    memory.available(300)
    trigger.say("some")
    wait_pressure(board, "warning")
    # Nothing new: what is open stays open.
    for _ in range(3):
        board.call("Reload")
    assert not memory.pressure.file.is_open()
    assert board.descriptors() == before


# Where the kernel says nothing.


def test_without_pressure_information_the_daemon_says_so_once_and_goes_on(board):
    memory = Memory(board)
    place = memory.proc / "pressure/memory"
    place.write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
    board.app("kiosk")
    board.start(hears=True)
    board.wait_active("kiosk")
    board.call("Reload")
    lines = [line for line in board.log().splitlines() if "pressure" in line]
    assert len(lines) == 1 and "memory pressure is not heard of: " in lines[0], lines
    assert str(place) in lines[0]
    suspend(board, "kiosk")


def test_pressure_that_could_not_be_heard_of_is_tried_again_by_a_reload(board, memory):
    (memory.proc / "pressure/memory").write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
    start(board, memory)
    board.wait_log("memory pressure is not heard of: ")
    trigger = memory.with_pressure()
    board.call("Reload")
    assert set(trigger.thresholds()) == {"some", "full"}
    memory.available(300)
    trigger.say("some")
    wait_pressure(board, "warning")


def test_thresholds_that_were_left_are_listened_for_again(board, memory):
    board.device(profile="desk")
    profile(board, 30, 40)
    trigger = memory.with_pressure()
    start(board, memory)
    place = memory.place(memory.proc / "pressure/memory")
    kept = place.with_name(place.name + ".kept")
    place.rename(kept)
    (memory.proc / "pressure/memory").write_text("")
    profile(board, 5, 40)
    board.call("Reload")
    board.wait_log("memory pressure is not heard of: ")
    trigger.left()
    kept.rename(place)
    profile(board, 30, 40)
    board.call("Reload")
    assert set(trigger.thresholds()) == {"some", "full"}


def test_pressure_of_a_group_that_is_removed(board):
    """Only a trial's can be."""
    memory = Memory(board)
    group = cgroup_with_pressure(board)
    memory.of_group(group)
    board.app("kiosk")
    board.start(hears=True)
    board.wait_active("kiosk")
    group.rmdir()
    board.wait_log("memory pressure is not heard of any more")
    wait_until(
        lambda: not [file for file in family.descriptors(board.loop()) if "memory.pressure" in file],
        lambda: f"both are closed: {family.descriptors(board.loop())}")
    suspend(board, "kiosk")
    assert board.log().count("not heard of any more") == 1


def cgroup_with_pressure(board):
    group = board.group.with_name(board.group.name + "-pressure")
    group.mkdir()
    if not pressure.offered(group):
        group.rmdir()
        pytest.skip("the kernel counts no stalls of groups (PSI)")
    return group


# Real pressure.


def test_a_hog_leads_to_a_warning_and_then_to_the_right_victims(board, hog):
    memory = Memory(board)
    board.group.mkdir()
    if not pressure.offered(board.group) or not pressure.limit_controller():
        pytest.skip("no memory pressure can be made here")
    memory.of_group(board.group)
    board.app("front", priority_band=2)
    board.app("small")
    board.plain("large", exec=LARGE)
    board.plain("guarded", exec=LARGE, priority_band=1000)
    board.plain("hog", exec=[hog, "-b", "64", "-t", "60"], launch="manual", restart="never", priority_band=1)
    board.samples -= {"large", "guarded", "hog"}
    memory.available(300)
    board.start(hears=True)
    board.wait_active("front", "small", "large", "guarded")
    for name in ("large", "guarded"):
        wait_until(lambda name=name: anonymous(board.describe(name)["mainPID"]) >= 64, f"{name} has taken its memory")
    suspend(board, "small", "large", "guarded")
    board.call("Launch", app="hog", background=None)
    try:
        wait_warnings(board, "front", "warning")
        assert board.device_state()["memoryPressure"] == "warning"
        assert board.terminations() == []
        # 100 MiB are wanted: as much as `large` alone gives back.
        memory.available(60)
        report = board.wait_termination("large")
        memory.available(300)
        assert report["namespace"] == "jetsam"
        had = int(report["explanation"].split("the app had ")[1].split()[0])
        assert 64 <= had < 128
        assert "(60 MiB available)" in report["explanation"]
        wait_until(lambda: warnings(board, "front")[:2] == ["warning", "critical"], lambda: warnings(board, "front"))
        assert alive(board) == ["front", "guarded", "hog", "small"]
        # Nobody else is suspended but a small one: who presses is ended itself.
        memory.available(60)
        report = board.wait_termination("hog")
        memory.available(700)
        assert report["namespace"] == "jetsam"
        wait_until(lambda: alive(board) == ["front", "guarded"], lambda: alive(board))
        assert len(board.terminations()) == 3
    finally:
        board.stop()
        pressure.remove_leftovers()


def anonymous(pid):
    """MiB that are backed by no file."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon:")) >> 10
