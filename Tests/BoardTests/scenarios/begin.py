"""The board has booted, and Curfew was installed on it."""

from board import LAUNCHED, app
from scenario import scenario


@scenario("boot", "after apt's install and a reboot the daemon runs, curfew status works at once, apps are in front")
def boot(board):
    board.sh("systemctl is-active curfewd curfew-apps; curfew status")
    version = board.sh("dpkg-query -W -f '${Version}' curfew")
    said = board.sh("curfew --version; curfewd --version").split()
    assert said == ["curfew", version, "curfewd", version], (said, version)
    for number in range(3):
        board.put(f"/etc/curfew/apps/app{number}.toml", app())
    board.machine.forget_events()
    board.sh("journalctl --sync; systemctl reboot")
    board.machine.wait_event("RESET")
    board.machine.wait_boot()
    board.mount_payload()
    # The first question of all: it does not have to wait.
    board.until("systemctl is-active curfewd", timeout=300)
    board.sh("curfew status")
    board.wait_active("app0", "app1", "app2")
    for number in range(3):
        assert [word for word, _ in board.said(f"app{number}", boot="0")][-2:] == LAUNCHED
    return figures(board)


def figures(board):
    """How long it took from the unit's start to apps in front, by the journal."""
    begun = board.sh("systemctl show --value -p ExecMainStartTimestampMonotonic curfewd")
    last = max(int(entry["__MONOTONIC_TIMESTAMP"]) for number in range(3)
               for entry in board.journal(f"SYSLOG_IDENTIFIER=curfew-app{number}", boot="0"))
    return f"{(last - int(begun)) / 1000:.0f} ms from the unit's start to three apps active (emulated)"
