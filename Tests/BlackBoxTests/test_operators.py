"""Operators who ask without end, or for too much, hold up neither root nor the apps."""

import json
import os
import statistics
import subprocess
import time
from pathlib import Path

import pytest
from board import CURFEW
from strangers import STRANGER, stranger
from waiting import wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

# Asks the same on 16 connections, again as soon as it is answered, and more at once than may wait.
STORM = """
import json, select, socket, sys
call = json.dumps({"method": "io.curfew.Control." + sys.argv[2], "parameters": json.loads(sys.argv[3]),
                   **json.loads(sys.argv[4])}).encode() + b"\\0"
clients = []
for _ in range(16):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.connect(sys.argv[1])
    client.setblocking(False)
    clients.append(client)
print("begins", flush=True)
while True:
    for client in select.select(clients, clients, [], 1)[0]:
        try:
            client.recv(1 << 20)
        except BlockingIOError:
            pass
    for client in select.select([], clients, [], 0)[1]:
        try:
            client.send(call)
        except BlockingIOError:
            pass
"""


@pytest.mark.parametrize(("method", "parameters", "how"), [
    ("Reload", "{}", "{}"), ("List", "{}", "{}"), ("PrepareForSleep", '{"start": false}', '{"oneway": true}'),
    ("Terminate", '{"app": "app-1"}', '{"oneway": true}'),
])
def test_a_storm_of_requests_leaves_time_for_others(board, method, parameters, how):
    for number in range(40):
        board.app_file(f"app-{number}", 'exec = ["/bin/sleep", "1000"]\nlaunch = "manual"\n')
    board.app("prompt")
    login = board.awake("prompt")
    # As for the group of operators.
    os.chmod(board.control_socket, 0o666)
    with stranger(STORM, board.control_socket, method, parameters, how) as storm:
        try:
            assert storm.stdout.readline() == "begins\n"
            # The share is used up.
            times = []
            for _ in range(20):
                begun = time.monotonic()
                board.describe("prompt")
                times.append(time.monotonic() - begun)
            # Of 20 s: without shares each takes seconds, in the debug build tens of them.
            assert statistics.median(times) < 0.5, times
            signalled = login.sleep(True)
            assert login.wait_closed("sleep")["t"] - signalled < 1.5
        finally:
            storm.kill()
    login.sleep(False)
    board.wait_active("prompt")
    assert "watchdog" not in board.log()


# Gives away as many children as it is told, and says how many were taken and why the others were not.
GIVER = """
import json, socket, subprocess, sys
client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
client.connect(sys.argv[1])
taken, reasons = 0, set()
children = [subprocess.Popen(["/bin/sleep", "1000"]) for _ in range(int(sys.argv[2]))]
for number, child in enumerate(children):
    call = {"method": "io.curfew.Control.AdoptTask",
            "parameters": {"name": f"{sys.argv[3]}-{number}", "processIdentifier": child.pid}}
    client.sendall(json.dumps(call).encode() + b"\\0")
    text = b""
    while not text.endswith(b"\\0"):
        text += client.recv(65536)
    answer = json.loads(text[:-1])
    if "error" in answer:
        reasons.add((answer["parameters"]["kind"], answer["parameters"]["reason"]))
    else:
        taken += 1
print(json.dumps([taken, sorted(reasons)]), flush=True)
sys.stdin.read()
for child in children:
    child.kill()
"""


def test_a_user_gives_away_no_more_than_64_processes(board):
    board.start()
    os.chmod(board.control_socket, 0o666)
    with stranger(GIVER, board.control_socket, "70", "first") as giver:
        kind, reason = "tooManyTasks", "64 commands of this user run already, and no more may"
        assert json.loads(giver.stdout.readline()) == [64, [[kind, reason]]]
        # What a user's programs hold and leave behind is looked for by that user.
        assert {app["user"] for app in board.list().values()} == {STRANGER["user"]}
        giver.stdin.close()
    wait_until(lambda: not board.instances(), "they have ended")
    # Places are free again.
    with stranger(GIVER, board.control_socket, "1", "again") as giver:
        assert json.loads(giver.stdout.readline())[0] == 1
        giver.stdin.close()


