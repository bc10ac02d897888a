import EventLoop
import Foundation
import MessageBus
import SystemCalls
import Testing
import Vocabulary

@Suite(.serialized) struct SessionTests {
    @Test func sessionsOfBefore_areCounted_andOnlyThoseOfPeople() throws {
        let bus = try PrivateBus.withLogind()
        try bus.addSession("a", announced: false)
        try bus.addSession("ssh", seat: nil, announced: false)
        for kind in ["greeter", "manager", "user-incomplete", "background", "lock-screen"] {
            try bus.addSession(kind.replacing("-", with: "_"), kind: kind, announced: false)
        }
        try bus.addSession("light", kind: "user-early-light", announced: false)
        try bus.addSession("gone", state: "closing", announced: false)
        let fixture = try LogindFixture(bus.address)
        try fixture.loop.run { !fixture.sessions.isEmpty }
        #expect(fixture.sessions == [SessionReading(users: 3, isLocked: false, isIdle: false)])
        #expect(fixture.events.map(\.short) == ["available"])
    }

    @Test func noSession_isNotLocked() throws {
        let bus = try PrivateBus.withLogind()
        try bus.addSession("greeter", kind: "greeter", hint: true, announced: false)
        try bus.addSession("ssh", seat: nil, hint: true, announced: false)
        let fixture = try LogindFixture(bus.address)
        try fixture.loop.run { !fixture.sessions.isEmpty }
        #expect(fixture.sessions == [SessionReading(users: 1, isLocked: false, isIdle: false)])
    }

    @Test func locked_whenAllOnASeatAre_byHintOrBySignal() throws {
        let bus = try PrivateBus.withLogind()
        for name in ["a", "b"] { try bus.addSession(name, announced: false) }
        try bus.addSession("ssh", seat: nil, announced: false)
        let fixture = try LogindFixture.connected(to: bus)
        try bus.signal("Lock", of: "a")
        try bus.setSession("b", "LockedHint", true)
        try fixture.expect(locked: true, 3)
        try bus.signal("Unlock", of: "a")
        try fixture.expect(locked: false, 3)
        try bus.signal("Lock", of: "a")
        try fixture.expect(locked: true, 3)
        // One who has not locked comes, and goes.
        try bus.addSession("c")
        try fixture.expect(locked: false, 4)
        try bus.removeSession("c")
        try fixture.expect(locked: true, 3)
        try bus.setSession("b", "LockedHint", false)
        try fixture.expect(locked: false, 3)
        // Those of others do not matter.
        try bus.setSession("b", "Class", "dbus.String('greeter')")
        try fixture.expect(locked: true, 2)
        for name in ["a", "b"] { try bus.removeSession(name) }
        try fixture.expect(locked: false, 1)
    }

    /// A locker that was told to by Lock says with its hint that it has been unlocked.
    @Test func hintThatFalls_undoesTheLockSignal() throws {
        let bus = try PrivateBus.withLogind()
        try bus.addSession("a", announced: false)
        let fixture = try LogindFixture.connected(to: bus)
        try bus.signal("Lock", of: "a")
        try fixture.expect(locked: true, 1)
        try bus.setSession("a", "LockedHint", true)
        try bus.setSession("a", "LockedHint", false)
        try fixture.expect(locked: false, 1)
        // An Unlock does not open what its locker says is locked.
        try bus.setSession("a", "LockedHint", true)
        try fixture.expect(locked: true, 1)
        try bus.signal("Unlock", of: "a")
        try bus.addSession("b", seat: nil)
        try fixture.expect(locked: true, 2)
    }

    @Test func sessionThatEnds_isSeenByItsState() throws {
        let bus = try PrivateBus.withLogind()
        try bus.addSession("a", hint: true, announced: false)
        try bus.addSession("b", announced: false)
        let fixture = try LogindFixture.connected(to: bus)
        // Old ones announce Active alone.
        try bus.script("\(bus.session("b")).props['\(PrivateBus.session)']['State'] = 'closing'")
        try bus.setSession("b", "Active", false)
        try fixture.expect(locked: true, 1)
    }

