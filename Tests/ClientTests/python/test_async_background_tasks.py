"""Background tasks around the body of an `async with`."""

import asyncio

from device import DELEGATE, PATIENCE, ClientTest, curfew


class AsyncBackgroundTaskTests(ClientTest):
    def run_served(self, scenario):
        """Runs scenario beside serve() on one loop."""
        async def both():
            serving = asyncio.create_task(self.app.serve())
            try:
                await asyncio.wait_for(scenario(), PATIENCE)
            finally:
                self.app.stop()
                await serving

        asyncio.run(both())

    async def expire(self, identifier=1):
        reply = await asyncio.to_thread(
            self.delegate.call, "BackgroundTaskWillExpire", identifier=identifier, name="upload", deadline=5.0)
        self.assertEqual(reply, {"parameters": {}})

    def test_the_body_is_cancelled_and_the_outside_told(self):
        inside = []

        async def body():
            async with self.app.background_task("upload"):
                try:
                    await asyncio.get_running_loop().create_future()
                except asyncio.CancelledError:
                    inside.append("cancelled")
                    raise

        async def scenario():
            upload = asyncio.create_task(body())
            await asyncio.sleep(0)  # not a wait: it lets the body begin
            await self.expire()
            with self.assertRaisesRegex(curfew.TaskExpired, "upload"):
                await upload
            self.assertEqual(inside, ["cancelled"])
            self.assertEqual(self.device.held, {})
            if hasattr(upload, "cancelling"):
                self.assertEqual(upload.cancelling(), 0)

        self.run_served(scenario)

    def test_a_body_that_suppresses_the_cancellation_is_over(self):
        async def body():
            async with self.app.background_task("upload"):
                try:
                    await asyncio.get_running_loop().create_future()
                except asyncio.CancelledError:
                    return "saved"

        async def scenario():
            upload = asyncio.create_task(body())
            await asyncio.sleep(0)  # not a wait: it lets the body begin
            await self.expire()
            self.assertEqual(await upload, "saved")
            self.assertEqual(self.device.held, {})

        self.run_served(scenario)

    def test_a_cancellation_from_elsewhere_stays_one(self):
        async def body():
            async with self.app.background_task("upload"):
                await asyncio.get_running_loop().create_future()

        async def scenario():
            upload = asyncio.create_task(body())
            await asyncio.sleep(0)  # not a wait: it lets the body begin
            upload.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await upload
            self.assertEqual(self.device.held, {})

        self.run_served(scenario)

    def test_it_is_ended_when_the_body_returns_and_raises(self):
        async def scenario():
            async with self.app.background_task("upload") as task:
                self.assertIn(task.identifier, self.device.held)
            self.assertEqual(self.device.held, {})
            with self.assertRaises(LookupError):
                async with self.app.background_task("upload"):
                    raise LookupError
            self.assertEqual(self.device.held, {})

        self.run_served(scenario)

    def test_an_expiration_after_the_body_cancels_nothing(self):
        async def scenario():
            async with self.app.background_task("upload") as task:
                pass
            task.expired._set()
            for _ in range(3):
                await asyncio.sleep(0)  # not a wait: a wrong cancellation would arrive here

        self.run_served(scenario)

    def test_one_that_has_expired_before_is_cancelled_at_once(self):
        async def scenario():
            task = self.app.begin_background_task("upload")
            await self.expire()
            with self.assertRaises(curfew.TaskExpired):
                async with task:
                    await asyncio.get_running_loop().create_future()

        self.run_served(scenario)

    def test_the_expiration_can_be_awaited(self):
        async def scenario():
            task = self.app.begin_background_task("upload")
            waiting = asyncio.ensure_future(self.expire())
            await task.expired
            await task.expired
            await waiting
            task.end()

        self.run_served(scenario)

    def test_a_body_on_another_loop_than_serves_is_cancelled(self):
        async def body():
            async with self.app.background_task("upload"):
                self.delegate.send({"method": DELEGATE + "BackgroundTaskWillExpire", "parameters": {
                    "identifier": 1, "name": "upload", "deadline": 5.0}})
                await asyncio.wait_for(asyncio.get_running_loop().create_future(), PATIENCE)

        self.start()
        with self.assertRaises(curfew.TaskExpired):
            asyncio.run(body())
        self.assertEqual(self.device.held, {})

    def test_a_body_in_a_handler_s_task_goes_on_after_the_handler(self):
        """As an app does it: begun in the handler, so that it is held when the handler returns."""
        ended = []

        async def upload(task):
            try:
                async with task:
                    await asyncio.get_running_loop().create_future()
            except curfew.TaskExpired:
                ended.append(task.name)

        @self.app.did_enter_background
        async def did_enter_background():
            self.upload = asyncio.create_task(upload(self.app.begin_background_task("upload")))

        async def scenario():
            await asyncio.to_thread(self.delegate.call, "DidEnterBackground", deadline=5.0)
            self.assertIn(1, self.device.held)
            await self.expire()
            await self.upload
            self.assertEqual(ended, ["upload"])
            self.assertEqual(self.device.held, {})

        self.run_served(scenario)
