import CLinux
import EventLoop
import Foundation
import MessageBus
import SystemCalls
import Testing

@Suite(.serialized) struct LogindClientTests {
    @Test func available_carriesTheProperties() throws {
        let bus = try PrivateBus.withLogind(inhibitDelayMax: 30_000_000)
        try bus.setPreparingForSleep(true)
        let fixture = try LogindFixture(bus.address)
        try fixture.wait(count: 1)
        #expect(
            fixture.events == [
                .available(inhibitDelayMax: 30_000_000_000, preparingForSleep: true, preparingForShutdown: false)
            ])
    }

    /// It stays on the bus: nothing would say that it can be asked again.
    @Test func logindThatRefusesItsProperties_isAskedAgain() throws {
        let bus = try PrivateBus.withLogind()
        try bus.script("objects['/org/freedesktop/login1'].saved = self.props.pop('\(PrivateBus.manager)')")
        var limits = LogindClient.Limits()
        limits.answer = 300_000_000
        let fixture = try LogindFixture(bus.address, limits: limits)
        try fixture.wait { $0.isUnavailable }
        try bus.script("self.props['\(PrivateBus.manager)'] = objects['/org/freedesktop/login1'].saved")
        try fixture.wait { $0.isAvailable }
        #expect(fixture.events.map(\.short) == ["unavailable", "available"])
    }

    @Test func lock_isOneDescriptor_closeOnExec_andItsCloseIsSeen() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        let sleep = try fixture.take(.sleep)
        #expect(try bus.inhibitors() == ["sleep delay"])
        let shutdown = try fixture.take(.shutdown)
        #expect(try bus.inhibitors() == ["shutdown delay", "sleep delay"])
        #expect(try Self.copies(of: sleep) == 1)
        #expect(try Self.copies(of: shutdown) == 1)
        #expect(fcntl(sleep, F_GETFD) & FD_CLOEXEC != 0)
        // Held already: no second one.
        fixture.client.takeLock(.sleep, mode: .delay)
        try fixture.loop.turn()
        #expect(try bus.inhibitors() == ["shutdown delay", "sleep delay"])
        fixture.client.releaseLock(.sleep)
        try fixture.loop.run { try bus.inhibitors() == ["shutdown delay"] }
        fixture.clear()
        let again = try fixture.take(.sleep)
        #expect(try Self.copies(of: again) == 1)
        #expect(try bus.inhibitors() == ["shutdown delay", "sleep delay"])
        fixture.client.stop()
        try fixture.loop.run { try bus.inhibitors().isEmpty }
        #expect(fixture.events.map(\.short) == ["taken sleep"])
    }

    @Test func lock_releasedBeforeItWasGranted_isNotKept() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        bus.pauseLogind()
        fixture.client.takeLock(.sleep, mode: .delay)
        try fixture.loop.turn()
        fixture.client.releaseLock(.sleep)
        bus.resumeLogind()
        // The answer to a later call comes after the one that was given up.
        _ = try fixture.take(.shutdown)
        #expect(fixture.events.map(\.short) == ["taken shutdown"])
        try fixture.loop.run { try bus.inhibitors() == ["shutdown delay"] }
    }

    @Test func refusalThatWaits_isNotToldOnceTheLockIsReleased() throws {
        let bus = try PrivateBus()
        try bus.startBus()
        let fixture = try LogindFixture(bus.address)
        try fixture.wait { $0.isUnavailable }
        fixture.clear()
        // Refused at once, as logind is not available, and told from the loop.
        fixture.client.takeLock(.sleep, mode: .delay)
        fixture.client.releaseLock(.sleep)
        fixture.client.takeLock(.shutdown, mode: .delay)
        try fixture.wait { $0.isLockRefused }
        #expect(fixture.events.map(\.short) == ["refused shutdown"])
    }

    @Test func lock_thatWasGrantedInTime_isHeld_thoughTheLoopWasLate() throws {
        let bus = try PrivateBus.withLogind()
        var limits = LogindClient.Limits()
        limits.answer = 500_000_000
        let fixture = try LogindFixture.connected(to: bus, limits: limits)
        fixture.client.takeLock(.sleep, mode: .delay)
        let over = Clocks.monotonic + limits.answer
        // Meanwhile the loop does not run.
        while try bus.inhibitors() != ["sleep delay"] { try #require(Clocks.monotonic < over + 20_000_000_000) }
        while Clocks.monotonic < over + 1_000_000 {}
        try fixture.wait(count: 1)
        #expect(fixture.events.map(\.short) == ["taken sleep"])
        #expect(try bus.inhibitors() == ["sleep delay"])
    }

    @Test func lock_withoutAnAnswer_isRefusedInTime_andALateGrantIsClosed() throws {
        let bus = try PrivateBus.withLogind()
        var limits = LogindClient.Limits()
        limits.answer = 200_000_000
        let fixture = try LogindFixture.connected(to: bus, limits: limits)
        bus.pauseLogind()
        fixture.client.takeLock(.sleep, mode: .delay)
        let asked = Clocks.monotonic
        try fixture.wait { $0.isLockRefused }
        #expect(Clocks.monotonic - asked >= 200_000_000)
        bus.resumeLogind()
        try fixture.loop.run { try bus.inhibitors().isEmpty }
        #expect(fixture.events.map(\.short) == ["refused sleep"])
        _ = try fixture.take(.sleep)
        #expect(try bus.inhibitors() == ["sleep delay"])
    }

    /// The thread's connection is its own: that it comes to none is not the end of ours.
    @Test func lock_thatCannotBeAskedFor_isRefusedInTime() throws {
        let bus = try PrivateBus.withLogind()
        var limits = LogindClient.Limits()
        limits.answer = 200_000_000
        let fixture = try LogindFixture.connected(to: bus, limits: limits)
        try #require(unlink(bus.socket) == 0)
        fixture.client.takeLock(.sleep, mode: .delay)
        try fixture.wait { $0.isLockRefused }
        #expect(fixture.events.map(\.short) == ["refused sleep"])
    }

    @Test func edges_carryTheDelayOfThatMoment() throws {
        let bus = try PrivateBus.withLogind(inhibitDelayMax: 5_000_000)
        let fixture = try LogindFixture.connected(to: bus)
        let before = Clocks.monotonic
        try bus.emit("PrepareForSleep", true)
        try fixture.wait(count: 1)
        guard case .prepareForSleep(true, 5_000_000_000, let time) = fixture.events[0] else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(time >= before && time <= Clocks.monotonic)
        try bus.emit("PrepareForSleep", false)
        try bus.setInhibitDelayMax(30_000_000)
        try bus.emit("PrepareForSleep", true)
        try bus.setInhibitDelayMax(UInt64.max)
        try fixture.wait(count: 3)
        try bus.emit("PrepareForShutdown", true)
        try fixture.wait(count: 4)
        // Which of the two values the second sleep saw depends on when it asked; it is not the first.
        #expect(fixture.events[1].short == "sleep false 5000000000")
        #expect(["sleep true 30000000000", "sleep true \(Int64.max)"].contains(fixture.events[2].short))
        #expect(fixture.events[3].short == "shutdown true \(Int64.max)")
    }

    @Test func edges_keepTheirOrder_whenAnEndArrivesBeforeTheDelayIsKnown() throws {
        let bus = try PrivateBus.withLogind(inhibitDelayMax: 7_000_000)
        let fixture = try LogindFixture.connected(to: bus)
        try bus.emitAtOnce([
            ("PrepareForSleep", true), ("PrepareForSleep", true), ("PrepareForSleep", false),
            ("PrepareForShutdown", false),
        ])
        try fixture.wait(count: 4)
        #expect(
            fixture.events.map(\.short) == [
                "sleep true 7000000000", "sleep true 7000000000", "sleep false 7000000000", "shutdown false 7000000000",
            ])
    }

    @Test func start_isToldWithTheLastDelay_whenLogindDoesNotSayInTime() throws {
        let bus = try PrivateBus.withLogind(inhibitDelayMax: 6_000_000)
        let fixture = try LogindFixture.connected(to: bus)
        try bus.emitAtOnce([("PrepareForSleep", true)], thenPause: true)
        guard case .prepareForSleep(true, 6_000_000_000, let time) = try fixture.wait(for: { $0.isSleepEdge }) else {
            Issue.record("\(fixture.events)")
            return
        }
        let waited = Clocks.monotonic - time
        #expect(waited >= 150_000_000)
        #expect(waited < 1_000_000_000)
    }

    @Test func signals_ofOthersAreIgnored() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        try bus.forge("PrepareForSleep", true)
        try bus.emit("PrepareForSleep", false)
        try fixture.wait(count: 1)
        #expect(fixture.events.map(\.short) == ["sleep false 5000000000"])
    }

    @Test func preparingForSleep_isRead_orNil() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        fixture.client.readPreparingForSleep()
        try fixture.wait(count: 1)
        try bus.setPreparingForSleep(true)
        fixture.client.readPreparingForSleep()
        #expect(fixture.events.count == 1)
        try fixture.wait(count: 2)
        bus.pauseLogind()
        let asked = Clocks.monotonic
        fixture.client.readPreparingForSleep()
        try fixture.wait(count: 3)
        #expect(Clocks.monotonic - asked >= 500_000_000)
        bus.resumeLogind()
        #expect(fixture.events.map(\.short) == ["preparing false", "preparing true", "preparing -"])
    }

    @Test func preparingForSleep_thatIsAskedForWhenLogindIsLost_doesNotStandInTheWayOfTheNext() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        var seen: [String] = []
        fixture.client.onEvent = {
            seen.append($0.short)
            if seen == ["preparing -"] { fixture.client.readPreparingForSleep() }
        }
        defer { fixture.client.onEvent = { _ in } }
        bus.pauseLogind()
        fixture.client.readPreparingForSleep()
        try fixture.loop.turn()
        bus.killLogind()
        try fixture.loop.run { seen.contains("unavailable") }
        try bus.startLogind()
        try fixture.loop.run { seen.contains("available") }
        fixture.client.readPreparingForSleep()
        try fixture.loop.run { seen.contains("preparing false") }
    }

    @Test func stop_fromAHandler_endsAllEvents() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        let descriptor = try fixture.take(.sleep)
        let pipe = try Self.link(of: descriptor)
        var seen: [LoginMessage] = []
        fixture.client.onEvent = {
            seen.append($0)
            fixture.client.stop()
        }
        try bus.emitAtOnce([("PrepareForSleep", true), ("PrepareForSleep", true), ("PrepareForSleep", false)])
        try fixture.loop.run { !seen.isEmpty }
        try fixture.loop.turn()
        #expect(seen.map(\.short) == ["sleep true 5000000000"])
        #expect(try Self.link(of: descriptor) != pipe)
        // Started again it begins anew.
        fixture.client.onEvent = { seen.append($0) }
        fixture.client.start()
        try fixture.loop.run { seen.count > 1 }
        #expect(seen.last?.isAvailable == true)
        fixture.client.onEvent = { _ in }
    }

    static func link(of descriptor: Int32) throws -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    }

    /// How many descriptors of this process are the same pipe.
    static func copies(of descriptor: Int32) throws -> Int {
        let wanted = try #require(try link(of: descriptor))
        #expect(wanted.hasPrefix("pipe:"))
        return try Files.list("/proc/self/fd").filter { name in
            try Int32(name).flatMap { try link(of: $0) } == wanted
        }.count
    }
}