    /// Who holds logind up for a while is not to unlock a screen by it.
    @Test func sessionThatLogindDoesNotSpeakOf_staysAsItWas() throws {
        let bus = try PrivateBus.withLogind()
        try bus.addSession("a", hint: true, announced: false)
        var limits = LogindClient.Limits()
        limits.answer = 200_000_000
        let fixture = try LogindFixture.connected(to: bus, limits: limits)
        let before = try bus.calls("GetAll")
        try bus.setSession("a", "Active", false)
        bus.pauseLogind()
        let began = Clocks.monotonic
        try fixture.loop.run { Clocks.monotonic - began > 2 * limits.answer }
        bus.resumeLogind()
        // The one that it did not answer in time, and the next.
        try fixture.loop.run { try bus.calls("GetAll") > before + 1 }
        try bus.setSession("a", "LockedHint", false)
        try fixture.loop.run { fixture.sessions.last?.isLocked == false }
        #expect(fixture.sessions.map { $0.users } == [1])
    }

    /// One is locked; the other is open, and logind takes its time to speak of it: once, each time, or for ever.
    @Test(arguments: [
        (seconds: 1, times: 1, told: SessionReading(users: 2, isLocked: false, isIdle: false)),
        (seconds: 1, times: 1000, told: SessionReading(users: 1, isLocked: true, isIdle: false)),
        (seconds: 1000, times: 1, told: SessionReading(users: 1, isLocked: true, isIdle: false)),
    ])
    func sessionThatIsNotReadYet_isWaitedFor_butNotForEver(seconds: Int, times: Int, told: SessionReading) throws {
        let bus = try PrivateBus.withLogind()
        try bus.addSession("open", announced: false)
        try bus.addSession("locked", hint: true, announced: false)
        try bus.slowDown("open", seconds: seconds, times: times)
        var limits = LogindClient.Limits()
        limits.answer = 700_000_000
        let fixture = try LogindFixture(bus.address, limits: limits)
        try fixture.loop.run { !fixture.sessions.isEmpty }
        #expect(fixture.sessions == [told])
    }

    @Test func idle_isTheManagersHint_andReadAgainWhenSessionsComeAndGo() throws {
        let bus = try PrivateBus.withLogind()
        try bus.addSession("a", announced: false)
        let fixture = try LogindFixture.connected(to: bus)
        try bus.script("self.UpdateProperties('\(PrivateBus.manager)', {'IdleHint': dbus.Boolean(True)})")
        try fixture.loop.run { fixture.sessions.last == SessionReading(users: 1, isLocked: false, isIdle: true) }
        // Its end is not announced: a session has come.
        try bus.changeQuietly("IdleHint", "dbus.Boolean(False)")
        try bus.addSession("b")
        try fixture.loop.run {
            fixture.sessions.last == SessionReading(users: 2, isLocked: false, isIdle: false)
        }
    }

    @Test func conditions_areReadAtTheStart_onRequest_andHeardWhereTheyAreAnnounced() throws {
        let bus = try PrivateBus.withLogind()
        for name in ["LidClosed", "OnExternalPower"] { try bus.changeQuietly(name, "dbus.Boolean(True)") }
        let fixture = try LogindFixture(bus.address)
        try fixture.loop.run { !fixture.conditions.isEmpty }
        #expect(fixture.conditions == [LoginConditions(isLidClosed: true, isOnExternalPower: true)])
        fixture.clear()
        try bus.changeQuietly("OnExternalPower", "dbus.Boolean(False)")
        try bus.changeQuietly("Docked", "dbus.Boolean(True)")
        // More often than is asked.
        for _ in 0..<100 { fixture.client.readConditions() }
        try fixture.loop.run { !fixture.conditions.isEmpty }
        #expect(fixture.conditions == [LoginConditions(isLidClosed: true, isDocked: true, isOnExternalPower: false)])
        try bus.script("self.UpdateProperties('\(PrivateBus.manager)', {'LidClosed': dbus.Boolean(False)})")
        try fixture.loop.run { fixture.conditions.last?.isLidClosed == false }
        // A value of another type does not count.
        try bus.changeQuietly("LidClosed", "'open'")
        try bus.changeQuietly("Docked", "dbus.Boolean(False)")
        fixture.client.readConditions()
        try fixture.loop.run { fixture.conditions.last?.isDocked == false }
        #expect(fixture.conditions.last?.isLidClosed == false)
        #expect(fixture.conditions.count == 3)
        #expect(fixture.events.isEmpty)
    }

