"""What apps write, where there is no journal."""

import json
import os

import pytest
from board import PYTHON, toml_file
from waiting import wait_until

SENDS = """
import array, os, socket
print("before", flush=True)
out = socket.socket(fileno=os.dup(1))
try:
    out.sendmsg([b"with a descriptor\\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))])
except OSError as error:
    print("refused:", error.errno, flush=True)
"""


def app(board, name, *arguments, **keys):
    board.app_file(name, toml_file({"exec": [*PYTHON, *arguments], "launch": "boot", "restart": "never", **keys}))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_page_of_an_apps_own_file_system_keeps_nothing_waiting(board):
    """To read it is to wait for the app: a pipe would hold it, and the loop could not even be killed."""
    says = board.journals / "says"
    (board.journals / "mounted").mkdir()
    os.chmod(board.journals / "mounted", 0o777)
    app(board, "evil", str(board.programs / "page_app.py"), str(board.journals / "mounted"), str(says))
    board.app("other")
    login = board.awake("other", delay=5)
    wait_until(says.exists, lambda: board.log())
    signalled = login.sleep(True)
    assert login.wait_closed("sleep")["t"] - signalled < 3
    login.sleep(False)
    board.wait_active("other")


def last_lines(board, app):
    with open(board.state / "reports.jsonl", encoding="utf-8") as file:
        ends = [json.loads(line) for line in file]
    return next(end["output"] for end in ends if end.get("app") == app)


def test_what_an_app_writes_is_in_its_report_and_its_stdout_has_no_input(board):
    app(board, "talks", "-c", "import os; print('read', os.read(1, 10)); print('last words')")
    board.start()
    board.wait_termination("talks")
    assert last_lines(board, "talks") == ["read b''", "last words"]


def test_descriptors_that_are_sent_by_stdout_are_not_taken(board):
    """Refused where the kernel can (Linux 6.16); else the output is not read any more."""
    app(board, "sends", "-c", SENDS)
    board.start()
    board.wait_termination("sends")
    assert last_lines(board, "sends") in (["before", "refused: 1"], ["before"])


def test_a_report_has_the_words_of_that_run_alone(board):
    mark = board.journals / "mark"
    app(board, "again", "-c", f"import os; print(os.path.exists({str(mark)!r})); open({str(mark)!r}, 'w')")
    board.start()
    board.wait_termination("again")
    board.call("Launch", app="again", background=None)
    board.wait_termination("again", 2)
    with open(board.state / "reports.jsonl", encoding="utf-8") as file:
        assert [json.loads(line)["output"] for line in file] == [["False"], ["True"]]