def test_all_users_together_give_away_no_more_than_256(board):
    board.start()
    os.chmod(board.control_socket, 0o666)
    # Root's own count for no other.
    child = subprocess.Popen(["/bin/sleep", "1000"])
    board.call("AdoptTask", name="roots", processIdentifier=child.pid)
    givers = []
    try:
        for number, (wanted, taken) in enumerate([(64, 64), (64, 64), (64, 64), (60, 60), (6, 4)]):
            giver = stranger(GIVER, board.control_socket, str(wanted), f"of-{number}", user=70000 + number)
            givers.append(giver)
            answer = json.loads(giver.stdout.readline())
            assert answer[0] == taken, answer
        kind, reason = answer[1][0]
        assert kind == "tooManyTasks" and reason.startswith("256 commands"), reason
        again = subprocess.Popen(["/bin/sleep", "1000"])
        board.call("AdoptTask", name="roots-again", processIdentifier=again.pid)
    finally:
        for giver in givers:
            giver.stdin.close()
            giver.wait()
        for each in (child, again):
            each.kill()
            each.wait()


def tool(board, *arguments):
    return subprocess.run([CURFEW, "--root", board.root, *arguments], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, check=False)


def test_the_state_of_thousands_of_apps_is_said_as_it_is_read(board):
    """It is more than is kept for a client that does not read."""
    names = [f"app-{number:04}" for number in range(3000)]
    for name in names:
        board.app_file(name, 'exec = ["/bin/sleep", "1000"]\nlaunch = "manual"\n')
    board.app_file("bad", "exec = 1\n")
    board.start()
    shown = tool(board, "status", "--json")
    assert shown.returncode == 0, shown.stderr
    assert [app["name"] for app in json.loads(shown.stdout)["apps"]] == [*names, "bad"]
    assert tool(board, "tasks").stdout == "No app holds a background task.\n"
    unknown = tool(board, "launch", "app-2999x")
    assert unknown.returncode == 3 and "did you mean 'app-2999'?" in unknown.stderr, unknown.stderr

    def resident():
        return int(Path(f"/proc/{board.loop()}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    before = resident()
    deaf = [board.wire() for _ in range(30)]
    for wire in deaf:
        wire.send("io.curfew.Control.Monitor", more=True)
    # What one that reads late is told is as it is then, and it is told all of it.
    board.call("Launch", app="app-2999", background=None)
    assert resident() - before < 8 << 20
    told = {}
    while True:
        change = deaf[0].receive()["parameters"]
        if change["kind"] == "synchronized":
            break
        told[change["app"]] = change["detail"]
    assert set(told) == {None, *names, "bad"} and told["app-2999"]["taskState"] == "running"
    board.call("Terminate", app="app-2999", force=True)
    while change["kind"] != "termination":
        change = deaf[0].receive()["parameters"]
    for wire in deaf:
        wire.close()


def test_what_has_ended_is_not_taken_over(board):
    board.start()
    child = subprocess.Popen(["/bin/true"])
    wait_until(lambda: Path(f"/proc/{child.pid}/stat").read_text().split()[2] == "Z", "it has ended")
    error = board.error("AdoptTask", name="late", processIdentifier=child.pid)
    assert error.name == "org.varlink.service.InvalidParameter" and not board.terminations()
    child.wait()


def test_what_operators_ask_for_in_a_loop_does_not_fill_the_journal(board):
    board.app_file("app", 'exec = ["/bin/sleep", "1000"]\n')
    board.start()
    for _ in range(100):
        board.call("Reload")
    for _ in range(60):
        board.call("PrepareForSleep", start=True)
        board.call("PrepareForSleep", start=False)
    log = board.log()
    assert log.count("configuration reloaded") < 61 and log.count("sleep ") < 70
    # Of reloads, of sleeps, and of what the app did in them.
    assert log.count("more of the kind is left out") == 3


def test_sleeps_that_operators_play_leave_out_no_line_of_a_real_one(board):
    login = board.with_login(5.0)
    board.start()
    login.wait_held("sleep")
    for _ in range(60):
        board.call("PrepareForSleep", start=True)
        board.call("PrepareForSleep", start=False)
    login.sleep(True)
    login.wait_closed("sleep")
    assert "sleep 61: apps have " in board.log() and "sleep 61: ready after " in board.log()
    login.sleep(False)
    board.wait_log("sleep 61: ")


# Ends sleeps, says how the daemon answers, and does it again when it is told to.
WAKER = """
import json, socket, sys
client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
client.connect(sys.argv[1])
for line in sys.stdin:
    call = {"method": "io.curfew.Control.PrepareForSleep", "parameters": json.loads(line)}
    client.sendall(json.dumps(call).encode() + b"\\0")
    text = b""
    while not text.endswith(b"\\0"):
        text += client.recv(65536)
    print(json.loads(text[:-1]).get("error"), flush=True)
"""


@pytest.mark.parametrize(("end", "error"), [
    ({"start": False}, "io.curfew.Control.Denied"),
    ({"start": False, "kind": "suspend", "sleepId": 1}, "org.varlink.service.PermissionDenied"),
    ({"start": True, "kind": "suspend"}, "org.varlink.service.PermissionDenied"),
])
def test_no_operator_has_apps_run_in_a_sleep_that_logind_began(board, end, error):
    board.app("camera")
    login = board.awake("camera")
    os.chmod(board.control_socket, 0o666)
    with stranger(WAKER, board.control_socket) as waker:
        login.sleep(True)
        login.wait_closed("sleep")
        waker.stdin.write(json.dumps(end) + "\n")
        waker.stdin.flush()
        assert waker.stdout.readline() == error + "\n"
        assert board.device_state()["sleepState"] == "asleep"
        assert board.describe("camera")["taskState"] == "suspended"
        login.sleep(False)
        board.wait_active("camera")
        waker.stdin.close()


def test_what_operators_have_an_app_do_in_a_loop_does_not_fill_the_journal(board):
    board.app_file("app", 'exec = ["/bin/sleep", "1000"]\nlaunch = "boot"\n')
    board.app_file("fails", 'exec = ["/bin/false"]\nrestart = "never"\nlaunch = "manual"\n')
    board.start()
    board.wait_app("app", scenePhase="active")
    for _ in range(100):
        board.call("Background", app="app", timeout=None)
        board.call("Activate", app="app", timeout=None)
    for _ in range(100):
        board.call("Terminate", app="app", force=True)
        board.call("Launch", app="app", background=None)
    log = board.log()
    assert log.count("app: is active") + log.count("app: is background") <= 60
    assert log.count("app: launched") + log.count("app: ended") <= 60
    assert log.count("more of the kind is left out") == 2
    for number in range(80):
        board.call("Launch", app="fails", background=None)
        board.wait_app("fails", taskState="notRunning", launches=number + 1)
    assert board.log().count("fails: ended") <= 60
    # An end has its report all the same.
    assert len(board.terminations("app")) >= 20


def test_a_setting_that_is_changed_in_a_loop_is_written_once_a_second_after_the_first_ten(board):
    board.start()
    settings = board.state / "preferences.json"
    written = set()
    begun = time.monotonic()
    for number in range(200):
        board.call("SetLowPowerMode", enabled=number % 2 == 0)
        written.add(os.stat(settings).st_ino)
    seconds = time.monotonic() - begun
    assert len(written) <= seconds + 12
    assert board.log().count("low power mode is") <= 60
    wait_until(lambda: json.loads(settings.read_text()) == {"lowPowerMode": False}, "the last one is kept")
    board.call("SetLowPowerMode", enabled=True)
    board.call("SetLowPowerMode", enabled=None)
    assert board.stop() == 0
    assert json.loads(settings.read_text()) == {"lowPowerMode": None}
