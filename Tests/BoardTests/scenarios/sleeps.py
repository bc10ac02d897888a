"""Real sleeps of the board, however they come about."""

from board import BACK, LAUNCHED, TO_SLEEP, app
from scenario import scenario

WALK = LAUNCHED + TO_SLEEP + BACK


@scenario("suspend", "prompt and slow apps get ready and come back, the hanging one is killed, the lock closes in "
          "time, the board sleeps")
def suspend(board):
    board.begin({
        "prompt": app(), "slow": app("slow:DidEnterBackground:700"), "hanging": app("hang:DidEnterBackground")})
    limit = int(board.sh("busctl get-property org.freedesktop.login1 /org/freedesktop/login1 "
                         "org.freedesktop.login1.Manager InhibitDelayMaxUSec").split()[1]) / 1e6
    slept = board.sleep(seconds=3)
    board.wait_active("prompt", "slow", "hanging")
    assert board.handlers("prompt") == WALK, board.handlers("prompt")
    assert board.handlers("slow") == WALK, board.handlers("slow")
    assert "done" in [word for word, _ in board.said("slow")]
    reports = board.reports()
    assert [(one["app"], one["code"], one["event"]) for one in reports] == [
        ("hanging", "0x8badf00d", "DidEnterBackground")], reports
    # logind says so where a lock was held for too long.
    late = [entry for entry in board.journal("_COMM=systemd-logind") if "Delay lock is active" in str(entry["MESSAGE"])]
    assert not late, late
    decided, released = board.time_to_sleep()
    assert decided / 1000 < limit, decided
    return (f"slept {slept:.1f} s; {decided:.0f} ms to sleep of {limit:.0f} s granted, "
            f"{released:.0f} ms of it after the lock was let go")


@scenario("three-sleeps", "three suspends right after each other: each finds the apps ready, none is killed")
def three_sleeps(board):
    board.begin({"one": app(), "two": app("slow:DidEnterBackground:300")})
    for _ in range(3):
        board.sleep(seconds=1)
        board.wait_lock()
    board.wait_active("one", "two")
    assert len(board.daemon_said("ready after")) == 3, board.daemon_log()
    for name in ("one", "two"):
        heard = board.handlers(name)
        assert heard.count("DidEnterBackground") == heard.count("WillEnterForeground") == 3, heard
    assert board.reports() == [], board.reports()


@scenario("launching", "a suspend in the middle of a launch: the board sleeps, the app is launched once and comes up")
def launching(board):
    board.begin({"other": app(), "late": app("start:4000", launch="manual")})
    board.sh("systemd-run -q curfew launch late")
    board.until("pgrep -f '[s]tart:4000'", "its process is there")
    board.sleep()
    board.wait_active("other", "late")
    late = board.apps()["late"]
    assert late["launches"] == 1 and board.reports() == [], (late, board.reports())


@scenario("uncharged", "a task held over a sleep of 15 s: its budget is not charged for it, no app is killed, whatever "
          "the clocks do")
def uncharged(board):
    board.begin({"upload": app("task", background={"task_budget": "10min"}), "other": app()})
    board.sh("curfew background upload")
    before, began = budget(board)
    slept = board.sleep(seconds=15)
    board.wait_active("other")
    after, ended = budget(board)
    awake = ended - began - (0 if board.machine.kind.sleeps_deeply else slept)
    assert slept > 10, slept
    assert 0 < before - after <= awake + 0.5, (before, after, awake, slept)
    assert board.reports() == [], board.reports()
    return f"slept {slept:.1f} s, was awake for {awake:.1f} s, charged {before - after:.1f} s"


def budget(board):
    """What is left of it, and when that was (MONOTONIC)."""
    tasks = board.status()["tasks"]
    assert len(tasks) == 1, tasks
    return tasks[0]["timeRemaining"], board.machine.clocks[0]


@scenario("service-watchdog", "systemd's own watchdog (WatchdogSec=) does not bite in a sleep that is longer; a "
          "daemon that hangs after it is ended and started again")
def service_watchdog(board):
    board.begin({"one": app()})
    daemon, watched = board.main_pid(), service_watchdog_time(board)
    one = board.apps()["one"]["mainPID"]
    slept = board.sleep(seconds=30)
    board.wait_active("one")
    assert slept > 25, slept
    assert board.main_pid() == daemon and board.apps()["one"]["mainPID"] == one, board.daemon_log()
    assert board.handlers("one") == WALK, board.handlers("one")
    board.wait(lambda: service_watchdog_time(board) == watched, lambda: f"watched: {service_watchdog_time(board)}")
    board.sh(f"kill -STOP {board.loop_pid()}")
    board.until(f"[ $(systemctl show --value -p MainPID curfewd) != {daemon} ] && systemctl is-active curfewd")
    board.wait_active("one")
    return f"slept {slept:.1f} s, watched every {watched}"


def service_watchdog_time(board):
    return board.sh("systemctl show --value -p WatchdogUSec curfewd").strip()


@scenario("overhead", "ten prompt apps: how much later the board sleeps for them (a figure; the machine is emulated)")
def overhead(board):
    board.begin({f"app{number}": app() for number in range(10)})
    with_it, released = zip(*[timed_sleep(board) for _ in range(3)])
    board.sh("systemctl stop curfewd")
    hook = "/usr/lib/systemd/system-sleep/curfew"
    board.sh(f"chmod -x {hook}")
    try:
        without, _ = zip(*[timed_sleep(board) for _ in range(3)])
    finally:
        board.sh(f"chmod +x {hook}; systemctl start curfewd")
    added = sorted(with_it)[1] - sorted(without)[1]
    assert added < 5000, (with_it, without)
    return (f"{sorted(with_it)[1]:.0f} ms to sleep with curfewd, {sorted(without)[1]:.0f} ms without: "
            f"{added:.0f} ms more; {sorted(released)[1]:.0f} ms of it after its lock was let go")


def timed_sleep(board):
    board.sleep(seconds=1)
    if board.machine.try_sh("systemctl is-active -q curfewd")[0] == 0:
        board.wait_active(*[f"app{number}" for number in range(10)])
        board.wait_lock()
    return board.time_to_sleep()
