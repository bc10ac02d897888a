"""Handlers: what they hear, how they answer, and the three ways to serve them."""

import asyncio
import functools
import os
import queue
import re
import signal
import threading

from device import DELEGATE, PATIENCE, REPOSITORY, ClientTest, curfew

SERVICE = "org.varlink.service."

# Method, parameters on the wire, the handler's arguments, its result, the reply's parameters.
EVERY_HANDLER = [
    ("DidFinishLaunching", {"reason": "boot", "deadline": 20.0}, ("boot", 20.0), None, {}),
    ("DidBecomeActive", {"deadline": 10.0}, (10.0,), None, {}),
    ("WillResignActive", {"deadline": 10.0}, (10.0,), None, {}),
    ("DidEnterBackground", {"deadline": 5.0}, (5.0,), None, {}),
    ("WillEnterForeground", {"deadline": 10.0}, (10.0,), None, {}),
    ("PerformFetch", {"deadline": 30.0}, (30.0,), "newData", {"result": "newData"}),
    ("PerformFetch", {"deadline": 30.0}, (30.0,), None, {"result": "noData"}),
    ("DidReceiveRemoteNotification", {"payload": {"a": ["ü"]}, "deadline": 30.0}, ({"a": ["ü"]}, 30.0), "failed",
     {"result": "failed"}),
    ("HandleEventsForBackgroundSession", {"session": "s", "deadline": 30.0}, ("s", 30.0), None, {}),
    ("DidReceiveMemoryWarning", {"level": "critical"}, ("critical",), None, {}),
    ("PowerStateDidChange", {"externalPower": False, "batteryLevel": 0.5, "lowPowerMode": True}, (False, 0.5, True),
     None, {}),
    ("PowerStateDidChange", {"externalPower": True, "lowPowerMode": False}, (True, None, False), None, {}),
    ("ThermalStateDidChange", {"state": "serious"}, ("serious",), None, {}),
    ("WillTerminate", {"reason": "user", "deadline": 5.0}, ("user", 5.0), None, {}),
]


def decorator(app, method):
    return getattr(app, re.sub(r"(?<=.)([A-Z])", r"_\1", method).lower())


class HandlerTests(ClientTest):
    def check_every_handler(self, make):
        heard = queue.Queue()
        results = {}
        for method, *_ in EVERY_HANDLER:
            decorator(self.app, method)(make(lambda *arguments, method=method: (
                heard.put((method, arguments)), results[method])[1]))
        self.begin()
        for method, parameters, arguments, result, reply in EVERY_HANDLER:
            results[method] = result
            self.assertEqual(self.delegate.call(method, **parameters), {"parameters": reply})
            self.assertEqual(heard.get(timeout=PATIENCE), (method, arguments))

    def begin(self):
        self.start()

    def test_every_handler_hears_its_arguments_and_is_answered(self):
        self.check_every_handler(lambda function: lambda *arguments: function(*arguments))

    def test_every_handler_may_be_async(self):
        def make(function):
            async def handler(*arguments):
                await asyncio.sleep(0)  # not a wait: it gives way once
                return function(*arguments)

            return handler

        self.check_every_handler(make)

    def test_a_handler_that_is_not_implemented_is_answered_so(self):
        self.begin()
        for method, parameters, *_ in EVERY_HANDLER[:-1]:
            reply = self.delegate.call(method, **parameters)
            self.assertEqual(reply["error"], SERVICE + "MethodNotImplemented")
            self.assertEqual(reply["parameters"], {"method": DELEGATE + method})

    def test_a_handler_that_raises_is_logged_and_the_app_goes_on(self):
        @self.app.did_enter_background
        def fail():
            raise LookupError("where is it")

        @self.app.will_enter_foreground
        async def fail_later():
            await asyncio.sleep(0)  # not a wait: it gives way once
            raise LookupError("gone")

        @self.app.will_resign_active
        async def is_cancelled():
            asyncio.current_task().cancel()
            await asyncio.sleep(0)  # not a wait: where the cancellation arrives

        @self.app.did_become_active
        def leaves():
            raise SystemExit(3)

        self.begin()
        for method, text in [
            ("DidEnterBackground", "LookupError: where is it"), ("WillEnterForeground", "LookupError: gone"),
            ("WillResignActive", "cancelled"), ("DidBecomeActive", "SystemExit: 3"),
        ]:
            with self.subTest(method), self.says("ERROR") as log:
                self.assertEqual(self.delegate.call(method, deadline=5)["error"], DELEGATE + "HandlerFailed")
                self.assertIn("Traceback", log.output[0])
                self.assertIn(text, log.output[0])
                self.assertIn(method, log.output[0])

    def test_information_is_heard_in_order_and_not_answered(self):
        heard = []
        self.app.did_receive_memory_warning(heard.append)

        @self.app.thermal_state_did_change
        def fail():
            raise ValueError

        @self.app.did_become_active
        def active():
            heard.append("active")

        self.begin()
        with self.says("ERROR"):
            self.delegate.tell("DidReceiveMemoryWarning", level="warning")
            self.delegate.tell("ThermalStateDidChange", state="serious")
            self.delegate.tell("PowerStateDidChange", externalPower=True, lowPowerMode=False)
            self.assertEqual(self.delegate.call("DidBecomeActive", deadline=10.0), {"parameters": {}})
        self.assertEqual(heard, ["warning", "active"])

    def test_a_fetch_result_must_be_one(self):
        self.app.perform_fetch(lambda: "plenty")
        self.begin()
        with self.says("ERROR") as log:
            self.assertEqual(self.delegate.call("PerformFetch", deadline=1)["error"], DELEGATE + "HandlerFailed")
        self.assertIn("'plenty'", log.output[0])

    def test_calls_that_do_not_fit_get_the_standard_errors(self):
        self.app.did_become_active(lambda: None)
        self.begin()
        for method, parameters, error, detail in [
            (DELEGATE + "DidGrowWings", {}, "MethodNotFound", {"method": DELEGATE + "DidGrowWings"}),
            ("com.example.It", {}, "InterfaceNotFound", {"interface": "com.example"}),
            ("nonsense", {}, "InterfaceNotFound", {"interface": ""}),
            (DELEGATE + "DidBecomeActive", {}, "InvalidParameter", {"parameter": "deadline"}),
            (SERVICE + "GetWeather", {}, "MethodNotFound", {"method": SERVICE + "GetWeather"}),
            (SERVICE + "GetInterfaceDescription", {"interface": "a.b"}, "InterfaceNotFound", {"interface": "a.b"}),
        ]:
            with self.subTest(method):
                self.delegate.send({"method": method, "parameters": parameters})
                self.assertEqual(self.delegate.receive(), {"error": SERVICE + error, "parameters": detail})

    def test_it_says_what_it_serves(self):
        self.begin()
        self.delegate.send({"method": SERVICE + "GetInfo"})
        info = self.delegate.receive()["parameters"]
        self.assertEqual(info["interfaces"], ["org.varlink.service", "io.curfew.Delegate"])
        self.delegate.send(
            {"method": SERVICE + "GetInterfaceDescription", "parameters": {"interface": "io.curfew.Delegate"}})
        served = self.delegate.receive()["parameters"]["description"]
        source = (REPOSITORY / "Sources/Varlink/Interfaces/DelegateInterface.swift").read_text().replace("\\\n", " ")
        declared = re.findall(r"^ *((?:method|type) .*)$", source, re.MULTILINE)
        self.assertEqual(
            re.findall(r"^((?:method|type) .*)$", served, re.MULTILINE),
            [re.sub(" +", " ", line) for line in declared])

    def test_a_handler_may_ask_the_device(self):
        remaining = []

        @self.app.did_enter_background
        def save():
            remaining.append(self.app.begin_background_task("save").identifier)

        self.begin()
        self.assertEqual(self.delegate.call("DidEnterBackground", deadline=5.0), {"parameters": {}})
        self.assertEqual(remaining, [1])

    def test_the_later_of_two_handlers_counts(self):
        heard = []
        self.app.did_become_active(lambda: heard.append(1))
        self.app.did_become_active(lambda: heard.append(2))
        self.begin()
        self.delegate.call("DidBecomeActive", deadline=1.0)
        self.assertEqual(heard, [2])


