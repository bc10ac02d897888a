"""The hardware watchdog."""

from board import app
from scenario import scenario

DEVICE = '[watchdog]\ntimeout = "10s"\n'


@scenario("watchdog", "it does not bite in a sleep longer than its time; a stopped daemon has the board reset, and the "
          "next boot says why")
def watchdog(board):
    board.begin({"one": app()}, DEVICE)
    assert "10 s" in board.device()["hardwareWatchdog"], board.device()
    board.sleep(seconds=14)
    board.wait_active("one")
    assert board.machine.find_event("WATCHDOG") is None, board.machine.said()
    board.machine.forget_events()
    # The disk has no journal of its own.
    board.sh("journalctl --sync; sync; kill -STOP " + str(board.loop_pid()))
    board.machine.wait_event("WATCHDOG")
    board.machine.wait_event("RESET")
    board.machine.wait_boot()
    board.mount_payload()
    board.until("systemctl is-active curfewd")
    cause = board.device()["bootCause"]
    assert "reset by the hardware watchdog" in cause, cause
    text = board.sh("curfew reports '(board)'")
    assert "reset by the hardware watchdog" in text, text
    board.until("curfew status | grep -i watchdog")
    return cause
