"""The three ways to serve handlers, and how each ends."""

import asyncio
import os
import signal
import socket
import threading

from device import DELEGATE, PATIENCE, SERVICE, ClientTest


class RunTests(ClientTest):
    """run() in the main thread, the device on another."""

    def meanwhile(self, play):
        failures = []

        def body():
            try:
                play()
            except BaseException as error:
                failures.append(error)
                self.app.stop()

        thread = threading.Thread(target=body)
        thread.start()
        self.app.run()
        thread.join(PATIENCE)
        self.assertFalse(thread.is_alive())
        if failures:
            raise failures[0]
        self.assertIs(signal.getsignal(signal.SIGTERM), signal.SIG_DFL)

    def check_sigterm(self):
        def play():
            self.assertEqual(self.delegate.call("WillTerminate", reason="user", deadline=5.0), {"parameters": {}})
            os.kill(os.getpid(), signal.SIGTERM)

        self.meanwhile(play)

    def test_sigterm_ends_it(self):
        self.app.will_terminate(lambda: None)
        self.check_sigterm()

    def test_sigterm_ends_it_with_async_handlers(self):
        async def handler():
            pass

        self.app.will_terminate(handler)
        self.check_sigterm()

    def test_a_handler_is_finished_before(self):
        finished = []

        @self.app.did_enter_background
        def save():
            os.kill(os.getpid(), signal.SIGTERM)
            finished.append(signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL)

        self.meanwhile(lambda: self.assertEqual(
            self.delegate.call("DidEnterBackground", deadline=5.0), {"parameters": {}}))
        self.assertEqual(finished, [True])

    def test_the_end_of_the_connection_after_will_terminate_ends_it(self):
        def play():
            reply = self.delegate.call("WillTerminate", reason="user", deadline=5)
            self.assertEqual(reply["error"], SERVICE + "MethodNotImplemented")
            self.delegate.close()

        self.meanwhile(play)
        self.assertEqual(self.device.methods(), [])

    def test_ctrl_c_ends_it(self):
        self.app.did_become_active(lambda: os.kill(os.getpid(), signal.SIGINT))
        self.meanwhile(lambda: self.delegate.send(
            {"method": DELEGATE + "DidBecomeActive", "parameters": {"deadline": 1}}))

    def test_sys_exit_in_a_handler_ends_the_app(self):
        @self.app.did_become_active
        def leave():
            raise SystemExit(3)

        with self.assertRaises(SystemExit):
            self.meanwhile(lambda: self.delegate.send(
                {"method": DELEGATE + "DidBecomeActive", "parameters": {"deadline": 1}}))

    def test_an_app_s_own_sigterm_handler_stays(self):
        heard = []
        before = signal.signal(signal.SIGTERM, lambda *_: (heard.append("SIGTERM"), self.app.stop()))
        self.addCleanup(signal.signal, signal.SIGTERM, before)
        thread = threading.Thread(target=lambda: (
            self.delegate.call("DidBecomeActive", deadline=1), os.kill(os.getpid(), signal.SIGTERM)))
        thread.start()
        self.app.run()
        thread.join()
        self.assertEqual(heard, ["SIGTERM"])

    def test_a_signal_wakes_it_whenever_it_comes(self):
        """Also just before it begins to wait, when poll would not notice."""
        wakers = []

        @self.app.did_become_active
        def look():
            wakers.append(signal.set_wakeup_fd(-1))
            signal.set_wakeup_fd(wakers[0])

        def play():
            self.delegate.call("DidBecomeActive", deadline=1)
            self.app.stop()

        self.meanwhile(play)
        self.assertGreaterEqual(wakers[0], 0)
        self.assertEqual(signal.set_wakeup_fd(-1), -1, "given back")

    def test_an_app_s_own_wake_up_descriptor_stays(self):
        reader, writer = socket.socketpair()
        writer.setblocking(False)
        signal.set_wakeup_fd(writer.fileno())
        self.app.stop()
        self.app.run()
        self.assertEqual(signal.set_wakeup_fd(-1), writer.fileno())
        reader.close()
        writer.close()

    def test_a_signal_of_the_app_s_own_does_not_end_it(self):
        heard = []
        before = signal.signal(signal.SIGUSR1, lambda *_: heard.append("SIGUSR1"))
        self.addCleanup(signal.signal, signal.SIGUSR1, before)

        def play():
            self.delegate.call("DidBecomeActive", deadline=1)
            os.kill(os.getpid(), signal.SIGUSR1)
            self.delegate.call("DidBecomeActive", deadline=1)
            self.app.stop()

        self.meanwhile(play)
        self.assertEqual(heard, ["SIGUSR1"])

    def test_a_stop_before_it_counts(self):
        self.app.stop()
        self.app.run()

    def test_it_is_served_once_at_a_time(self):
        self.start()
        with self.assertRaisesRegex(RuntimeError, "served already"):
            self.app.run()
        with self.assertRaisesRegex(RuntimeError, "served already"):
            self.app.start()
        with self.assertRaisesRegex(RuntimeError, "served already"):
            asyncio.run(self.app.serve())

    def test_what_an_async_handler_starts_goes_on(self):
        done = threading.Event()
        tasks = []

        @self.app.did_enter_background
        async def save():
            async def later():
                await self.delegate_replied.wait()
                done.set()

            self.delegate_replied = asyncio.Event()
            self.loop = asyncio.get_running_loop()
            tasks.append(asyncio.create_task(later()))

        def play():
            self.delegate.call("DidEnterBackground", deadline=5.0)
            self.loop.call_soon_threadsafe(self.delegate_replied.set)
            self.assertTrue(done.wait(PATIENCE))
            self.app.stop()

        self.meanwhile(play)


class ServeTests(ClientTest):
    def test_the_loop_stays_responsive_while_a_handler_runs(self):
        async def scenario():
            is_running, may_end = asyncio.Event(), asyncio.Event()

            @self.app.did_enter_background
            async def save():
                is_running.set()
                await may_end.wait()

            serving = asyncio.create_task(self.app.serve())
            call = asyncio.create_task(asyncio.to_thread(self.delegate.call, "DidEnterBackground", deadline=5.0))
            await asyncio.wait_for(is_running.wait(), PATIENCE)
            self.assertFalse(call.done())
            may_end.set()
            self.assertEqual(await call, {"parameters": {}})
            self.app.stop()
            await serving

        asyncio.run(scenario())

    def test_cancelling_it_cancels_the_handler_that_runs(self):
        async def scenario():
            is_running, ended = asyncio.Event(), []

            @self.app.did_enter_background
            async def save():
                is_running.set()
                try:
                    await asyncio.get_running_loop().create_future()
                except asyncio.CancelledError:
                    ended.append("cancelled")
                    raise

            serving = asyncio.create_task(self.app.serve())
            self.delegate.send({"method": DELEGATE + "DidEnterBackground", "parameters": {"deadline": 5.0}})
            await asyncio.wait_for(is_running.wait(), PATIENCE)
            serving.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await serving
            self.assertEqual(ended, ["cancelled"])

        asyncio.run(scenario())
        self.assertIsNone(self.delegate.receive())

    def test_it_returns_when_the_app_is_to_end(self):
        async def scenario():
            serving = asyncio.create_task(self.app.serve())
            await asyncio.to_thread(self.delegate.call, "WillTerminate", reason="user", deadline=5.0)
            self.delegate.close()
            await asyncio.wait_for(serving, PATIENCE)

        asyncio.run(scenario())
        self.assertEqual(self.device.methods(), [])