    /// Devices may say a thousand times a second that something has changed.
    @Test func flood_ofRequests_isAskedForAtAPace() throws {
        let bus = try PrivateBus.withLogind()
        let fixture = try LogindFixture.connected(to: bus)
        let before = try bus.calls("GetAll")
        let start = Clocks.monotonic
        for _ in 0..<300 {
            fixture.client.readConditions()
            try fixture.loop.runOnce(timeoutMicroseconds: 1000)
        }
        try bus.changeQuietly("LidClosed", "dbus.Boolean(True)")
        fixture.client.readConditions()
        try fixture.loop.run { fixture.conditions == [LoginConditions(isLidClosed: true)] }
        let asked = try bus.calls("GetAll") - before
        #expect(asked > 0 && asked <= Int((Clocks.monotonic - start) / 100_000_000) + 2)
    }

    @Test func missingProperties_areNoError() throws {
        let bus = try PrivateBus.withLogind()
        try bus.script("self.props['\(PrivateBus.manager)'].clear()")
        try bus.addSession("a", announced: false)
        try bus.script("\(bus.session("a")).props['\(PrivateBus.session)'].pop('LockedHint')")
        let fixture = try LogindFixture(bus.address)
        try fixture.loop.run { !fixture.sessions.isEmpty }
        #expect(fixture.sessions == [SessionReading(users: 1, isLocked: false, isIdle: false)])
        #expect(fixture.conditions.isEmpty)
        try bus.signal("Lock", of: "a")
        try fixture.expect(locked: true, 1)
    }

    @Test func signalsOfOthers_areIgnored() throws {
        let bus = try PrivateBus.withLogind()
        try bus.addSession("a", announced: false)
        let fixture = try LogindFixture.connected(to: bus)
        let path = "/org/freedesktop/login1/session/a"
        let properties = "org.freedesktop.DBus.Properties.PropertiesChanged"
        try bus.forge(PrivateBus.session + ".Lock", at: path)
        try bus.forge(properties, at: path, "'\(PrivateBus.session)'", "{'LockedHint': <true>}", "@as []")
        try bus.forge(
            properties, at: "/org/freedesktop/login1", "'\(PrivateBus.manager)'", "{'IdleHint': <true>}", "@as []")
        try bus.forge(
            PrivateBus.manager + ".SessionRemoved", at: "/org/freedesktop/login1", "'a'", "objectpath '\(path)'")
        try bus.addSession("b", seat: nil)
        try fixture.loop.run { !fixture.sessions.isEmpty }
        #expect(fixture.sessions == [SessionReading(users: 2, isLocked: false, isIdle: false)])
    }

    /// A user who may lock a session may do so in a loop: what is told of it has a pace, and the last word counts.
    @Test func flood_ofLocks_isToldAtAPace_andTheLastOneWins() throws {
        let bus = try PrivateBus.withLogind()
        try bus.addSession("a", announced: false)
        let fixture = try LogindFixture.connected(to: bus)
        let start = Clocks.monotonic
        try bus.startScript(
            """
            for number in range(3001):
                \(bus.session("a")).EmitSignal('\(PrivateBus.session)', 'Unlock' if number % 2 else 'Lock', '', [])
            self.AddSession('b', 'seat0', 1000, 'somebody', True)
            \(bus.announcement("SessionNew", of: "b"))
            """)
        try fixture.loop.run { fixture.sessions.last?.users == 2 }
        #expect(fixture.sessions.last?.isLocked == false)
        try bus.removeSession("b")
        try fixture.expect(locked: true, 1)
        let intervals = (Clocks.monotonic - start) / 100_000_000
        #expect(fixture.sessions.count <= Int(intervals) + 1)
    }

