"""The delegate connection: in pieces, no Varlink, lost and found again, inherited or not."""

import contextlib
import json
import logging
import os
import queue
import socket
from unittest import mock

from device import DELEGATE, MESSAGE_LIMIT, PATIENCE, ClientTest, curfew


class DelegateStreamTests(ClientTest):
    def setUp(self):
        super().setUp()
        self.heard = queue.Queue()
        self.app.did_become_active(self.heard.put)
        self.app.did_receive_remote_notification(lambda payload: self.heard.put(len(payload["x"])))

    def next_heard(self):
        return self.heard.get(timeout=PATIENCE)

    def call(self, deadline):
        message = {"method": DELEGATE + "DidBecomeActive", "parameters": {"deadline": deadline}}
        return json.dumps(message).encode() + b"\0"

    def check_byte_by_byte(self):
        for byte in self.call(1.5):
            self.delegate.send_raw(bytes([byte]))
        self.assertEqual(self.delegate.receive(), {"parameters": {}})
        self.assertEqual(self.next_heard(), 1.5)

    def check_several_at_once(self):
        self.delegate.send_raw(self.call(1.0) + self.call(2.0) + self.call(3.0)[:20])
        self.delegate.send_raw(self.call(3.0)[20:])
        self.assertEqual([self.next_heard() for _ in range(3)], [1.0, 2.0, 3.0])
        self.assertEqual([self.delegate.receive() for _ in range(3)], [{"parameters": {}}] * 3)

    def test_byte_by_byte(self):
        self.start()
        self.check_byte_by_byte()

    def test_byte_by_byte_under_serve(self):
        self.serve()
        self.check_byte_by_byte()

    def test_several_at_once(self):
        self.start()
        self.check_several_at_once()

    def test_several_at_once_under_serve(self):
        self.serve()
        self.check_several_at_once()

    def large(self, size):
        """A call of so many bytes, without the one at its end."""
        head = b'{"method":"io.curfew.Delegate.DidReceiveRemoteNotification","parameters":{"deadline":1,'
        head += b'"payload":{"x":"'
        tail = b'"}}}'
        return head + b"x" * (size - len(head) - len(tail)) + tail

    def test_the_longest_message_there_may_be(self):
        self.start()
        self.delegate.send_raw(self.large(MESSAGE_LIMIT) + b"\0")
        self.assertEqual(self.delegate.receive(), {"parameters": {"result": "noData"}})
        self.assertGreater(self.next_heard(), MESSAGE_LIMIT - 200)

    def check_dropped(self, data, text):
        """The connection ends, that is logged, and the app attaches anew and goes on."""
        self.start()
        with self.says() as log:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.delegate.send_raw(data)
            attached = self.device.next_attached()
        self.assertIsNone(self.delegate.receive())
        self.assertIn(text, "\n".join(log.output))
        self.assertEqual(attached.call("DidBecomeActive", deadline=2.0), {"parameters": {}})
        self.assertEqual(self.next_heard(), 2.0)

    def test_a_message_over_1_mib(self):
        self.check_dropped(self.large(MESSAGE_LIMIT + 1) + b"\0", "a message over 1 MiB")

    def test_one_without_an_end(self):
        self.check_dropped(b"x" * (MESSAGE_LIMIT + 1), "a message over 1 MiB")

    def test_no_json(self):
        self.check_dropped(b"GET / HTTP/1.1\r\n\0", "not JSON")

    def test_no_utf_8(self):
        self.check_dropped(b'{"method":"\xff"}\0', "not JSON")

    def test_an_empty_message(self):
        self.check_dropped(b"\0", "not JSON")

    def test_json_of_a_depth_that_no_message_needs(self):
        self.check_dropped(b"[" * 500_000 + b"\0", "not JSON")

    def test_json_that_is_no_object(self):
        self.check_dropped(b"[1]\0", "no Varlink message")

    def test_parameters_that_are_no_object(self):
        self.check_dropped(b'{"method":"a.b","parameters":[1]}\0', "no Varlink message")

    def test_a_reply_in_place_of_a_call(self):
        self.check_dropped(b'{"parameters":{}}\0', "no call")

    def test_what_came_before_it_is_answered(self):
        self.start()
        with self.says():
            self.delegate.send_raw(self.call(1.0) + b"nonsense\0")
            self.assertEqual(self.delegate.receive(), {"parameters": {}})
            self.assertIsNone(self.delegate.receive())
            self.device.next_attached()


