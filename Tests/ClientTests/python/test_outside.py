"""An app on a desk, outside Curfew, and the programs that come with the client."""

import asyncio
import math
import os
import signal
import socket
import subprocess
import sys
import threading

from device import CLIENT, PATIENCE, REPOSITORY, ClientTest, Wire, curfew

OUTSIDE = "not running under curfewd: handlers will not be called; try `curfew try -- ...`"


class OutsideTests(ClientTest):
    inherits = False

    def setUp(self):
        super().setUp()
        self.set_environment()
        self.app = curfew.App()

    def test_tasks_cost_nothing_and_never_expire(self):
        with self.says() as log:
            with self.app.background_task("upload", on_expiration=self.fail) as task:
                self.assertEqual((task.identifier, task.time_remaining, bool(task.expired)), (0, math.inf, False))
            self.assertEqual(task.time_remaining, 0.0)
            self.app.begin_background_task("upload", time_allowed=3.0).end()
            asyncio.run(self.async_task())
        self.assertEqual([record.getMessage() for record in log.records], [OUTSIDE], "said once")

    async def async_task(self):
        async with self.app.background_task("upload") as task:
            self.assertFalse(task.expired)

    def test_what_can_be_asked(self):
        with self.assertRaises(curfew.NotAnApp):
            self.app.state()
        self.assertEqual(self.app.tasks(), [])
        self.assertEqual(self.app.background_time_remaining(), math.inf)
        self.assertIsNone(self.app.set_minimum_background_fetch_interval(60))
        self.app.end_background_task(1)
        self.assertEqual((self.app.name, self.app.launch_reason), (None, None))

    def test_run_returns_at_sigterm_and_ctrl_c(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number), self.says() as log:
                self.app = curfew.App()
                serving = threading.Event()
                self.app._say_outside = lambda app=self.app: (curfew.App._say_outside(app), serving.set())
                killer = threading.Thread(target=lambda: (serving.wait(PATIENCE), os.kill(os.getpid(), number)))
                killer.start()
                self.app.run()
                killer.join()
                self.assertIn(OUTSIDE, log.output[0])

    def test_start_and_serve_wait_to_be_stopped(self):
        async def scenario():
            serving = asyncio.create_task(self.app.serve())
            await asyncio.sleep(0)  # not a wait: it lets it begin
            self.assertFalse(serving.done())
            self.app.stop()
            await asyncio.wait_for(serving, PATIENCE)

        with self.says():
            asyncio.run(scenario())
            self.app.start()
            self.finish()


class ProgramTests(ClientTest):
    """Programs that use the client, as a device runs them."""

    inherits = False

    def launch(self, *arguments):
        ours, theirs = socket.socketpair()
        self.delegate = Wire(ours)
        self.addCleanup(self.delegate.close)
        environment = {**os.environ, "PYTHONPATH": str(CLIENT), "CURFEW_DELEGATE_FD": str(theirs.fileno())}
        self.process = subprocess.Popen(
            [sys.executable, *map(str, arguments)], env=environment, pass_fds=[theirs.fileno()],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.wait, PATIENCE)
        self.addCleanup(self.process.kill)
        theirs.close()

    def calls(self, method, **parameters):
        self.assertEqual(self.delegate.call(method, deadline=5.0, **parameters), {"parameters": {}})

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(PATIENCE), 0)

    def walk(self, *arguments):
        self.trace = os.path.join(self.folder, "trace")
        self.launch(REPOSITORY / "Tests/BlackBoxTests/programs/walk.py", self.trace, *arguments)

    def traced(self):
        with open(self.trace) as file:
            return file.read().splitlines()

    def test_walk(self):
        self.walk()
        self.calls("DidFinishLaunching", reason="boot")
        self.calls("DidBecomeActive")
        self.calls("WillResignActive")
        self.device.remaining = 599.6
        self.calls("DidEnterBackground")
        self.assertEqual(self.device.next_call()[1]["keepAwake"], None)
        self.calls("BackgroundTaskWillExpire", identifier=1, name="upload")
        self.calls("WillEnterForeground")
        self.device.remaining = None
        self.calls("DidEnterBackground")
        self.calls("WillEnterForeground")
        self.device.answers["BeginBackgroundTask"] = lambda _: {
            "error": "io.curfew.Application.BackgroundTimeDenied", "reason": "the budget is spent"}
        self.calls("DidEnterBackground")
        self.delegate.tell("DidReceiveMemoryWarning", level="warning")
        self.calls("WillTerminate", reason="user")
        self.terminate()
        self.assertEqual(self.traced(), [
            "DidFinishLaunching boot", "DidBecomeActive", "WillResignActive", "DidEnterBackground",
            "began upload 600", "BackgroundTaskWillExpire upload", "ended upload", "WillEnterForeground",
            "DidEnterBackground", "began upload inf", "WillEnterForeground", "ended upload", "DidEnterBackground",
            "denied the budget is spent", "DidReceiveMemoryWarning warning", "WillTerminate user"])

    def test_walk_overruns_and_keeps_awake(self):
        self.walk("overrun", "keep-awake")
        self.calls("DidEnterBackground")
        self.assertEqual(self.device.next_call()[1]["keepAwake"], True)
        self.calls("BackgroundTaskWillExpire", identifier=1, name="upload")
        self.calls("DidEnterBackground")
        self.calls("WillEnterForeground")
        self.terminate()
        self.assertEqual(self.traced(), [
            "DidEnterBackground", "began upload inf", "BackgroundTaskWillExpire upload", "DidEnterBackground",
            "WillEnterForeground", "ended upload"])

    def test_the_uploader(self):
        self.launch(CLIENT / "examples/uploader.py")
        self.calls("DidEnterBackground")
        self.calls("DidEnterBackground")
        self.assertEqual(self.device.last_identifier, 1, "one at a time")
        self.assertEqual(self.process.stdout.readline(), "uploaded chunk 1\n")
        self.calls("BackgroundTaskWillExpire", identifier=1, name="upload")
        while self.device.next_call()[0] != "EndBackgroundTask":
            pass
        self.calls("DidEnterBackground")
        self.assertEqual(self.device.last_identifier, 2, "it goes on")
        self.terminate()
