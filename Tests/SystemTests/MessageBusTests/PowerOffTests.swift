import EventLoop
import MessageBus
import SystemCalls
import Testing

@Suite(.serialized) struct PowerOffTests {
    private static let edge = "self.EmitSignal('\(PrivateBus.manager)', 'PrepareForShutdown', 'b', [True])"
    private static let blocked = """
        raise dbus.exceptions.DBusException('blocked', name='org.freedesktop.login1.BlockedByInhibitorLock')
        """

    @Test func powerOff_isAnsweredByTheEdge_whileTheLockIsHeld() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        _ = try fixture.take(.shutdown)
        fixture.clear()
        try bus.play("PowerOff", "b", "assert not args[0]\n" + Self.edge)
        fixture.client.powerOff()
        #expect(fixture.events.isEmpty)
        try fixture.wait(count: 1)
        #expect(fixture.events.map(\.short) == ["shutdown true 5000000000"])
        #expect(try bus.inhibitors() == ["shutdown delay"])
        #expect(try bus.calls("PowerOff") == 1)
    }

    @Test func refusal_isTold_andItCanBeAskedAgain() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        try bus.play(
            "PowerOff", "b",
            "raise dbus.exceptions.DBusException('busy', name='org.freedesktop.login1.OperationInProgress')")
        fixture.client.powerOff()
        // Asked already.
        fixture.client.powerOff()
        try fixture.wait(count: 1)
        #expect(fixture.events.map(\.short) == ["power-off refused: busy"])
        #expect(try bus.calls("PowerOff") == 1)
        try bus.play("PowerOff", "b", Self.edge)
        fixture.client.powerOff()
        try fixture.wait(count: 2)
        #expect(fixture.events.last?.short == "shutdown true 5000000000")
    }

    /// As of systemd 257 any user's block lock holds for root too.
    @Test func blockLock_isSkipped() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        try bus.play("PowerOff", "b", Self.blocked)
        try bus.play("PowerOffWithFlags", "t", "assert args[0] == 16\n" + Self.edge)
        fixture.client.powerOff()
        try fixture.wait(count: 1)
        #expect(fixture.events.map(\.short) == ["shutdown true 5000000000"])
        // Not for ever.
        try bus.play("PowerOffWithFlags", "t", Self.blocked)
        fixture.client.powerOff()
        try fixture.wait(count: 2)
        #expect(fixture.events.last?.short == "power-off refused: blocked")
        #expect(try bus.calls("PowerOffWithFlags") == 2)
    }

    @Test func noAnswer_isARefusal() throws {
        let bus = try PrivateBus.withLogind()
        var limits = LogindClient.Limits()
        limits.answer = 200_000_000
        let fixture = try LogindFixture.connected(to: bus, limits: limits)
        bus.pauseLogind()
        let asked = Clocks.monotonic
        fixture.client.powerOff()
        try fixture.wait(count: 1)
        #expect(fixture.events[0].isPowerOffRefused)
        #expect(Clocks.monotonic - asked < 2_000_000_000)
        bus.resumeLogind()
    }

    @Test func logindThatGoes_isARefusal() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        bus.pauseLogind()
        fixture.client.powerOff()
        try fixture.loop.turn()
        bus.killBus()
        try fixture.wait { $0.isUnavailable }
        #expect(fixture.events.count == 2)
        #expect(fixture.events[0].isPowerOffRefused)
        fixture.client.powerOff()
        #expect(fixture.events.count == 2)
        try fixture.wait(count: 3)
        #expect(fixture.events[2].short == "power-off refused: logind is not available")
    }

    @Test func keyLocks_areHeldBesideTheOthers() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        _ = try fixture.take(.sleep)
        fixture.client.takeLock(.powerKey, mode: .block)
        fixture.client.takeLock(.lidSwitch, mode: .block)
        try fixture.wait { $0.isLockTaken(.powerKey) }
        try fixture.wait { $0.isLockTaken(.lidSwitch) }
        #expect(try bus.inhibitors() == ["handle-lid-switch block", "handle-power-key block", "sleep delay"])
        fixture.client.releaseLock(.powerKey)
        try fixture.loop.run { try bus.inhibitors() == ["handle-lid-switch block", "sleep delay"] }
    }
}

extension LoginMessage {
    var isPowerOffRefused: Bool { if case .powerOffRefused = self { true } else { false } }
}
