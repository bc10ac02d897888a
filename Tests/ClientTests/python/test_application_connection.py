"""The application connection: opened when needed, lost and found again, one reply to one call."""

import contextlib
import os
import signal
import socket
import threading
from unittest import mock

from device import MESSAGE_LIMIT, PATIENCE, ClientTest, Hangup, curfew


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
        self.assertEqual(self.device.methods(), ["GetBackgroundTimeRemaining", "GetState"])

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
        path = self.device.path + ".full"
        with socket.socket(socket.AF_UNIX) as server, contextlib.ExitStack() as waiting:
            server.bind(path)
            server.listen(0)
            with self.assertRaises(BlockingIOError):
                while True:
                    client = waiting.enter_context(socket.socket(socket.AF_UNIX))
                    client.setblocking(False)
                    client.connect(path)
            with mock.patch.object(curfew, "_QUEUE_TIMEOUT", 1), self.assertRaises(TimeoutError):
                curfew._connect(path)
            made = []
            connecting = threading.Thread(target=lambda: made.append(curfew._connect(path)))
            connecting.start()
            server.accept()[0].close()
            connecting.join(10)
            self.assertFalse(connecting.is_alive())
            self.assertEqual(made[0].gettimeout(), curfew.REPLY_TIMEOUT)
            made[0].close()

    def test_a_forked_child_has_a_connection_of_its_own(self):
        self.app.state()
        # In the middle of a call of another thread's.
        with self.app._lock:
            pid = os.fork()
            if pid == 0:
                signal.alarm(int(PATIENCE))
                code = 1
                with contextlib.suppress(BaseException):
                    code = 0 if self.app.background_time_remaining() == float("inf") else 2
                os._exit(code)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual(self.app.state().app, "camera")
        self.assertEqual(self.device.methods(), ["GetState", "GetBackgroundTimeRemaining", "GetState"])
        self.assertEqual(len(self.device.wires), 2)
