"""Clients that break the protocol, say nothing, or never listen. Others are served meanwhile."""

import json
import os
import socket
import time

import pytest
from waiting import wait_until
from wire import Closed, VarlinkError, Wire

CONTROL = "io.curfew.Control"
SERVICE = "org.varlink.service"
CALL = json.dumps({"method": f"{CONTROL}.DescribeDevice"}).encode() + b"\0"


@pytest.fixture
def busy(board):
    """A board with an app; afterwards it still runs, and the daemon answers within a second."""
    board.app("app")
    board.start()
    board.wait_active("app")
    yield board
    serves_within_a_second(board)
    app = board.describe("app")
    assert (app["launches"], app["scenePhase"]) == (1, "active")


def serves_within_a_second(board):
    begun = time.monotonic()
    board.call("DescribeDevice", timeout=5)
    assert time.monotonic() - begun < 1


def is_refused(wire):
    """The answer is an error, or none: the connection is closed."""
    try:
        message = wire.receive()
    except (Closed, BrokenPipeError):
        return
    assert message.get("error", "").startswith("org.varlink.service."), message


@pytest.mark.parametrize("path", ["control", "application"])
@pytest.mark.parametrize("data", [
    b"\0", b"\0\0\0\0", b"}\0", b"{\0", b'{"method"\0', b"null\0", b"[]\0", b"5\0", b'"x"\0', b"{}\0",
    b'{"method":5}\0', b'{"method":""}\0', b'{"method":"x"}\0', b'{"method":"."}\0', b'{"method":"..."}\0',
    b'{"method":"io.curfew.Control."}\0', b'{"method":"org.varlink.service.GetInfo","parameters":[]}\0',
    b'{"method":"org.varlink.service.GetInfo","parameters":5}\0',
    b'{"method":"org.varlink.service.GetInfo","more":1}\0',
    b'{"method":"a.b.C","method":"a.b.D"}\0', b"\xff\xfe\x00", b'{"method":"\xff\xff"}\0',
    b'{"method":"\\ud800.x.Y"}\0', b'{"method":"a.b.\\u0000C"}\0', b"GET / HTTP/1.1\r\n\r\n\0",
    b'{"parameters":{}}\0', b'{"error":"a.b.C","parameters":{}}\0', b'{"method":"a.b.C"} trailing\0',
    b'{"method":"a.b.C","parameters":{"x":1e999}}\0', b'{"method":"a.b.C","parameters":{"x":NaN}}\0',
    b'{"method":"a.b.C","parameters":{"x":123456789012345678901234567890}}\0',
], ids=lambda data: repr(data[:40]))
def test_what_is_no_call(shared, data, path):
    target = shared.control_socket if path == "control" else shared.application_socket
    with Wire(target) as wire:
        wire.send_raw(data)
        # Some of these are odd, but calls: they may be answered.
        if data in (b'{"method":"org.varlink.service.GetInfo","more":1}\0',):
            wire.socket.shutdown(socket.SHUT_WR)
            wire.is_closed()
        else:
            is_refused(wire)
    serves_within_a_second(shared)


@pytest.fixture(scope="module")
def shared():
    """One board for many small attacks."""
    import board as boards

    made = boards.Board()
    made.app("app")
    made.start()
    made.wait_active("app")
    yield made
    app = made.describe("app")
    log = made.log()
    complaints = made.close()
    assert not complaints, log
    assert app["launches"] == 1


def test_a_message_of_just_under_a_mebibyte_is_read(busy):
    frame = json.dumps({"method": f"{CONTROL}.DescribeDevice", "parameters": {"x": ""}}).encode()
    padding = b"x" * ((1 << 20) - len(frame) - 1)
    data = frame.replace(b'""', b'"' + padding + b'"')
    with busy.wire() as wire:
        wire.send_raw(data + b"\0")
        message = wire.receive()
        assert "device" in message.get("parameters", {}) or message.get("error") == f"{SERVICE}.InvalidParameter"


