import EventLoop
import MessageBus
import SystemCalls
import Testing

@Suite(.serialized) struct ReconnectTests {
    @Test func noBus_isToldOnce_withoutWakeUps_andTheBusIsNoticedWhenItComes() throws {
        // All directories on the way are watched: what other tests make in /tmp and /var/tmp would be noticed.
        let bus = try PrivateBus(in: "/srv")
        let fixture = try LogindFixture(bus.address)
        try fixture.wait { $0.isUnavailable }
        fixture.client.takeLock(.sleep, mode: .delay)
        fixture.client.readPreparingForSleep()
        #expect(fixture.events.count == 1)
        try fixture.wait(count: 3)
        #expect(fixture.events.map(\.short) == ["unavailable", "refused sleep", "preparing -"])
        try fixture.loop.turn()
        #expect(try fixture.loop.runOnce(timeoutMicroseconds: 1_500_000) == false)
        try bus.startBus()
        try bus.startLogind()
        try fixture.wait { $0.isAvailable }
        _ = try fixture.take(.sleep)
        #expect(try bus.inhibitors() == ["sleep delay"])
        #expect(fixture.events.filter(\.isUnavailable).count == 1)
    }

    @Test func noDirectory_isWaitedForToo() throws {
        let bus = try PrivateBus()
        let fixture = try LogindFixture("unix:path=\(bus.directory)/later/run/bus")
        try fixture.wait { $0.isUnavailable }
        try fixture.loop.turn()
        try Files.createDirectories(bus.directory + "/later/run")
        try fixture.loop.turn()
        try bus.startBus()
        try bus.startLogind()
        try bus.linkSocket(at: bus.directory + "/later/run/bus")
        try fixture.wait { $0.isAvailable }
    }

    @Test(arguments: ["unix:path=/dev/null/bus", "nonsense", "unix:"])
    func addressOfNoBus_isTriedAgain(_ address: String) throws {
        let bus = try PrivateBus()
        let fixture = try LogindFixture(address)
        try fixture.wait { $0.isUnavailable }
        // ENOTDIR cannot be waited for: the next attempt is made after 0.25 s.
        #expect(try fixture.loop.runOnce(timeoutMicroseconds: 5_000_000))
        #expect(fixture.events.count == 1)
        withExtendedLifetime(bus) {}
    }

