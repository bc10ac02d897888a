"""What the service manager hears of the daemon (sd_notify)."""

import socket

import pytest


class Manager:
    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.heard = []

    def hear(self, wanted, timeout=20):
        """Until it has heard that line since the last forget(). timeout 0: it was said already."""
        self.socket.settimeout(timeout)
        while wanted not in self.heard:
            assert len(self.heard) < 200, self.heard
            self.heard += self.socket.recv(4096).decode().splitlines()

    def forget(self):
        self.heard.clear()


@pytest.fixture
def manager(board):
    made = Manager(f"{board.root}/service-manager")
    yield made
    made.socket.close()


def test_it_hears_of_the_start_the_signs_of_life_and_the_end(board, manager):
    board.app("app")
    board.start(environment={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "600000"})
    manager.hear("READY=1")
    manager.forget()
    manager.hear("WATCHDOG=1")
    manager.forget()
    manager.hear("WATCHDOG=1")
    assert board.stop() == 0
    manager.hear("STOPPING=1")
    # An app is told of its own socket, not of the daemon's.
    assert board.notes("app", "start")[0]["environment"]["NOTIFY_SOCKET"] != manager.path


def test_it_expects_no_signs_of_life_while_the_board_sleeps(board, manager):
    """It counts by MONOTONIC, which on some boards runs on in the sleep."""
    board.app("app")
    login = board.with_login(delay=3)
    board.start(environment={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "6000000"})
    board.wait_active("app")
    login.wait_held("sleep")
    login.sleep(True)
    # When the lock is gone it would be too late.
    login.wait_closed("sleep")
    manager.hear("WATCHDOG_USEC=0", timeout=0)
    login.sleep(False)
    manager.hear("WATCHDOG_USEC=6000000")
    assert [line for line in manager.heard if line.startswith("WATCHDOG_USEC=")] == [
        "WATCHDOG_USEC=0", "WATCHDOG_USEC=6000000"]
