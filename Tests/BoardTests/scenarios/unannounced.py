"""Sleeps that logind has not announced: the sleep hook tells of them, or only the clocks do."""

from board import BACK, LAUNCHED, SLEEP_STARTS, TO_SLEEP, app, stamp
from scenario import scenario

WALK = LAUNCHED + TO_SLEEP + BACK
HOOK = "/usr/lib/systemd/system-sleep/curfew"


@scenario("systemd-sleep", "a sleep without logind's word: the hook has the apps get ready, a hanging one is killed, "
          "all come back")
def systemd_sleep(board):
    board.begin({"prompt": app(), "hanging": app("hang:DidEnterBackground", allowances={"did_enter_background": "2s"})})
    board.sleep("systemctl start systemd-suspend.service")
    board.wait_active("prompt", "hanging")
    ready, began = board.daemon_said("ready after"), [e for e in board.journal() if e.get("MESSAGE_ID") == SLEEP_STARTS]
    assert ready and began and stamp(ready[0]) < stamp(began[0]), board.daemon_log()
    assert board.handlers("prompt") == WALK, board.handlers("prompt")
    assert [(one["app"], one["code"]) for one in board.reports()] == [("hanging", "0x8badf00d")], board.reports()
    # And the next one that logind announces is walked once, not twice.
    board.wait_lock()
    board.mark()
    board.sleep()
    board.wait_active("prompt")
    assert board.handlers("prompt") == TO_SLEEP + BACK, board.handlers("prompt")


@scenario("hook-alone", "without the hook's second word the clocks end the sleep; a daemon that is stopped or gone "
          "does not hold it up", architectures=("amd64",))
def hook_alone(board):
    board.begin({"prompt": app()})
    board.sleep(f"{HOOK} pre suspend; echo mem >/sys/power/state", seconds=4)
    board.wait_active("prompt")
    assert board.handlers("prompt") == WALK, board.handlers("prompt")
    board.sh("systemctl stop curfewd")
    board.sh(f"{HOOK} pre suspend && {HOOK} post suspend && {HOOK} && {HOOK} pre nonsense")
    board.sh("systemctl start curfewd")
    board.wait_active("prompt")
    loop = board.loop_pid()
    board.sh(f"kill -STOP {loop}")
    text = board.sh(f"SECONDS=0; {HOOK} post suspend; echo $?:$SECONDS; kill -CONT {loop}")
    status, taken = text.strip().split(":")
    assert status == "0" and int(taken) < 30, text
    return f"a stopped daemon held the hook for {taken} s"


@scenario("power-state", "/sys/power/state, unannounced: the daemon notices, no app is killed or charged",
          architectures=("amd64",))
def power_state(board):
    board.begin({"prompt": app(), "busy": app("slow:DidFinishLaunching:300")})
    slept = board.sleep("echo mem >/sys/power/state", seconds=12)
    board.wait_daemon_said("unannounced")
    board.wait_active("prompt", "busy")
    assert board.reports() == [], board.reports()
    assert board.handlers("prompt") == LAUNCHED, board.handlers("prompt")
    return f"slept {slept:.1f} s"
