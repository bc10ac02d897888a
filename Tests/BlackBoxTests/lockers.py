"""Apps that have a lock on sleep which another process took."""

import os
import pwd

from board import PYTHON, toml_file
from sandboxed import in_sandbox

NAMED = "{}: holds a lock of its own on sleep at logind, “stray”: because: frozen after it"
GAMES = {"user": "games", "group": "games"}


def lock_app(board, name, *arguments, **keys):
    """Of a user of its own, if not said otherwise."""
    if "user" not in keys:
        keys |= in_sandbox(board, f"{board.root}/run/systemd/inhibit")
    board.app_file(name, toml_file({
        "exec": [*PYTHON, str(board.programs / "lock_app.py"), str(board.journal(name)), *arguments],
        "launch": "boot", "restart": "never", **keys}))


def user_of(board, app):
    return os.stat(f"{board.root}/var/lib/curfew-apps/{app}").st_uid


class Passed:
    """An app has given its lock to one of another user, and has ended."""
    holder, innocent = "taker", "third"

    def __init__(self, board, login, role="get"):
        self.fifo, meeting = login.make_lock(), f"{board.journals}/meeting"
        lock_app(board, "taker", role, meeting)
        lock_app(board, "giver", "give", self.fifo, meeting)
        lock_app(board, "third", "idle")
        begin(board, login)
        self.pid = board.wait_note("taker", "has")["pid"]
        board.wait_termination("giver")
        login.show_lock(self.fifo, "stray", "because", user_of(board, "giver"), board.notes("giver")[0]["pid"])


class Hidden(Passed):
    """The same, and a thread has it for itself."""

    def __init__(self, board, login):
        super().__init__(board, login, "hide")


class Buried(Passed):
    """The same, and it has much else open."""

    def __init__(self, board, login):
        super().__init__(board, login, "bury")


class Shared:
    """An app shares its user with another, and a helper that is gone took its lock."""
    holder, innocent = "first", "second"

    def __init__(self, board, login):
        self.fifo = login.make_lock()
        lock_app(board, "first", "inherit", self.fifo, **GAMES)
        lock_app(board, "second", "idle", **GAMES)
        begin(board, login)
        note = board.wait_note("first", "has")
        self.pid = note["pid"]
        login.show_lock(self.fifo, "stray", "because", pwd.getpwnam("games").pw_uid, note["taker"])


class Reused:
    """The helper's pid is that of a process of another app's by now."""
    holder, innocent = "first", "second"

    def __init__(self, board, login):
        self.fifo = login.make_lock()
        lock_app(board, "first", "inherit", self.fifo)
        lock_app(board, "second", "idle")
        begin(board, login)
        self.pid = board.wait_note("first", "has")["pid"]
        login.show_lock(
            self.fifo, "stray", "because", user_of(board, "first"), board.wait_note("second", "idles")["pid"])


KINDS = [Passed, Hidden, Buried, Shared, Reused]


def begin(board, login):
    board.app("other")
    board.start()
    board.wait_active("other")
    login.wait_held("sleep")
