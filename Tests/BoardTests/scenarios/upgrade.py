"""A newer package, and loops that die, on a board that runs."""

import os
import random

from board import app
from scenario import scenario


@scenario("upgrade", "dpkg -i of a newer package with six apps running, one of them in a handler: no app ends, the "
          "main process stays the same, the next sleep is as good as any")
def upgrade(board):
    slow = app("slow:DidEnterBackground:8000", allowances={"did_enter_background": "14s"})
    names = ["one", "two", "three", "four", "five"]
    board.begin({**{name: app() for name in names}, "slow": slow})
    before = {name: one["mainPID"] for name, one in board.apps().items()}
    main, loop = board.main_pid(), board.loop_pid()
    program = board.sh("stat -L -c %i /proc/$(systemctl show --value -p MainPID curfewd)/exe")
    board.sh("(curfew background slow >/run/background 2>&1; echo $? >>/run/background) &")
    board.wait_handler("slow", "DidEnterBackground")
    board.sh("export DEBIAN_FRONTEND=noninteractive; "
             "dpkg -i /payload/newer.deb >/run/dpkg 2>&1 || { cat /run/dpkg; exit 1; }", timeout=120)
    said = board.sh("cat /run/dpkg")
    assert "what runs was not touched" in said, said
    assert board.main_pid() == main and board.loop_pid() != loop
    assert board.sh("stat -L -c %i /proc/$(systemctl show --value -p MainPID curfewd)/exe") != program
    assert {name: one["mainPID"] for name, one in board.apps().items()} == before
    board.wait(lambda: board.apps()["slow"]["scenePhase"] == "background", lambda: board.apps()["slow"])
    for name in before:
        assert [word for word, _ in board.said(name)].count("started") == 1, board.said(name)
    assert board.handlers("slow").count("DidEnterBackground") == 1, board.handlers("slow")
    assert board.reports() == [], board.reports()
    board.wait_lock()
    board.sleep()
    board.wait_active(*names)
    assert board.reports() == [], board.reports()
    # To systemd it is the service that it was.
    board.sh("systemctl is-active curfewd")
    assert board.main_pid() == main


# 20 take their time on an emulated board: CURFEW_BOARD_SLEEPS=20 deploy/board-test --only loop-killed-in-sleeps
SLEEPS = int(os.environ.get("CURFEW_BOARD_SLEEPS", "4"))


@scenario("loop-killed-in-sleeps", "in each of several sleeps the loop is killed at a random moment: the board "
          "sleeps each time, never waits as long as logind does, and all are back")
def loop_killed_in_sleeps(board):
    names = ["one", "two", "three"]
    board.begin({name: app() for name in names}, '[watchdog]\ntimeout = "20s"\n')
    before = {name: one["mainPID"] for name, one in board.apps().items()}
    chance = random.Random(14)
    longest = 0.0
    for _ in range(SLEEPS):
        loop = board.loop_pid()
        board.mark()
        # Before, in or after the handshake, which takes some milliseconds here.
        board.sh(f"(sleep {chance.random() * 0.4:.3f}; kill -KILL {loop}) >/dev/null 2>&1 &")
        board.sleep()
        board.wait_active(*names)
        board.until(f"[ \"$(pgrep -P {board.main_pid()} -x curfewd)\" != {loop} ]")
        longest = max(longest, board.time_to_sleep()[0] / 1000)
        board.wait_lock()
    assert {name: one["mainPID"] for name, one in board.apps().items()} == before
    assert board.reports() == [], board.reports()
    # So long logind waits.
    assert longest < 16, longest
    return f"{SLEEPS} sleeps, {longest:.2f} s at most from the announcement to the sleep (emulated)"
