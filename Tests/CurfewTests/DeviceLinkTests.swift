import CLinux
import Testing
import Varlink

@testable import Curfew

/// What the device thread does, on the test's own thread.
@Suite(.timeLimit(.minutes(1))) struct DeviceLinkTests {
    @Test func aGrantIsReadBeforeItsExpiration_thoughPollSawTheLatterOnly() async throws {
        let device = try PlayedDevice { method, _ in method == "BeginBackgroundTask" ? .hold : nil }
        let environment = try device.environment()
        let events = Events()
        let thread = try DeviceThread()
        let link = DeviceLink(environment, thread) { call in
            events.note(call.name)
            return HandlerOutcome()
        }
        defer { link.close() }
        link.delegate.start(inherited: environment.delegate) {}
        let begin = Call("io.curfew.Application.BeginBackgroundTask", ["name": "upload"])
        link.client.submit(begin, .begin, patience: environment.patience) { _ in events.note("granted") }
        #expect(await device.events.until("BeginBackgroundTask upload"))
        device.answerHeld { _ in ["identifier": 1, "timeRemaining": nil] }
        device.send("BackgroundTaskWillExpire", ["identifier": 1, "name": "upload"])
        link.onReady([(try #require(link.delegate.connection), POLLIN)])
        #expect(await events.next() == ["granted"])
        #expect(await events.next() == ["backgroundTaskWillExpire for \"upload\""])
    }

    @Test func timersFireInTheirTime_unlessCancelled() {
        let timers = Timers()
        var fired: [String] = []
        #expect(timers.next == nil)
        timers.after(2_000_000_000) { fired.append("late") }
        let cancelled = timers.after(0) { fired.append("cancelled") }
        timers.after(1_000_000_000) {
            fired.append("early")
            timers.after(.max) { fired.append("never") }
        }
        timers.cancel(cancelled)
        guard let first = timers.next else { return #expect(Bool(false), "there are two") }
        timers.fire(at: first - 1)
        #expect(fired.isEmpty)
        timers.fire(at: first)
        #expect(fired == ["early"])
        timers.fire(at: first + 2_000_000_000)
        #expect(fired == ["early", "late"])
        #expect(timers.next == .max)
    }

    @Test func triesAreFurtherAndFurtherApart_upToASecond() {
        var backoff = Backoff()
        let delays = (0..<9).map { _ in backoff.next() / 1_000_000 }
        #expect(delays == [10, 20, 40, 80, 160, 320, 640, 1000, 1000])
        backoff.reset()
        #expect(backoff.next() == Backoff.shortest)
    }

    @Test(arguments: [
        (0.0, Duration.zero), (-1, .zero), (1.5, .milliseconds(1500)), (1e300, .seconds(1_000_000_000)),
    ])
    func secondsOfTheWireAreDurations(_ seconds: Double, _ duration: Duration) {
        #expect(Duration(wire: seconds) == duration)
    }

    @Test func durationsAreSecondsOnTheWire() {
        #expect(Duration.milliseconds(1500).wireSeconds == 1.5)
        #expect(Duration.milliseconds(1500).nanoseconds == 1_500_000_000)
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
    }

    @Test func aPayloadIsReadAsItCame() {
        let object: JSONObject = ["text": "a", "number": 1.5, "list": [1, nil, true], "inner": ["x": -1]]
        let notification = RemoteNotification(object)
        #expect(
            notification.payload == [
                "text": .string("a"), "number": .number(1.5), "list": .array([.integer(1), .null, .bool(true)]),
                "inner": .object(["x": .integer(-1)]),
            ])
        #expect(notification["text"]?.stringValue == "a" && notification["text"]?.integerValue == nil)
        #expect(notification.json == #"{"text":"a","number":1.5,"list":[1,null,true],"inner":{"x":-1}}"#)
    }
}