class AttachTests(ClientTest):
    def setUp(self):
        super().setUp()
        self.app.did_become_active(lambda: None)

    def check_is_served_over(self, wire):
        self.assertEqual(wire.call("DidBecomeActive", deadline=1.0), {"parameters": {}})

    def check_lost_and_found(self):
        with self.says() as log:
            self.delegate.close()
            attached = self.device.next_attached()
            self.check_is_served_over(attached)
            attached.close()
            self.check_is_served_over(self.device.next_attached())
        self.assertEqual(len(log.output), 1, "said once for a series of losses")
        self.assertIn("sought again: curfewd closed it", log.output[0])

    def test_lost_and_found_again(self):
        self.start()
        self.check_lost_and_found()

    def test_lost_and_found_again_under_serve(self):
        self.serve()
        self.check_lost_and_found()

    def test_it_asks_for_an_upgrade(self):
        asked = []
        answer = self.device.answer
        self.device.answer = lambda wire, call: (asked.append(call), answer(wire, call))[1]
        self.start()
        with self.says():
            self.delegate.close()
            self.device.next_attached()
        self.assertEqual(asked, [{"method": "io.curfew.Application.AttachDelegate", "upgrade": True}])

    def test_a_call_right_behind_the_reply_to_attach(self):
        call = json.dumps({"method": DELEGATE + "DidBecomeActive", "parameters": {"deadline": 1.0}}).encode()
        answered = queue.Queue()
        answer = self.device.answer

        def attach(wire, request):
            answer(wire, request)
            answered.put(wire.receive())
            return False

        self.device.answer = attach
        self.device.answers["AttachDelegate"] = lambda _: b'{"parameters":{}}\0' + call + b"\0"
        self.start()
        with self.says():
            self.delegate.close()
            self.assertEqual(answered.get(timeout=PATIENCE), {"parameters": {}})

    def test_it_waits_for_a_daemon_that_is_away(self):
        tries = queue.Queue()
        connect = curfew._connect
        self.enter(mock.patch.object(curfew, "_connect", lambda path: (tries.put(path), connect(path))[1]))
        self.enter(mock.patch.object(curfew, "ATTACH_DELAY", (0.001, 0.01)))
        self.device.stop()
        self.start()
        with self.says() as log:
            self.delegate.close()
            for _ in range(4):
                tries.get(timeout=PATIENCE)
            self.device.start()
            self.check_is_served_over(self.device.next_attached())
        self.assertEqual(len(log.output), 1, "said once")

    def test_the_delay_grows_up_to_its_bound_and_starts_anew_after_a_connection_that_lasted(self):
        pauses = []
        clock = [0.0]

        class Impatient:
            """Time passes with pauses, and while the test says so."""

            def prepare(self, _):
                pass

            async def send(self, *_):
                pass

            async def receive(self, _):
                clock[0] += 100.0 if len(pauses) == 8 else 0.0
                return b""

            async def pause(self, seconds):
                pauses.append(seconds)
                clock[0] += seconds
                if len(pauses) == 10:
                    raise KeyboardInterrupt

        self.enter(mock.patch.object(curfew.time, "monotonic", lambda: clock[0]))
        with self.says(), self.assertRaises(KeyboardInterrupt):
            curfew._complete(self.app._serve(Impatient()))
        self.assertEqual(pauses, [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0, 0.05, 0.1])

    def enter(self, context):
        context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)

    def test_a_device_that_refuses_is_asked_once(self):
        for number, (answer, text) in enumerate([
            ({"error": "io.curfew.Application.DelegateDenied", "reason": "its delegate is hooks"}, "is hooks"),
            ({"error": "org.varlink.service.MethodNotImplemented"}, "MethodNotImplemented"),
            ({"error": "org.varlink.service.MethodNotFound"}, "MethodNotFound"),
            ({"error": "org.varlink.service.InterfaceNotFound"}, "InterfaceNotFound"),
        ]):
            with self.subTest(text):
                self.device.answers["AttachDelegate"] = lambda _, answer=answer: dict(answer)
                said = queue.Queue()
                with self.logs_to(said):
                    self.app.start()
                    if number == 0:
                        self.delegate.close()
                        self.assertIn("sought again", said.get(timeout=PATIENCE))
                    self.assertRegex(said.get(timeout=PATIENCE), f"handlers will not be called: .*{text}")
                    self.finish()
                self.assertEqual(self.device.methods(), ["AttachDelegate"])

    def test_a_device_that_cannot_yet_is_asked_again(self):
        """It may not know the app yet, as it starts."""
        self.enter(mock.patch.object(curfew, "ATTACH_DELAY", (0.001, 0.01)))
        refusals = [{"error": "io.curfew.Application.NotAnApp"}, {"error": "org.varlink.service.InvalidParameter"},
                    {"error": "io.curfew.Application.SomethingNew"}]
        left = list(refusals)
        self.device.answers["AttachDelegate"] = lambda _: dict(left.pop(0)) if left else {}
        self.start()
        with self.says() as log:
            self.delegate.close()
            self.check_is_served_over(self.device.next_attached())
        self.assertEqual(self.device.methods(), ["AttachDelegate"] * (len(refusals) + 1))
        self.assertFalse([line for line in log.output if "will not be called" in line])

    @contextlib.contextmanager
    def logs_to(self, said):
        handler = logging.Handler()
        handler.emit = lambda record: said.put(record.getMessage())
        logger = logging.getLogger("curfew")
        logger.addHandler(handler)
        try:
            yield
        finally:
            logger.removeHandler(handler)


