"""What the board's own condition asks of the apps: power, memory, tasks that keep it awake, a disk that is full."""

import time

from board import app
from scenario import scenario

POWER = "/sys/module/test_power/parameters"
BLOCK_LOCK = "systemd-inhibit --list --no-pager | grep -i curfew | grep block"
IDLE_ACTION = "/etc/systemd/logind.conf.d/idle.conf"


@scenario("power", "a charger that comes and goes, a battery that runs low: apps are told, low power mode follows",
          architectures=("amd64",))
def power(board):
    # A supply over USB would count as external power.
    board.sh(f"modprobe test_power; cd {POWER}; echo off >usb_online; echo on >ac_online; echo 80 >battery_capacity")
    board.begin({"camera": app()}, '[policy]\ndebounce = "100ms"\n')
    board.wait(lambda: board.device()["externalPower"] is True, lambda: f"external power: {board.device()}")
    board.sh(f"cd {POWER}; echo off >ac_online; echo discharging >battery_status")
    board.wait(lambda: says(board, "external=0"), lambda: f"told of the battery: {board.said('camera')}")
    board.sh(f"echo 15 >{POWER}/battery_capacity")
    board.wait(lambda: says(board, "battery=0.15 low=1"), lambda: f"told of the low battery: {board.said('camera')}")
    device = board.device()
    assert device["lowPowerMode"] and device["externalPower"] is False, device
    assert abs(device["batteryLevel"] - 0.15) < 0.001, device
    board.sh(f"cd {POWER}; echo charging >battery_status; echo on >ac_online; echo 80 >battery_capacity")
    board.wait(lambda: not board.device()["lowPowerMode"], lambda: f"low power mode is over: {board.device()}")
    board.sh("modprobe -r test_power")


def says(board, text):
    return [line for word, line in board.said("camera") if word == "PowerStateDidChange" and text in line]


@scenario("keep-awake", "a task that keeps the board awake: it does not fall asleep by itself, or systemctl suspend "
          "fails by name; forced, it sleeps")
def keep_awake(board):
    board.begin({"upload": app("task", background={"task_policy": "keep-awake"}), "other": app()})
    board.sh("curfew background upload")
    lock = board.until(BLOCK_LOCK, "the block lock is held")
    tasks = board.status()["tasks"]
    assert [(task["app"], task["keepAwake"]) for task in tasks] == [("upload", True)], tasks
    # Since systemd 257 such a lock keeps others than root from it, and logind itself.
    is_weak = "block-weak" in lock
    try:
        output = stays_awake(board) if is_weak else refuses_by_name(board)
        board.sleep("systemctl suspend -i")
        board.wait_active("other")
        assert board.reports() == [], board.reports()
        slept = board.sleeps()
        board.sh("curfew terminate upload --force")
        board.until(f"! {BLOCK_LOCK}", "the block lock is gone")
        if is_weak:
            if board.machine.kind.sleeps_deeply:
                board.await_sleep()
            board.wait_awake(slept)
    finally:
        board.sh(f"[ ! -e {IDLE_ACTION} ] || {{ rm {IDLE_ACTION}; systemctl restart systemd-logind; }}")
    board.wait_lock()
    return output


def refuses_by_name(board):
    status, output = board.machine.try_sh("systemctl suspend --check-inhibitors=yes")
    assert status != 0 and "Curfew" in output, (status, output)
    return output.strip().splitlines()[0]


def stays_awake(board):
    """logind would put it to sleep soon, as no user is there."""
    slept = board.sleeps()
    board.put(IDLE_ACTION, "[Login]\nIdleAction=suspend\nIdleActionSec=15s\n")
    board.sh("systemctl restart systemd-logind")
    board.until(BLOCK_LOCK, "the block lock is held again")
    time.sleep(30)  # not a wait: so long it stays awake
    assert board.sleeps() == slept
    return "did not fall asleep in twice the time after which logind puts it to sleep"


@scenario("memory", "an app that takes all memory is ended for it, the others live on; the kernel would rather take "
          "any app than the daemon")
def memory(board):
    board.begin({"other": app(priority_band=500), "hog": app("grow", launch="manual", restart="never")})
    others = board.apps()["other"]["mainPID"]
    dear = [int(board.sh(f"cat /proc/{pid}/oom_score_adj")) for pid in (others, board.main_pid())]
    assert dear[0] == 0 > dear[1], dear
    # It may be ended before it is in front.
    board.machine.try_sh("curfew launch hog")
    board.wait(lambda: [one for one in board.reports() if one["app"] == "hog"],
               lambda: board.machine.try_sh("free -m; cat /proc/pressure/memory; curfew status")[1], timeout=300)
    reports = board.reports()
    assert [(one["app"], one["namespace"]) for one in reports] == [("hog", "jetsam")], reports
    assert board.apps()["other"]["mainPID"] == others
    by = "curfewd" if int(reports[0]["code"], 16) == 0 else "the kernel, and curfewd says so"
    return f"ended by {by}: {reports[0]['explanation']}"


@scenario("full-disk", "the state on a full disk: the daemon goes on, knows every end; with room it writes")
def full_disk(board):
    board.begin({"other": app()})
    board.sh("systemctl stop curfewd; mount -t tmpfs -o size=64k none /var/lib/curfew; "
             "dd if=/dev/zero of=/var/lib/curfew/filler bs=4k 2>/dev/null; systemctl start curfewd")
    try:
        board.wait_active("other")
        kill(board, 1)
        board.wait_daemon_said("could not be written")
        board.sleep()
        board.wait_active("other")
        assert [one["app"] for one in board.reports()] == ["other"], board.reports()
        board.sh("rm /var/lib/curfew/filler")
        kill(board, 2)
        assert '"other"' in board.sh("cat /var/lib/curfew/reports.jsonl")
        assert [one["app"] for one in board.reports()] == ["other", "other"], board.reports()
    finally:
        board.sh("systemctl stop curfewd; umount /var/lib/curfew; systemctl start curfewd")


def kill(board, number):
    """The app's end number so much, by a signal; it is restarted."""
    board.sh(f"kill -KILL {board.apps()['other']['mainPID']}")
    board.wait(lambda: len(board.reports()) == number, lambda: f"{number} ends: {board.reports()}")
    board.wait_active("other")
