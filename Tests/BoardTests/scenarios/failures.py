"""Curfew, logind or the bus fail under the apps."""

from board import app
from scenario import Skipped, scenario

LOGIND = "org.freedesktop.login1"


@scenario("daemon-killed", "kill -9 of curfewd, three times: its successor feeds the watchdog and goes on with the "
          "apps, none of which ends; the next sleep is as good as any")
def daemon_killed(board):
    board.begin(
        {"one": app(lock("one"), "child"), "two": app(lock("two"), "deaf"), "three": app()},
        '[watchdog]\ntimeout = "20s"\n')
    before = processes(board)
    assert len(before) == 4, before
    for _ in range(3):
        first = board.main_pid()
        board.sh(f"kill -KILL {first}")
        board.until(f"[ $(systemctl show --value -p MainPID curfewd) != {first} ] && systemctl is-active curfewd")
        board.wait_active("one", "two", "three")
        assert processes(board) == before, (before, processes(board))
    assert board.reports() == [], board.reports()
    for name in ("one", "two", "three"):
        assert [word for word, _ in board.said(name)].count("started") == 1, board.said(name)
    # Longer than the watchdog's time: it is fed by the successor.
    assert board.machine.find_event("WATCHDOG", 25) is None, board.machine.said()
    assert "watchdog0" in board.device()["hardwareWatchdog"], board.device()
    board.wait_lock()
    board.sleep()
    board.wait_active("one", "two", "three")
    assert processes(board) == before and board.reports() == [], board.reports()
    # What ends is not taken for what lives.
    board.sh(f"kill -SEGV {board.apps()['three']['mainPID']}")
    board.wait(lambda: board.apps()["three"]["launches"] == 2, lambda: board.apps()["three"])
    board.wait_active("three")
    # How, the kernel says since Linux 6.15.
    assert [report["namespace"] in ("crash", "unknown") for report in board.reports()] == [True], board.reports()
    # A stop before it is started again ends all.
    board.sh("kill -KILL $(systemctl show --value -p MainPID curfewd); systemctl stop curfewd")
    board.until(f"! find {APPS} -name cgroup.procs -exec cat {{}} + 2>/dev/null | grep -q .", "nothing is left")


APPS = "/sys/fs/cgroup/system.slice/curfew-apps.service/apps"


def lock(name):
    """In the app's own folder, the only one that it can write to."""
    return f"lock:/var/lib/curfew-apps/{name}/lock"


def processes(board):
    """All processes of apps."""
    return set(board.sh(f"find {APPS} -name cgroup.procs -exec cat {{}} +").split())


@scenario("logind-restarts", "logind is restarted while a sleep is prepared: no app is killed, all come back, "
          "the next sleep is as good as any")
def logind_restarts(board):
    interrupted_sleep(board, "systemctl restart systemd-logind")


@scenario("bus-restarts", "the bus and logind are restarted while a sleep is prepared: the same")
def bus_restarts(board):
    interrupted_sleep(board, "systemctl restart dbus; systemctl restart systemd-logind")


def interrupted_sleep(board, interruption):
    # Long enough for a slow machine to be interrupted in it.
    slow = app("slow:DidEnterBackground:10000", allowances={"did_enter_background": "14s"})
    board.begin({"prompt": app(), "slow": slow})
    slept = board.sleeps()
    # Woken by the clock if it sleeps all the same.
    board.sh("rtcwake -m no -s 90 >/dev/null; systemctl suspend; "
             f"until curfew status --json | grep -q '\"preparing\"'; do sleep 0.1; done; {interruption}")
    board.until(f"busctl call {LOGIND} /org/freedesktop/login1 {LOGIND}.Manager ListInhibitors", "logind is back")
    board.wait_active("prompt", "slow")
    board.wait_lock()
    assert board.reports() == [], board.reports()
    happened = board.sleeps() - slept
    board.sh("rtcwake -m disable")
    board.machine.forget_events()
    board.mark()
    board.sleep()
    board.wait_active("prompt", "slow")
    assert board.handlers("prompt").count("DidEnterBackground") == 1, board.handlers("prompt")
    return "the interrupted sleep " + ("came all the same" if happened else "did not come")


@scenario("explained", "journalctl -x after a watchdog kill explains it to a stranger: which app, why, what to change")
def explained(board):
    if board.machine.try_sh("test -e /usr/lib/systemd/catalog/curfew.catalog")[0]:
        raise Skipped("the package has no catalog")
    board.begin({"camera": app("hang:WillResignActive", allowances={"will_resign_active": "1s"})})
    board.machine.try_sh("curfew background camera")
    board.wait_daemon_said("0x8badf00d")
    text = board.sh("journalctl --no-pager -x -u curfewd --after-cursor='" + board.cursor + "'")
    lines = text.splitlines()
    begin = next(number for number, line in enumerate(lines) if "0x8badf00d" in line)
    explanation = [line for line in lines[begin + 1:begin + 60] if line.startswith(("--", "\u2591\u2591"))]
    assert len(explanation) >= 5, text
    words = " ".join(explanation)
    for word in ("camera", "WillResignActive", "will-resign-active", "curfew report"):
        assert word in words, text