    @Test func busKilledAndRestarted() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        let descriptor = try fixture.take(.sleep)
        let pipe = try LogindClientTests.link(of: descriptor)
        fixture.clear()
        bus.killBus()
        try fixture.wait { $0.isUnavailable }
        #expect(fixture.events.map(\.short) == ["lost sleep", "unavailable"])
        #expect(try LogindClientTests.link(of: descriptor) != pipe)
        try bus.startBus()
        try bus.startLogind(inhibitDelayMax: 9_000_000)
        try fixture.wait { $0.isAvailable }
        #expect(fixture.events.map(\.short) == ["lost sleep", "unavailable", "available"])
        _ = try fixture.take(.sleep)
        #expect(try bus.inhibitors() == ["sleep delay"])
        try bus.emit("PrepareForSleep", true)
        try fixture.wait { $0.isSleepEdge }
        #expect(fixture.events.last?.short == "sleep true 9000000000")
    }

    @Test func busKilled_whileAnswersAreAwaited() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        try bus.emitAtOnce([("PrepareForSleep", true)], thenPause: true)
        try fixture.wait { $0.isSleepEdge }
        // Both questions are on their way, and logind does not answer any more.
        fixture.client.takeLock(.shutdown, mode: .delay)
        fixture.client.readPreparingForSleep()
        try fixture.loop.turn()
        bus.killBus()
        try fixture.wait { $0.isUnavailable }
        #expect(fixture.events.map(\.short) == ["sleep true 5000000000", "preparing -", "unavailable"])
    }

    @Test func logindRestartedAlone() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        _ = try fixture.take(.sleep)
        _ = try fixture.take(.shutdown)
        fixture.clear()
        bus.killLogind()
        try fixture.wait { $0.isUnavailable }
        #expect(fixture.events.map(\.short) == ["lost sleep", "lost shutdown", "unavailable"])
        fixture.clear()
        try bus.startLogind()
        try fixture.wait { $0.isAvailable }
        #expect(fixture.events.map(\.short) == ["available"])
        _ = try fixture.take(.sleep)
        #expect(try bus.inhibitors() == ["sleep delay"])
        try bus.emit("PrepareForSleep", true)
        try fixture.wait { $0.isSleepEdge }
    }

    @Test func logindRestarted_withALockAskedFor_leavesNoLock() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        bus.pauseLogind()
        fixture.client.takeLock(.sleep, mode: .delay)
        fixture.client.readPreparingForSleep()
        try fixture.loop.turn()
        bus.killLogind()
        try fixture.wait { $0.isUnavailable }
        try bus.startLogind()
        try fixture.wait { $0.isAvailable }
        #expect(!fixture.events.contains { $0.isLockTaken(.sleep) })
        #expect(try bus.inhibitors().isEmpty)
        _ = try fixture.take(.sleep)
        #expect(try bus.inhibitors() == ["sleep delay"])
    }

    @Test func aLockThatIsGrantedAfterLogindHasLeft_isClosed() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        // It gives its name up while the question waits, answers it all the same, and comes back.
        try bus.startScript(
            """
            import os, time
            from gi.repository import GLib
            name = 'org.freedesktop.login1'
            open('\(bus.directory)/busy', 'w').close()
            while not os.path.exists('\(bus.directory)/asked'): time.sleep(0.01)
            self.connection.release_name(name)
            self.connection.flush()
            GLib.timeout_add(500, lambda bus=self.connection, name=name: bus.request_name(name) and False)
            """)
        try fixture.loop.run { Files.exists(bus.directory + "/busy") }
        fixture.client.takeLock(.sleep, mode: .delay)
        try fixture.loop.turn()
        try Files.replace(bus.directory + "/asked", with: [], durable: false)
        try fixture.wait { $0.isAvailable }
        #expect(fixture.events.map(\.short) == ["unavailable", "available"])
        #expect(try bus.calls(of: "Inhibit") == 1)
        #expect(try bus.inhibitors().isEmpty)
        _ = try fixture.take(.sleep)
        #expect(try bus.inhibitors() == ["sleep delay"])
    }

    @Test func aQuestionToALogindThatIsGone_isNotPutToTheNext() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        bus.killLogind()
        try bus.startLogind()
        // That it is another one waits to be read.
        fixture.client.takeLock(.sleep, mode: .delay)
        fixture.client.readPreparingForSleep()
        try fixture.wait { $0.isAvailable }
        #expect(!fixture.events.contains { $0.isLockTaken(.sleep) })
        #expect(fixture.events.filter { $0.short.hasPrefix("preparing") }.map(\.short) == ["preparing -"])
        #expect(try bus.calls(of: "Inhibit") == 0)
        _ = try fixture.take(.sleep)
        #expect(try bus.inhibitors() == ["sleep delay"])
    }

    @Test func busWithoutLogind_isToldOnce() throws {
        let bus = try PrivateBus()
        try bus.startBus()
        let fixture = try LogindFixture(bus.address)
        try fixture.wait { $0.isUnavailable }
        try bus.startLogind()
        try fixture.wait { $0.isAvailable }
        #expect(fixture.events.map(\.short) == ["unavailable", "available"])
    }

    @Test func busStopped_beforeTheFirstConnection() throws {
        let bus = try PrivateBus.withLogind()
        bus.pauseBus()
        var limits = LogindClient.Limits()
        limits.connect = 200_000_000
        let fixture = try LogindFixture(bus.address, limits: limits)
        #expect(try fixture.longestTurn { fixture.events.count == 1 } < 100_000_000)
        #expect(fixture.events.map(\.short) == ["unavailable"])
        bus.resumeBus()
        try fixture.wait { $0.isAvailable }
        #expect(fixture.events.map(\.short) == ["unavailable", "available"])
    }

    @Test func busStopped_whileConnected_stallsNothing() throws {
        let bus = try PrivateBus.withLogind()
        var limits = LogindClient.Limits()
        limits.answer = 200_000_000
        let fixture = try LogindFixture.connected(to: bus, limits: limits)
        _ = try fixture.take(.sleep)
        fixture.clear()
        bus.pauseBus()
        let start = Clocks.monotonic
        fixture.client.takeLock(.shutdown, mode: .delay)
        fixture.client.releaseLock(.sleep)
        fixture.client.readPreparingForSleep()
        #expect(Clocks.monotonic - start < 100_000_000)
        #expect(try fixture.longestTurn { fixture.events.count == 2 } < 100_000_000)
        #expect(fixture.events.map(\.short) == ["refused shutdown", "preparing -"])
        bus.resumeBus()
        try fixture.loop.run { try bus.inhibitors().isEmpty }
        #expect(fixture.events.count == 2)
    }

    @Test func busStopped_doesNotHoldUpTheEndOfTheLoop() throws {
        let bus = try PrivateBus()
        try bus.startBus()
        let loop = try EventLoop()
        var isConnected = false
        let client = try Bus(event: loop.handle, priority: 0, address: bus.address) { event in
            if case .connected = event { isConnected = true }
        }
        client.open()
        try loop.run { isConnected }
        bus.pauseBus()
        // More than the 16 MiB that the socket takes: what is left would be waited for.
        let start = Clocks.monotonic
        let ping = BusMethod("org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer", "Ping")
        let big = String(repeating: "x", count: 1_000_000)
        var slots: [BusSlot] = []
        for _ in 0..<40 { slots.append(try client.call(ping, [big]) { _ in }) }
        loop.exit(code: 3)
        #expect(try loop.run() == 3)
        client.close()
        #expect(Clocks.monotonic - start < 1_000_000_000)
        bus.resumeBus()
    }

    @Test func client_isFreed_withAllItHolds() throws {
        let bus = try PrivateBus.withLogind()
        let alive = Lifetimes()
        var descriptor: Int32 = -1
        var pipe: String?
        do {
            let token = alive.token()
            let loop = try EventLoop()
            var isTaken = false
            let client = try LogindClient(event: loop.handle, priority: 0, address: bus.address)
            client.onEvent = { [unowned client] event in
                _ = token
                if event.isAvailable { client.takeLock(.sleep, mode: .block) }
                if case .lockTaken(_, let number) = event {
                    descriptor = number
                    isTaken = true
                }
            }
            client.start()
            try loop.run { isTaken }
            pipe = try LogindClientTests.link(of: descriptor)
            #expect(try bus.inhibitors() == ["sleep block"])
            client.readPreparingForSleep()
        }
        #expect(alive.count == 0)
        #expect(try LogindClientTests.link(of: descriptor) != pipe)
    }
}

extension LogindFixture {
    /// Runs the loop until the condition holds; how long its longest turn took beyond what it was allowed to wait.
    func longestTurn(until condition: () -> Bool) throws -> Int64 {
        var longest: Int64 = 0
        let end = Clocks.monotonic + 20_000_000_000
        while !condition() {
            let start = Clocks.monotonic
            guard start < end else { throw TimedOut() }
            try loop.runOnce(timeoutMicroseconds: 10_000)
            longest = max(longest, Clocks.monotonic - start - 10_000_000)
        }
        return longest
    }
}