@pytest.mark.parametrize("has_end", [True, False])
def test_a_mebibyte_and_one_is_too_much(busy, has_end):
    with busy.wire() as wire:
        try:
            wire.send_raw(b'{"method":"' + b"x" * ((1 << 20) + 1) + (b'"}\0' if has_end else b""))
            is_refused(wire)
        except (BrokenPipeError, ConnectionResetError):
            pass
        serves_within_a_second(busy)


@pytest.mark.parametrize("opening, closing", [(b"[", b"]"), (b'{"a":', b"}")])
@pytest.mark.parametrize("depth", [20, 10_000, 100_000])
def test_deep_nesting(busy, opening, closing, depth):
    data = b'{"method":"org.varlink.service.GetInfo","parameters":{"x":' + opening * depth + b"1" + closing * depth
    with busy.wire() as wire:
        wire.send_raw(data + b"}}\0")
        if depth > 20:
            is_refused(wire)
        else:
            wire.receive()


def test_half_a_message_and_then_silence(busy):
    wires = []
    for length in (1, 10, len(CALL) - 1):
        wire = busy.wire()
        wire.send_raw(CALL[:length])
        wires.append(wire)
        serves_within_a_second(busy)
    # The rest of it may still come.
    wires[-1].send_raw(CALL[-1:])
    assert "device" in wires[-1].reply()
    for wire in wires:
        wire.close()


def test_a_message_byte_by_byte(busy):
    with busy.wire() as wire:
        for byte in CALL:
            wire.send_raw(bytes([byte]))
        assert "device" in wire.reply()


def test_many_calls_at_once_are_answered_in_order(busy):
    with busy.wire() as wire:
        calls = [{"method": f"{CONTROL}.Describe", "parameters": {"app": f"nobody-{n}"}} for n in range(500)]
        wire.send_raw(b"".join(json.dumps(call).encode() + b"\0" for call in calls))
        for number in range(500):
            message = wire.receive()
            assert message["parameters"] == {"app": f"nobody-{number}"}, number


def test_answers_come_in_the_order_of_the_calls(board):
    board.app("app", "slow:DidFinishLaunching:0.4", launch="manual")
    board.start()
    with board.wire() as wire:
        wire.send(f"{CONTROL}.Launch", {"app": "app"})
        wire.send(f"{CONTROL}.Describe", {"app": "app"})
        board.wait_call("app", "DidFinishLaunching")
        serves_within_a_second(board)
        assert wire.reply() == {}
        assert wire.reply()["app"]["name"] == "app"


@pytest.mark.parametrize("which", ["control", "application"])
def test_a_thousand_connections(busy, which):
    path = busy.control_socket if which == "control" else busy.application_socket
    served = busy.wire()
    served.call(f"{CONTROL}.DescribeDevice")
    opened = []
    try:
        for _ in range(1000):
            client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            client.settimeout(0.5)
            try:
                client.connect(path)
            except (BlockingIOError, TimeoutError):
                pass
            opened.append(client)
        # Who was there before is served; the apps are, too.
        begun = time.monotonic()
        served.call(f"{CONTROL}.Background", {"app": "app"})
        served.call(f"{CONTROL}.Activate", {"app": "app"})
        assert time.monotonic() - begun < 1
        if which == "application":
            # Strangers on the socket that everyone may use do not keep an operator out.
            serves_within_a_second(busy)
        count = len(os.listdir(f"/proc/{busy.daemon.pid}/fd"))
        assert count < 200, f"the daemon holds {count} descriptors"
    finally:
        for client in opened:
            client.close()
        served.close()
    wait_until(lambda: can_connect(busy), "it is open for others again")


def can_connect(board):
    try:
        board.call("DescribeDevice", timeout=2)
    except (OSError, Closed):
        return False
    return True


