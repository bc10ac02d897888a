"""Handlers: what they hear, and how they answer."""

import asyncio
import functools
import queue
import re

from device import DELEGATE, PATIENCE, REPOSITORY, SERVICE, ClientTest, curfew

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

    def test_the_module_offers_what_it_names(self):
        for name in curfew.__all__:
            self.assertTrue(hasattr(curfew, name), name)

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
