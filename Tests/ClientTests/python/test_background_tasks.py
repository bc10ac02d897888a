"""Background tasks: beginning, ending on every way out, and expiration."""

import asyncio
import math
import threading

from device import APPLICATION, DELEGATE, PATIENCE, SERVICE, ClientTest, curfew


class NoticedLock:
    """Tells when a thread waits for it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.wanted = threading.Event()

    def __enter__(self):
        if not self.lock.acquire(blocking=False):
            self.wanted.set()
            self.lock.acquire()

    def __exit__(self, *_):
        self.lock.release()


class BackgroundTaskTests(ClientTest):
    def expire(self, identifier=1, name="upload", deadline=5.0):
        return self.delegate.call("BackgroundTaskWillExpire", identifier=identifier, name=name, deadline=deadline)

    def test_the_state_is_read(self):
        self.device.remaining = 12.5
        self.app.begin_background_task("upload")
        self.assertEqual(
            self.app.state(),
            curfew.State("camera", "background", "running", 12.5, "available", False, "nominal"))
        self.assertEqual(self.app.tasks(), [curfew.HeldTask(1, "upload", False, 1.5)])
        self.device.remaining = None
        self.assertEqual(self.app.state().background_time_remaining, math.inf)
        self.assertEqual((self.app.name, self.app.launch_reason), ("camera", "boot"))

    def test_all_that_can_be_asked_for_is_sent(self):
        self.app.begin_background_task("a")
        self.app.begin_background_task("b", keep_awake=True, process=77, time_allowed=30)
        self.app.begin_background_task("c", time_allowed=math.inf)
        nothing = {"keepAwake": None, "processIdentifier": None, "timeAllowed": None}
        self.assertEqual(self.device.next_call(), ("BeginBackgroundTask", {"name": "a", **nothing}))
        self.assertEqual(self.device.next_call(), ("BeginBackgroundTask", {
            "name": "b", "keepAwake": True, "processIdentifier": 77, "timeAllowed": 30.0}))
        self.assertEqual(self.device.next_call(), ("BeginBackgroundTask", {"name": "c", **nothing}))

    def test_the_fetch_interval(self):
        self.assertEqual(self.app.set_minimum_background_fetch_interval(60), 900.0)
        self.assertIsNone(self.app.set_minimum_background_fetch_interval(None))

    def test_the_time_remaining(self):
        task = self.app.background_task("upload")
        self.assertEqual(task.time_remaining, 0.0)
        with task:
            self.assertEqual(task.time_remaining, math.inf)
            self.device.remaining = 7.0
            self.assertEqual(task.time_remaining, 7.0)
            self.assertEqual(self.app.background_time_remaining(), 7.0)
        self.assertEqual(task.time_remaining, 0.0)

    def test_the_time_remaining_of_a_task_with_a_limit_of_its_own(self):
        with self.app.background_task("upload", time_allowed=10.0) as task:
            self.assertEqual(task.time_remaining, 8.5)
            self.device.remaining = 4.0
            self.assertEqual(task.time_remaining, 4.0)
            self.device.held.clear()
            self.assertEqual(task.time_remaining, 0.0)

    def test_with_ends_it(self):
        with self.app.background_task("upload") as task:
            self.assertEqual((task.identifier, task.name), (1, "upload"))
            self.assertIn(1, self.device.held)
        self.assertEqual(self.device.held, {})

    def test_with_ends_it_on_every_way_out(self):
        def returns():
            with self.app.background_task("upload"):
                return

        def raises():
            with self.app.background_task("upload"):
                raise LookupError

        def breaks():
            for _ in range(2):
                with self.app.background_task("upload"):
                    break

        def is_interrupted():
            with self.app.background_task("upload"):
                raise KeyboardInterrupt

        for body, error in [
            (returns, None), (raises, LookupError), (breaks, None), (is_interrupted, KeyboardInterrupt),
        ]:
            with self.subTest(body.__name__):
                if error:
                    self.assertRaises(error, body)
                else:
                    body()
                self.assertEqual(self.device.methods(), ["BeginBackgroundTask", "EndBackgroundTask"])
                self.assertEqual(self.device.held, {})

    def test_one_that_is_held_may_be_given_to_with(self):
        task = self.app.begin_background_task("upload")
        self.assertIn(1, self.device.held)
        with task as same:
            self.assertIs(same, task)
        self.assertEqual(self.device.methods(), ["BeginBackgroundTask", "EndBackgroundTask"])

    def test_one_that_has_ended_cannot_be_begun_again(self):
        task = self.app.begin_background_task("upload")
        task.end()
        with self.assertRaisesRegex(RuntimeError, "make a new one"):
            with task:
                self.fail("it was begun")

    def test_it_ends_once(self):
        task = self.app.begin_background_task("upload")
        task.end()
        task.end()
        self.assertEqual(self.device.methods(), ["BeginBackgroundTask", "EndBackgroundTask"])

    def test_an_end_after_it_ended_by_itself_is_harmless(self):
        with self.app.background_task("upload"):
            self.device.held.clear()
        self.assertEqual(self.device.methods(), ["BeginBackgroundTask", "EndBackgroundTask"])

    def test_any_task_can_be_ended_by_its_number(self):
        task = self.app.begin_background_task("upload")
        self.app.end_background_task(task.identifier)
        with self.assertRaisesRegex(curfew.NoSuchBackgroundTask, "no background task 1") as raised:
            self.app.end_background_task(task.identifier)
        self.assertEqual(raised.exception.identifier, 1)

    def test_denials(self):
        for error, parameters, kind, text in [
            (APPLICATION + "BackgroundTimeDenied", {"reason": "the budget is spent"}, curfew.BackgroundTimeDenied,
             "no background time: the budget is spent"),
            (APPLICATION + "TooManyBackgroundTasks", {"limit": 64}, curfew.TooManyBackgroundTasks, "holds 64"),
            (APPLICATION + "NotAnApp", {}, curfew.NotAnApp, "curfew try"),
            (SERVICE + "InvalidParameter", {"parameter": "name"}, curfew.CallFailed,
             'BeginBackgroundTask with org.varlink.service.InvalidParameter {"parameter": "name"}'),
        ]:
            with self.subTest(error):
                self.device.answers["BeginBackgroundTask"] = lambda _: {"error": error, **parameters}
                with self.assertRaisesRegex(kind, text) as raised:
                    with self.app.background_task("upload"):
                        self.fail("it was begun")
                self.assertIsInstance(raised.exception, curfew.CurfewError)
                with self.assertRaises(kind):
                    asyncio.run(self.enter())

    async def enter(self):
        async with self.app.background_task("upload"):
            self.fail("it was begun")

    def test_expiration_is_seen_by_a_body_in_another_thread(self):
        self.start()
        seen = []

        def body():
            with self.app.background_task("upload") as task:
                seen.append(bool(task.expired))
                begun.set()
                seen.append(task.expired.wait(PATIENCE))
                seen.append(task.expired.is_set())

        begun = threading.Event()
        thread = threading.Thread(target=body)
        thread.start()
        self.assertTrue(begun.wait(PATIENCE))
        self.assertEqual(self.expire(), {"parameters": {}})
        thread.join(PATIENCE)
        self.assertEqual(seen, [False, True, True])
        self.assertEqual(self.device.held, {})

    def test_on_expiration_and_the_handler_are_called_in_turn(self):
        heard = []
        task = self.app.begin_background_task(
            "upload",
            on_expiration=lambda task, deadline: heard.append(("own", task, deadline, task.expired.is_set())))

        @self.app.background_task_will_expire
        def end(task, deadline):
            heard.append(("app", task, deadline, task.expired.is_set()))
            task.end()

        self.start()
        self.assertEqual(self.expire(), {"parameters": {}})
        self.assertEqual(heard, [("own", task, 5.0, True), ("app", task, 5.0, True)])
        self.assertEqual(self.device.held, {})

    def check_async_on_expiration(self):
        heard = []

        async def own(task):
            await asyncio.sleep(0)  # not a wait: it gives way once
            heard.append(task.name)

        self.app.begin_background_task("upload", on_expiration=own)
        self.assertEqual(self.expire(), {"parameters": {}})
        self.assertEqual(heard, ["upload"])

    def test_on_expiration_may_be_async(self):
        self.start()
        self.check_async_on_expiration()

    def test_on_expiration_may_be_async_under_serve(self):
        self.serve()
        self.check_async_on_expiration()

    def test_an_on_expiration_that_raises_is_logged_and_the_handler_called(self):
        heard = []

        def own():
            raise LookupError("no such upload")

        self.app.begin_background_task("upload", on_expiration=own)
        self.app.background_task_will_expire(lambda task: heard.append(task.name))
        self.start()
        with self.says("ERROR") as log:
            self.assertEqual(self.expire()["error"], DELEGATE + "HandlerFailed")
        self.assertIn("no such upload", log.output[0])
        self.assertEqual(heard, ["upload"])

    def test_a_task_of_another_process_reaches_the_handler_only(self):
        self.app.background_task_will_expire(lambda task: task.end())
        self.device.held[40] = {"name": "other"}
        self.start()
        self.assertEqual(self.expire(40, "other"), {"parameters": {}})
        self.assertEqual(self.device.held, {})

    def test_an_expiration_without_a_handler_is_not_implemented(self):
        self.start()
        self.assertEqual(self.expire(40)["error"], SERVICE + "MethodNotImplemented")

    def test_an_expiration_before_the_begin_has_returned(self):
        """The device's reply and its call race, on two connections."""
        self.app._lock = NoticedLock()

        def begin(parameters):
            self.delegate.send({"method": DELEGATE + "BackgroundTaskWillExpire", "parameters": {
                "identifier": 1, "name": "upload", "deadline": 5.0}})
            self.app._lock.wanted.wait(PATIENCE)
            return self.device.BeginBackgroundTask(parameters)

        self.start()
        self.device.answers["BeginBackgroundTask"] = begin
        heard = []
        task = self.app.begin_background_task("upload", on_expiration=lambda: heard.append("own"))
        self.assertEqual(self.delegate.receive(), {"parameters": {}})
        self.assertTrue(task.expired)
        self.assertEqual(heard, ["own"])

    def test_one_that_ends_by_itself_is_forgotten(self):
        self.app.begin_background_task("upload", time_allowed=1.0)
        self.start()
        self.assertEqual(self.expire(), {"parameters": {}})
        self.assertEqual(self.app._tasks, {})

    def test_threads_do_not_get_in_each_other_s_way(self):
        failures = []

        def body(number):
            try:
                for _ in range(50):
                    with self.app.background_task(f"task {number}") as task:
                        self.assertEqual(self.device.held[task.identifier]["name"], f"task {number}")
                        self.app.background_time_remaining()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=body, args=[number]) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual(failures, [])
        self.assertEqual(self.device.held, {})
        self.assertEqual(self.device.last_identifier, 400)