class InheritedTests(ClientTest):
    """What CURFEW_DELEGATE_FD may name."""

    inherits = False

    def check_attaches(self, number):
        if number is not None:
            os.environ["CURFEW_DELEGATE_FD"] = str(number)
        self.app = curfew.App()
        self.addCleanup(self.app._client.close)
        self.app.did_become_active(lambda: None)
        self.start()
        self.assertEqual(self.device.next_attached().call("DidBecomeActive", deadline=1.0), {"parameters": {}})

    def test_nothing(self):
        self.check_attaches(None)

    def test_no_number(self):
        self.check_attaches("three")

    def test_a_number_beyond_all(self):
        self.check_attaches(1 << 40)

    def test_a_descriptor_that_a_wrapper_closed(self):
        reader, writer = os.pipe()
        os.close(reader)
        os.close(writer)
        self.check_attaches(writer)

    def test_something_else(self):
        """It is left as it is."""
        reader, writer = os.pipe()
        listener = socket.socket(socket.AF_UNIX)
        datagrams = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.check_attaches(writer)
        for number in (listener.fileno(), datagrams[0].fileno()):
            self.finish()
            self.check_attaches(number)
        for number in (reader, writer, listener.fileno(), datagrams[0].fileno()):
            os.fstat(number)
        for number in (reader, writer):
            os.close(number)
        for item in (listener, *datagrams):
            item.close()

    def test_it_is_not_handed_on(self):
        ours, theirs = socket.socketpair()
        theirs.set_inheritable(True)
        os.environ["CURFEW_DELEGATE_FD"] = str(theirs.fileno())
        app = curfew.App()
        self.assertFalse(theirs.get_inheritable())
        self.assertNotIn("CURFEW_DELEGATE_FD", os.environ)
        self.assertEqual(app._inherited.detach(), theirs.fileno())
        ours.close()
        theirs.close()