    /// Each of many sessions that come and go is not a question to logind, nor are more of them kept than a bound.
    @Test func flood_ofSessions_isAskedForAtAPace_andThoseOnASeatStay() throws {
        let bus = try PrivateBus.withLogind()
        try bus.addSession("a", announced: false)
        let fixture = try LogindFixture.connected(to: bus)
        let start = Clocks.monotonic
        let path = "/org/freedesktop/login1/session/"
        try bus.startScript(
            """
            for number in range(300):
                name = 's%d' % number
                self.AddSession(name, 'seat0', 1000, 'somebody', True)
                objects['\(path)' + name].props['\(PrivateBus.session)']['Seat'] = ('', dbus.ObjectPath('/'))
                self.EmitSignal('\(PrivateBus.manager)', 'SessionNew', 'so', [name, dbus.ObjectPath('\(path)' + name)])
            """)
        try fixture.loop.run { fixture.sessions.last?.users == 64 }
        try bus.signal("Lock", of: "a")
        try fixture.expect(locked: true, 64)
        // One on a seat comes when there is no room: it takes the place of one that is not.
        try bus.addSession("z")
        try fixture.expect(locked: false, 64)
        try bus.setSession("z", "LockedHint", true)
        try fixture.expect(locked: true, 64)
        let intervals = Int((Clocks.monotonic - start) / 100_000_000)
        let asked = try bus.calls("ListSessions")
        #expect(asked > 1 && asked <= intervals + 2)
        // Room again: those that were left out are found.
        try bus.startScript(
            """
            for number in range(290):
                name = 's%d' % number
                self.RemoveObject('\(path)' + name)
                self.EmitSignal(
                    '\(PrivateBus.manager)', 'SessionRemoved', 'so', [name, dbus.ObjectPath('\(path)' + name)])
            """)
        try fixture.expect(locked: true, 12)
    }

    @Test func logindRestarted_isToldAnew() throws {
        let bus = try PrivateBus.withLogind()
        try bus.addSession("a", announced: false)
        let fixture = try LogindFixture.connected(to: bus)
        try bus.signal("Lock", of: "a")
        try fixture.expect(locked: true, 1)
        bus.killLogind()
        try fixture.wait { $0.isUnavailable }
        fixture.clear()
        try bus.startLogind()
        try fixture.wait { $0.isAvailable }
        try fixture.loop.run { !fixture.sessions.isEmpty }
        #expect(fixture.sessions == [SessionReading(users: 0, isLocked: false, isIdle: false)])
    }

    /// A lock that was only asked for by a signal is not forgotten with the logind that sent it.
    @Test func lockSignal_outlivesLogind() throws {
        let bus = try PrivateBus.withLogind()
        try bus.addSession("a", announced: false)
        let fixture = try LogindFixture.connected(to: bus)
        try bus.signal("Lock", of: "a")
        try fixture.expect(locked: true, 1)
        fixture.clear()
        try bus.passNameOn()
        try fixture.wait { $0.isUnavailable }
        try fixture.wait { $0.isAvailable }
        try fixture.loop.run { !fixture.sessions.isEmpty }
        #expect(fixture.sessions == [SessionReading(users: 1, isLocked: true, isIdle: false)])
    }

    @Test func stop_fromAHandler_endsTheseEventsToo() throws {
        let bus = try PrivateBus.withLogind()
        try bus.changeQuietly("LidClosed", "dbus.Boolean(True)")
        let loop = try EventLoop()
        let client = try LogindClient(event: loop.handle, priority: 0, address: bus.address)
        var seen: [String] = []
        client.onEvent = { event in
            seen.append(event.short)
            if case .sessionChanged = event { client.stop() }
        }
        client.start()
        try loop.run { seen.count == 2 }
        try loop.turn()
        #expect(seen.count == 2)
        client.onEvent = { _ in }
    }
}

extension LogindFixture {
    /// Runs the loop until this is what was told last.
    func expect(locked isLocked: Bool, _ count: Int) throws {
        let wanted = SessionReading(users: count, isLocked: isLocked, isIdle: false)
        do {
            try loop.run(seconds: 5) { sessions.last == wanted }
        } catch {
            Issue.record("\(sessions) do not end with \(wanted)")
        }
    }
}
