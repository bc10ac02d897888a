"""The board goes down, and Curfew is removed."""

from board import app
from scenario import scenario


@scenario("reboot", "systemctl reboot: every app hears WillTerminate and ends by itself, and the next boot knows")
def reboot(board):
    board.begin({"one": app(), "slow": app("slow:WillTerminate:1500")})
    board.machine.forget_events()
    board.sh("systemctl reboot")
    board.machine.wait_event("RESET")
    board.machine.wait_boot()
    board.mount_payload()
    for name in ("one", "slow"):
        words = [word for word, _ in board.said(name, boot="-1")]
        assert "WillTerminate" in words and words[-1] == "ended", words
    board.until("systemctl is-active curfewd")
    board.wait_active("one", "slow")
    cause = board.device()["bootCause"]
    assert "good order" in cause, cause
    return cause


@scenario("purge", "apt purge leaves nothing, and the board sleeps without it")
def purge(board):
    board.begin({"one": app()})
    # What apps have written would stay.
    board.sh("rm -rf /var/lib/curfew-apps/*/*")
    board.sh("export DEBIAN_FRONTEND=noninteractive; "
             "apt-get purge -y -q $(dpkg-query -W -f '${Package}\\n' '*curfew*')", timeout=400)
    left = board.sh(
        "find / -xdev -iname '*curfew*'; find /run /sys/fs/cgroup -iname '*curfew*'; getent group curfew; "
        "systemctl list-units --all --no-legend '*curfew*'; pgrep -a curfew; "
        "systemd-inhibit --list --no-pager | grep -i curfew; true")
    assert not left.strip(), left
    board.sleep()
