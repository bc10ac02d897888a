"""Clients that break the protocol, say nothing, or never listen. Others are served meanwhile."""

import json
import os
import select
import socket
import time

import family
import pytest
from waiting import wait_until
from wire import Closed, Wire

CONTROL = "io.curfew.Control"


def call(method, **parameters):
    return json.dumps({"method": f"{CONTROL}.{method}", "parameters": parameters}).encode() + b"\0"


CALL = call("DescribeDevice")


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


NO_CALLS = [
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
    # More than a mebibyte, with its end and without one.
    b'{"method":"' + b"x" * ((1 << 20) + 1) + b'"}\0', b'{"method":"' + b"x" * ((1 << 20) + 1),
    # Deeper than any parser's stack.
    b'{"method":"a.b.C","parameters":{"x":' + b"[" * 100_000 + b"1" + b"]" * 100_000 + b"}}\0",
    b'{"method":"a.b.C","parameters":{"x":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}}\0",
]


@pytest.mark.parametrize("path", ["control", "application"])
def test_what_is_no_call_is_refused(busy, path):
    for data in NO_CALLS:
        with Wire(busy.control_socket if path == "control" else busy.application_socket) as wire:
            try:
                wire.send_raw(data)
                message = wire.receive()
            except (Closed, BrokenPipeError, ConnectionResetError):
                message = None
            # An error, or none: the connection is closed.
            assert message is None or message.get("error", "").startswith("org.varlink.service."), (data[:80], message)
        serves_within_a_second(busy)


def test_answers_come_in_the_order_of_the_calls(board):
    """Of one client that writes byte by byte, and then five hundred calls at once; others stay in the midst of one."""
    board.app("app", "slow:DidFinishLaunching:0.4", launch="manual")
    board.start()
    halves = [board.wire() for _ in range(3)]
    for wire, length in zip(halves, (1, 10, len(CALL) - 1)):
        wire.send_raw(CALL[:length])
    with board.wire() as wire:
        for byte in call("Launch", app="app"):
            wire.send_raw(bytes([byte]))
        board.wait_call("app", "DidFinishLaunching")
        wire.send_raw(b"".join(call("Describe", app=f"nobody-{number}") for number in range(500)) + CALL)
        # Who has no more to say is answered all the same.
        wire.socket.shutdown(socket.SHUT_WR)
        serves_within_a_second(board)
        assert wire.reply() == {}
        for number in range(500):
            assert wire.receive() == {"error": f"{CONTROL}.NoSuchApp", "parameters": {"app": f"nobody-{number}"}}
        assert "device" in wire.reply()
        assert wire.is_closed()
    # The rest of it may still come.
    halves[-1].send_raw(CALL[-1:])
    assert "device" in halves[-1].reply()
    for wire in halves:
        wire.close()


def crowd(path):
    """A thousand connections, or as many as are let in."""
    clients = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(1000)]
    for client in clients:
        client.settimeout(0.5)
        try:
            client.connect(path)
        except (BlockingIOError, TimeoutError):
            pass
    return clients


def test_a_thousand_connections(busy):
    for path in (busy.application_socket, busy.control_socket):
        with busy.wire() as served:
            served.call(f"{CONTROL}.DescribeDevice")
            clients = crowd(path)
            # Who was there before is served; the apps are, too.
            begun = time.monotonic()
            served.call(f"{CONTROL}.Background", {"app": "app"})
            served.call(f"{CONTROL}.Activate", {"app": "app"})
            assert time.monotonic() - begun < 1, path
            if path == busy.application_socket:
                # Strangers on the socket that everyone may use do not keep an operator out.
                serves_within_a_second(busy)
            # It takes and turns away by turns: how many it has in one is the machine's pace.
            wait_until(lambda: len(os.listdir(f"/proc/{busy.loop()}/fd")) < 200,
                       f"those turned away at {path} are closed")
        for client in clients:
            client.close()
        wait_until(lambda: can_connect(busy), f"{path} is open for others again")


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


def test_clients_that_never_read_take_little_memory(busy):
    memory = resident(busy)
    with busy.wire() as deaf, busy.wire() as watcher, busy.wire() as operator:
        # The answers pile up to a limit; then no more calls are taken, or the caller is cut off.
        for _ in range(400):
            if not takes(deaf, CALL * 100, 0.5):
                break
        serves_within_a_second(busy)
        # One MiB of changes is kept for a monitor; then it is closed, and no other client has waited.
        watcher.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        watcher.send(f"{CONTROL}.Monitor", more=True)
        end = time.monotonic() + 30
        while not is_hung_up(watcher):
            assert time.monotonic() < end, "it was never cut off"
            for _ in range(20):
                operator.call(f"{CONTROL}.Background", {"app": "app"})
                operator.call(f"{CONTROL}.Activate", {"app": "app"})
            # Each of many more calls whose answers are not read.
            takes(watcher, CALL * 200, 0.05)
        assert resident(busy) - memory < 16 << 20


def takes(wire, data, patience):
    wire.socket.settimeout(patience)
    try:
        wire.socket.sendall(data)
    except (TimeoutError, BrokenPipeError, ConnectionResetError):
        return False
    return True


def is_hung_up(wire):
    poller = select.poll()
    poller.register(wire.socket, 0)
    return any(events & (select.POLLHUP | select.POLLERR) for _, events in poller.poll(0))


def resident(board):
    with open(f"/proc/{board.loop()}/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_descriptors_sent_along_are_not_kept(busy):
    def holders(pid):
        return family.descriptors(pid).count(pipe)

    with busy.wire() as wire:
        reader, writer = os.pipe()
        pipe = os.readlink(f"/proc/self/fd/{reader}")
        assert holders("self") == 2
        for _ in range(10):
            try:
                socket.send_fds(wire.socket, [CALL], [reader, writer])
            except PermissionError:
                # The kernel refuses them (Linux 6.16).
                wire.send_raw(CALL)
            assert "device" in wire.reply()
        wait_until(lambda: holders(busy.loop()) == 0, lambda: f"{holders(busy.loop())} descriptors are kept")
        os.close(reader)
        os.close(writer)


def test_each_message_that_does_not_end_has_its_own_time(board):
    board.start()
    with board.wire() as first, board.wire() as second:
        first.send_raw(b"{")
        assert not first.is_closed(3)
        second.send_raw(b"{")
        assert first.is_closed(10)
        assert second.is_closed(6)