def test_an_app_with_too_many_connections_is_held_to_its_share(busy):
    text = ("import json, os, socket, sys, time\n"
            "got = 0\n"
            "clients = []\n"
            "for _ in range(100):\n"
            "    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM); s.settimeout(5)\n"
            "    s.connect(os.environ['CURFEW_SOCKET']); clients.append(s)\n"
            "    try:\n"
            "        s.sendall(b'{\"method\":\"io.curfew.Application.GetState\"}\\0')\n"
            "        got += len(s.recv(4096)) > 0\n"
            "    except OSError: pass\n"
            "line = {'event': 'connected', 'pid': os.getpid(), 'count': got}\n"
            "open(sys.argv[1], 'w').write(json.dumps(line) + '\\n'); time.sleep(1000)\n")
    (busy.programs / "greedy.py").write_text(text)
    busy.app_file("greedy", f'exec = ["/usr/bin/python3", "{busy.programs}/greedy.py", "{busy.journal("greedy")}"]\n'
                            'launch = "boot"\n')
    busy.call("Reload")
    assert busy.wait_note("greedy", "connected")["count"] == 16
    serves_within_a_second(busy)


def test_a_monitor_that_never_reads_is_cut_off(busy):
    """One MiB of output is kept for it; then it is closed, and no other client has waited."""
    with busy.wire() as deaf:
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.send(f"{CONTROL}.Monitor", more=True)
        memory = resident(busy)
        with busy.wire() as operator:
            end = time.monotonic() + 30
            while not is_hung_up(deaf):
                assert time.monotonic() < end, "it was never cut off"
                for _ in range(20):
                    operator.call(f"{CONTROL}.Background", {"app": "app"})
                    operator.call(f"{CONTROL}.Activate", {"app": "app"})
                # Each of many more calls whose answers are not read.
                deaf_send(deaf)
        assert resident(busy) - memory < 16 << 20


def deaf_send(wire):
    wire.socket.settimeout(0.05)
    try:
        wire.socket.send(CALL * 200)
    except (TimeoutError, BrokenPipeError, ConnectionResetError):
        pass


def is_hung_up(wire):
    import select

    poller = select.poll()
    poller.register(wire.socket, 0)
    return any(events & (select.POLLHUP | select.POLLERR) for _, events in poller.poll(0))


def resident(board):
    with open(f"/proc/{board.daemon.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_many_calls_and_no_reader(busy):
    """The answers pile up to a limit; then no more calls are taken, or the caller is cut off."""
    with busy.wire() as wire:
        wire.socket.settimeout(0.5)
        memory = resident(busy)
        try:
            for _ in range(400):
                wire.send_raw(CALL * 100)
        except (TimeoutError, BrokenPipeError, ConnectionResetError):
            pass
        serves_within_a_second(busy)
        assert resident(busy) - memory < 16 << 20


def test_a_client_that_closes_its_side_is_answered(busy):
    with busy.wire() as wire:
        wire.send_raw(CALL)
        wire.socket.shutdown(socket.SHUT_WR)
        assert "device" in wire.reply()
        assert wire.is_closed()


def holders(folder, target):
    """How many descriptors in /proc/PID/fd are of that pipe."""
    found = 0
    for name in os.listdir(folder):
        try:
            found += os.readlink(f"{folder}/{name}") == target
        except FileNotFoundError:
            pass  # closed meanwhile
    return found


def test_descriptors_sent_along_are_not_kept(busy):
    folder = f"/proc/{busy.daemon.pid}/fd"
    with busy.wire() as wire:
        reader, writer = os.pipe()
        pipe = os.readlink(f"/proc/self/fd/{reader}")
        assert holders("/proc/self/fd", pipe) == 2
        for _ in range(10):
            socket.send_fds(wire.socket, [CALL], [reader, writer])
            assert "device" in wire.reply()
        wait_until(lambda: holders(folder, pipe) == 0, lambda: f"{holders(folder, pipe)} descriptors are kept")
        os.close(reader)
        os.close(writer)


def test_errors_leave_the_connection_usable(busy):
    with busy.wire() as wire:
        for _ in range(3):
            with pytest.raises(VarlinkError):
                wire.call(f"{CONTROL}.Nothing")
            assert "device" in wire.call(f"{CONTROL}.DescribeDevice")
