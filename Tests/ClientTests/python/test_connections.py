"""The two connections: what comes in pieces or is no Varlink, and what is lost and found again."""

import contextlib
import json
import logging
import os
import queue
import signal
import socket
import threading
from unittest import mock

from device import DELEGATE, PATIENCE, ClientTest, Hangup, curfew

MESSAGE_LIMIT = 1 << 20


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
        head = b'{"method":"io.curfew.Delegate.DidReceiveRemoteNotification","parameters":{"deadline":1,"payload":{"x":"'
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

    def test_json_of_a_depth_that_nobody_needs(self):
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
            ({"error": "io.curfew.Application.NotAnApp"}, "no app"),
            ({"error": "org.varlink.service.MethodNotImplemented"}, "MethodNotImplemented"),
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


class ApplicationConnectionTests(ClientTest):
    def test_a_restarted_daemon_is_found_again(self):
        self.assertEqual(self.app.state().app, "camera")
        self.device.restart()
        self.assertEqual(self.app.state().app, "camera")
        # A begin, too: nothing of it was sent.
        self.device.restart()
        with self.app.background_task("upload"):
            self.device.restart()
        self.assertEqual(self.device.held, {})

    def test_a_connection_lost_between_call_and_reply(self):
        """What is safe to repeat is repeated, once."""
        answers = iter([Hangup, None, Hangup, Hangup])

        def answer(parameters):
            if next(answers):
                raise Hangup
            return {"seconds": 3.0}

        self.device.answers["GetBackgroundTimeRemaining"] = answer
        self.assertEqual(self.app.background_time_remaining(), 3.0)
        with self.assertRaisesRegex(curfew.NotReachable, "GetBackgroundTimeRemaining"):
            self.app.background_time_remaining()
        self.assertEqual(next(answers, "none left"), "none left")

    def test_a_begin_lost_between_call_and_reply_is_not_repeated(self):
        def answer(parameters):
            self.device.BeginBackgroundTask(parameters)
            raise Hangup

        self.device.answers["BeginBackgroundTask"] = answer
        with self.assertRaisesRegex(curfew.ReplyLost, "before it answered BeginBackgroundTask.*tasks") as raised:
            self.app.begin_background_task("upload")
        self.assertIsInstance(raised.exception, curfew.NotReachable)
        self.assertEqual([task.name for task in self.app.tasks()], ["upload"])
        self.assertEqual(self.device.methods(), ["BeginBackgroundTask", "GetState"])

    def test_no_daemon(self):
        self.device.stop()
        self.addCleanup(self.device.start)
        with self.assertRaisesRegex(curfew.NotReachable, f"{self.device.path}.*is it running"):
            self.app.state()
        with self.assertRaises(curfew.NotReachable):
            self.app.begin_background_task("upload")

    def test_an_end_while_the_daemon_is_away_is_told_later(self):
        with self.says() as log, self.app.background_task("upload"):
            self.device.stop()
        self.assertIn("told later", log.output[0])
        self.assertEqual(list(self.device.held), [1])
        self.device.start()
        self.app.background_time_remaining()
        self.assertEqual(
            self.device.methods(), ["BeginBackgroundTask", "EndBackgroundTask", "GetBackgroundTimeRemaining"])
        self.assertEqual(self.device.held, {})

    def test_it_is_told_when_the_app_attaches_anew(self):
        ended = threading.Event()
        self.device.answers["EndBackgroundTask"] = lambda _: (ended.set(), {})[1]
        self.start()
        with self.says(), self.app.background_task("upload"):
            self.device.stop()
            self.delegate.close()
        self.device.start()
        self.device.next_attached()
        self.assertTrue(ended.wait(PATIENCE))

    def test_a_task_s_number_that_was_given_anew_is_left_alone(self):
        old = self.app.begin_background_task("old")
        self.device.last_identifier = 0
        new = self.app.begin_background_task("new")
        old.end()
        self.assertEqual(self.device.held[new.identifier]["name"], "new")

    def test_a_daemon_that_hangs(self):
        hangs = threading.Event()
        self.addCleanup(hangs.set)
        self.device.answers["GetState"] = lambda _: (hangs.wait(PATIENCE), {})[1]
        with mock.patch.object(curfew, "REPLY_TIMEOUT", 0.01):
            with self.assertRaisesRegex(curfew.NotReachable, "did not answer GetState.*timed out"):
                self.app.state()
        # The late reply is not taken for another's.
        self.assertEqual(self.app.background_time_remaining(), float("inf"))
        self.assertEqual(self.device.methods(), ["GetState", "GetBackgroundTimeRemaining"])

    def test_an_exception_out_of_a_signal_s_handler_leaves_no_reply_behind(self):
        class Interruption(Exception):
            pass

        def interrupt(_number, _frame):
            raise Interruption

        before = signal.signal(signal.SIGUSR1, interrupt)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        held_back = threading.Event()
        self.addCleanup(held_back.set)
        self.device.answers["GetBackgroundTimeRemaining"] = lambda parameters: (
            os.kill(os.getpid(), signal.SIGUSR1), held_back.wait(PATIENCE), {"seconds": 1.0})[2]
        with self.assertRaises(Interruption):
            self.app.background_time_remaining()
        self.assertEqual(self.app.state().app, "camera")

    def test_replies_that_are_none(self):
        for answer, text in [
            (b"nonsense\0", "not JSON"), (b"{}\0{}\0", "a reply to no call"), (b"[]\0", "no Varlink message"),
            (b"x" * (MESSAGE_LIMIT + 1), "over 1 MiB"),
        ]:
            with self.subTest(text):
                self.device.answers["GetState"] = lambda _, answer=answer: answer
                with self.assertRaisesRegex(curfew.NotReachable, text):
                    self.app.state()
        self.device.answers["GetState"] = lambda _: {"state": {}}
        with self.assertRaisesRegex(curfew.CurfewError, 'has no "app"'):
            self.app.state()

    def test_a_reply_in_pieces(self):
        answer = self.device.answer

        def in_pieces(wire, call):
            raw = wire.send_raw
            wire.send_raw = lambda data: [raw(bytes([byte])) for byte in data]
            return answer(wire, call)

        self.device.answer = in_pieces
        self.assertEqual(self.app.state().app, "camera")

    def test_a_call_that_is_too_long_is_not_sent(self):
        with self.assertRaisesRegex(ValueError, "1 MiB"):
            self.app.begin_background_task("x" * MESSAGE_LIMIT)
        self.assertEqual(self.app.state().app, "camera")

    def test_a_full_queue_is_waited_for(self):
        tries = []
        connect = socket.socket.connect

        def full(connection, path):
            tries.append(path)
            if len(tries) < 5:
                raise BlockingIOError
            connect(connection, path)

        with mock.patch.object(curfew.socket.socket, "connect", full, create=True):
            self.assertEqual(self.app.state().app, "camera")
        self.assertEqual(len(tries), 5)

    def test_a_forked_child_has_a_connection_of_its_own(self):
        self.app.state()
        with self.app._lock:
            # In the middle of a call of another thread's.
            pid = os.fork()
        if pid == 0:
            code = 1
            with contextlib.suppress(BaseException):
                code = 0 if self.app.background_time_remaining() == float("inf") else 2
            os._exit(code)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual(self.app.state().app, "camera")
        self.assertEqual(self.device.methods(), ["GetState", "GetBackgroundTimeRemaining", "GetState"])
        self.assertEqual(len(self.device.wires), 2)