class AsyncHandlerTests(HandlerTests):
    """The same under serve()."""

    def begin(self):
        self.serve()


class ArgumentTests(ClientTest):
    """DidFinishLaunching has two arguments: reason and deadline."""

    def hears(self, handler):
        self.assertIs(self.app.did_finish_launching(handler), handler)
        self.start()
        self.assertEqual(
            self.delegate.call("DidFinishLaunching", reason="boot", deadline=20.0), {"parameters": {}})

    def test_none(self):
        heard = []
        self.hears(lambda: heard.append(()))
        self.assertEqual(heard, [()])

    def test_the_first(self):
        heard = []
        self.hears(lambda why: heard.append(why))
        self.assertEqual(heard, ["boot"])

    def test_a_default_with_another_name_stays(self):
        heard = []
        self.hears(lambda reason, retries=3: heard.append((reason, retries)))
        self.assertEqual(heard, [("boot", 3)])

    def test_a_default_with_the_argument_s_name_is_filled(self):
        heard = []
        self.hears(lambda reason, deadline=1.0: heard.append((reason, deadline)))
        self.assertEqual(heard, [("boot", 20.0)])

    def test_all_there_are(self):
        heard = []
        self.hears(lambda *all_of_them, **options: heard.append((all_of_them, options)))
        self.assertEqual(heard, [(("boot", 20.0), {})])

    def test_a_method_a_partial_and_what_has_no_signature(self):
        heard = []

        class Camera:
            def start(self, reason):
                heard.append(reason)

        for handler in [Camera().start, functools.partial(lambda into, reason: into.append(reason), heard)]:
            self.app.did_finish_launching(handler)
        self.app.will_terminate(dict.fromkeys)
        self.hears(Camera().start)
        self.assertEqual(heard, ["boot"])

    def test_what_cannot_be_called_so_is_refused_at_once(self):
        for handler in [lambda a, b, c: None, lambda reason, *, key: None]:
            with self.assertRaisesRegex(TypeError, r"did_finish_launching is called with \(reason, deadline\)"):
                self.app.did_finish_launching(handler)
        with self.assertRaisesRegex(TypeError, r"background_task_will_expire is called with \(task, deadline\)"):
            self.app.background_task_will_expire(lambda identifier, name, deadline: None)
        with self.assertRaises(TypeError):
            self.app.did_become_active("a name")


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

    def test_the_module_offers_what_it_names(self):
        for name in curfew.__all__:
            self.assertTrue(hasattr(curfew, name), name)
