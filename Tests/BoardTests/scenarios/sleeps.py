"""Real sleeps of the board, however they come about."""

from board import BACK, LAUNCHED, TO_SLEEP, app
from scenario import scenario

WALK = LAUNCHED + TO_SLEEP + BACK


@scenario("suspend", "logind's suspend: prompt and slow apps get ready and come back, the hanging one is killed, "
          "the lock closes in time, the board sleeps")
def suspend(board):
    board.begin({
        "prompt": app(), "slow": app("slow:DidEnterBackground:700"), "hanging": app("hang:DidEnterBackground")})
    limit = int(board.sh("busctl get-property org.freedesktop.login1 /org/freedesktop/login1 "
                         "org.freedesktop.login1.Manager InhibitDelayMaxUSec").split()[1]) / 1e6
    slept = board.sleep(seconds=3, alarm=20)
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
    return f"slept {slept:.1f} s; {decided:.0f} ms to sleep of {limit:.0f} s granted; release to sleep {released:.0f} ms"
