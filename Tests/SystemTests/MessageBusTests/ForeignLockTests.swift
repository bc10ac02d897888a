import MessageBus
import Testing

/// Whose locks put a sleep off, as logind lists them.
@Suite struct ForeignLockTests {
    /// Has ListInhibitors return this, in Python.
    private func list(_ bus: PrivateBus, _ rows: String, _ signature: String = "a(ssssuu)") throws {
        try bus.script(
            "self.AddMethod('\(PrivateBus.manager)', 'ListInhibitors', '', '\(signature)', \"\"\"ret = \(rows)\"\"\")")
    }

    @Test func onlyDelayLocksOnSleepCount() throws {
        let bus = try PrivateBus.withLogind()
        try list(
            bus,
            """
            [('sleep', 'one', 'saves', 'delay', 7, 8), ('sleep', 'two', 'burns', 'block', 7, 9),
            ('shutdown:sleep', 'three', '', 'delay', 0, 4294967295),
            ('handle-sleep-key:idle', 'four', '', 'delay', 7, 11),
            ('asleep', 'five', '', 'delay', 7, 12)]
            """)
        let fixture = try LogindFixture.connected(to: bus)
        fixture.client.readForeignLocks()
        // Asked for already.
        fixture.client.readForeignLocks()
        try fixture.wait(count: 1)
        #expect(
            fixture.events == [
                .foreignLocks([
                    ForeignLock(who: "one", why: "saves", user: 7, pid: 8),
                    ForeignLock(who: "three", why: "", user: 0, pid: .max),
                ])
            ])
    }

    @Test func moreThanAnyoneNeedsAreNotLookedAt() throws {
        let bus = try PrivateBus.withLogind()
        try list(
            bus,
            "[('sleep', 'many', 'x', 'delay', 7, n) for n in range(2000)] + [('sleep', 'one', 'y', 'delay', 9, 1)] * 2")
        let fixture = try LogindFixture.connected(to: bus)
        fixture.client.readForeignLocks()
        guard case .foreignLocks(let locks?) = try fixture.wait(for: { $0.short.hasPrefix("locks") }) else { return }
        // And one of a process.
        #expect(locks.count == 65 && locks[63].pid == 63)
        #expect(locks.last == ForeignLock(who: "one", why: "y", user: 9, pid: 1))
    }

    @Test(arguments: ["pause", "other", "gone"]) func withoutAnAnswerItIsNotKnown(_ how: String) throws {
        let bus = try PrivateBus.withLogind()
        if how == "other" { try list(bus, "[1]", "as") }
        var limits = LogindClient.Limits()
        limits.answer = 200_000_000
        let fixture = try LogindFixture.connected(to: bus, limits: limits)
        if how == "pause" { bus.pauseLogind() }
        fixture.client.readForeignLocks()
        if how == "gone" { fixture.client.stop() } else { try fixture.wait { $0.short == "locks -" } }
        #expect(fixture.events.map(\.short) == (how == "gone" ? [] : ["locks -"]))
        if how == "pause" { bus.resumeLogind() }
    }
}
