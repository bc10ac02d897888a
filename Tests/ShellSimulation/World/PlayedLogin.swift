internal import CLinux
internal import CSystemd
internal import LifecycleSimulation
internal import PlayedKernel

/// logind on the bus, and the board's sleeps.
final class PlayedLogin {
    private static let owner = ":1.5"
    private static let delayMax: Int64 = 5_000_000_000

    private unowned let kernel: Kernel
    private var random: SeededGenerator
    /// The bus is there; logind is on it.
    private var isBusUp = true { didSet { noteAbsence() } }
    private var isUp = true { didSet { noteAbsence() } }
    /// MONOTONIC.
    private var goneSince: Int64?
    private var isPreparing = false
    private var isShuttingDown = false
    /// By kind: the world's ends of the locks' pipes.
    private var locks: [String: [Int32]] = [:]
    private(set) var sleeps = 0
    /// Some locks, for no reason.
    var refuses = true
    var whenSleepIsAnnounced: () -> Void = {}
    let appLocks: PlayedAppLocks

    init(_ kernel: Kernel, seed: UInt64) {
        self.kernel = kernel
        random = SeededGenerator(seed: seed ^ 0x106D)
        appLocks = PlayedAppLocks(kernel, seed: seed)
        isBusUp = random.chance(perMille: 900)
        isUp = random.chance(perMille: 900)
    }

    private var world: World? { kernel.loop.world }

    private func noteAbsence() {
        goneSince = isBusUp && isUp ? nil : goneSince ?? kernel.clock.monotonic
    }

    /// So long that the daemon knows.
    var isLongGone: Bool { goneSince.map { kernel.clock.monotonic - $0 > 3_000_000_000 } ?? false }

    // MARK: The bus

    func connect(_ connection: PlayedBus.Connection) -> Int32 {
        kernel.bus.didTry()
        guard isBusUp else { return -ENOENT }
        world?.after(latency) {
            connection.isOpen = true
            let message = PlayedMessage()
            message.interface = "org.freedesktop.DBus.Local"
            message.member = "Connected"
            connection.deliver(message)
        }
        return 0
    }

    private var latency: Int64 {
        random.chance(perMille: 950) ? Int64(100_000 + random.below(3_000_000)) : Int64(random.below(400_000_000))
    }

    private func signal(_ member: String, _ body: [BusValue], from sender: String = owner) {
        let time = latency
        for connection in kernel.bus.connections where connection.isOpen {
            world?.after(time) {
                let message = PlayedMessage()
                message.sender = sender
                message.member = member
                message.interface = "org.freedesktop.login1.Manager"
                message.body = body
                connection.deliver(message)
            }
        }
    }

    func called(_ call: PlayedMessage, _ connection: PlayedBus.Connection, _ slot: PlayedBus.Slot, limit: UInt64) {
        let reply = PlayedMessage()
        reply.sender = call.interface == "org.freedesktop.DBus" ? "org.freedesktop.DBus" : Self.owner
        answer(call, reply)
        // One in a hundred is lost; what has a limit is told so then.
        if random.chance(perMille: 10) {
            guard limit != .max else { return }
            reply.body = []
            reply.fail("org.freedesktop.DBus.Error.NoReply", "Connection timed out")
            deliver(reply, connection, slot, after: Int64(limit) * 1000, isList: call.member == "ListInhibitors")
            return
        }
        deliver(reply, connection, slot, after: latency, isList: call.member == "ListInhibitors")
    }

    private func deliver(
        _ reply: PlayedMessage, _ connection: PlayedBus.Connection, _ slot: PlayedBus.Slot, after time: Int64,
        isList: Bool
    ) {
        if isList { appLocks.questions += 1 }
        world?.after(time) { [self] in
            if isList { appLocks.didTell(reply.body.isEmpty ? nil : reply.body) }
            connection.deliver(reply, to: slot)
        }
    }

    private func answer(_ call: PlayedMessage, _ reply: PlayedMessage) {
        if call.member == "GetNameOwner" {
            if isUp { reply.body = [.string(Self.owner)] } else { reply.fail("x.NameHasNoOwner", "no owner") }
            return
        }
        guard isUp else { return reply.fail("org.freedesktop.DBus.Error.ServiceUnknown", "logind is not there") }
        switch call.member {
        case "GetAll":
            reply.body = [
                .array([
                    .entry("InhibitDelayMaxUSec", .number(UInt64(Self.delayMax / 1000))),
                    .entry("PreparingForSleep", .bool(isPreparing)),
                    .entry("PreparingForShutdown", .bool(isShuttingDown)),
                ])
            ]
        case "Get":
            guard case .string(let name)? = call.body.last else { return }
            reply.body = [
                .variant(name == "PreparingForSleep" ? .bool(isPreparing) : .number(UInt64(Self.delayMax / 1000)))
            ]
        case "Suspend": suspendCalled(reply)
        case "ListSessions": reply.body = [.array([])]
        case "ListInhibitors": reply.body = [.array(appLocks.list())]
        default: reply.fail("org.freedesktop.DBus.Error.UnknownMethod", "unknown method \(call.member)")
        }
    }

    private func suspendCalled(_ reply: PlayedMessage) {
        if random.chance(perMille: 200) { return reply.fail("x.SleepVerbNotSupported", "not supported") }
        world?.after(10_000_000) { [self] in sleepWanted() }
    }

    // MARK: Locks

    /// A thread of the daemon's asks. One answer in a hundred is lost; the socket hangs up then.
    func lockWanted(_ order: UnsafeMutablePointer<linux_lock_order>) {
        let what = String(cString: order.pointee.what)
        let isLost = random.chance(perMille: 10)
        world?.after(isLost ? Int64(order.pointee.microseconds) * 1000 : latency) { [self] in
            if !isLost { answer(order, inhibit(what)) }
            _ = __real_close(order.pointee.socket)
            order.pointee.socket = -1
            linux_end_lock_order(order)
        }
    }

    private func answer(_ order: UnsafeMutablePointer<linux_lock_order>, _ lock: Int32?) {
        var answer = linux_lock_answer()
        answer.error = lock == nil ? EACCES : 0
        let passed = [lock ?? -1]
        let size = MemoryLayout<linux_lock_answer>.size
        _ = __real_linux_packet_send(order.pointee.socket, &answer, size, passed, lock == nil ? 0 : 1)
        if let lock { _ = __real_close(lock) }
    }

    /// nil: refused.
    private func inhibit(_ what: String) -> Int32? {
        guard isBusUp, isUp, !(refuses && random.chance(perMille: 30)) else { return nil }
        var ends: [Int32] = [-1, -1]
        guard __real_pipe2(&ends, O_CLOEXEC) == 0 else { return nil }
        locks[what, default: []].append(ends[0])
        let held = isHeld(what)
        // A loop that goes on has that of the one before until it has its own.
        if held > (kernel.points.fatal > 0 ? 2 : 1) {
            kernel.judge.complain("\(held) locks of \(what) are held at once")
        }
        return ends[1]
    }

    /// How many of a kind are held. A lock ends with its last descriptor.
    private func isHeld(_ what: String) -> Int {
        locks[what] = (locks[what] ?? []).filter { end in
            var entry = pollfd(fd: end, events: 0, revents: 0)
            guard __real_poll(&entry, 1, 0) > 0, entry.revents & Int16(POLLHUP) != 0 else { return true }
            _ = __real_close(end)
            return false
        }
        return locks[what]?.count ?? 0
    }

    func dropLocks() {
        for end in locks.values.joined() { _ = __real_close(end) }
        locks = [:]
    }

    // MARK: Sleep

    /// A user wants the board to sleep: a key, a lid, an idle time.
    func sleepWanted() {
        guard isUp, isBusUp, !isPreparing, !isShuttingDown else { return }
        isPreparing = true
        kernel.judge.note("logind: sleep is announced")
        whenSleepIsAnnounced()
        appLocks.take()
        signal("PrepareForSleep", [.bool(true)])
        waitForLocks(from: kernel.clock.monotonic)
    }

    private func waitForLocks(from start: Int64) {
        world?.after(5_000_000) { [self] in
            guard isPreparing else { return }
            let waited = kernel.clock.monotonic - start
            if isHeld("sleep") > 0, waited < Self.delayMax { return waitForLocks(from: start) }
            if waited >= Self.delayMax { world?.checks.lockWasLate("sleep", faults: kernel.faults.isOn) }
            sleep()
        }
    }

    private func sleep() {
        if random.chance(perMille: 150) {
            kernel.judge.note("logind: the kernel refuses to sleep")
        } else {
            sleeps += 1
            var time = Int64(random.below(random.pick([2_000_000_000, 60_000_000_000, 3_600_000_000_000])))
            if let alarm = world?.nextAlarm { time = min(time, max(alarm - kernel.clock.monotonic, 1_000_000)) }
            kernel.judge.note("kernel: the board sleeps for \(time / 1_000_000) ms")
            world?.checks.willSleep()
            kernel.clock.sleep(time)
            world?.jumpClocks()
        }
        world?.after(Int64(1_000_000 + random.below(50_000_000))) { [self] in
            isPreparing = false
            signal("PrepareForSleep", [.bool(false)])
        }
    }

    // MARK: Shutdown

    /// A user shuts the board down. Once the locks are gone, the service manager ends the daemon; isCalledOff: the user
    /// takes it back before.
    func shutdownWanted(isCalledOff: Bool) {
        guard isUp, isBusUp, !isShuttingDown else { return }
        isShuttingDown = true
        kernel.judge.note("logind: a shutdown is announced")
        signal("PrepareForShutdown", [.bool(true)])
        if isCalledOff {
            world?.after(Int64(random.below(8_000_000_000))) { [self] in
                guard isShuttingDown else { return }
                isShuttingDown = false
                kernel.judge.note("logind: the shutdown is called off")
                signal("PrepareForShutdown", [.bool(false)])
            }
        }
        waitForShutdownLocks(from: kernel.clock.monotonic)
    }

    private func waitForShutdownLocks(from start: Int64) {
        world?.after(5_000_000) { [self] in
            guard isShuttingDown else { return }
            let waited = kernel.clock.monotonic - start
            if isHeld("shutdown") > 0, waited < Self.delayMax { return waitForShutdownLocks(from: start) }
            if waited >= Self.delayMax { world?.checks.lockWasLate("shutdown", faults: kernel.faults.isOn) }
            world?.endDaemon("the service manager ends the daemon for the shutdown")
        }
    }

    // MARK: Disturbances

    func disturb() {
        switch random.below(5) {
        case 0: if isBusUp { breakBus(again: random.below(4)) } else { isBusUp = true }
        case 1:
            isUp.toggle()
            kernel.judge.note("logind \(isUp ? "comes" : "goes")")
            if !isUp {
                dropLocks()
                isPreparing = false
                isShuttingDown = false
            }
            owners(isUp ? Self.owner : "")
        case 2: signal("PrepareForSleep", [.bool(random.chance(perMille: 500))], from: ":1.666")
        case 3: signal("PrepareForSleep", [.string("no boolean")])
        default: signal("SessionNew", [])
        }
    }

    /// again: how often it breaks once more when it is back; 0: it does not come back by itself.
    private func breakBus(again: Int) {
        kernel.judge.note("the bus breaks")
        isBusUp = false
        dropLocks()
        isPreparing = false
        isShuttingDown = false
        kernel.bus.breakAll(at: kernel.clock.monotonic)
        guard again > 0 else { return }
        world?.after(Int64(random.below(3_000_000_000))) { [self] in
            isBusUp = true
            world?.after(10_000_000_000) { [self] in if isBusUp { breakBus(again: again - 1) } }
        }
    }

    private func owners(_ owner: String) {
        let time = latency
        for connection in kernel.bus.connections where connection.isOpen {
            world?.after(time) {
                let message = PlayedMessage()
                message.sender = "org.freedesktop.DBus"
                message.member = "NameOwnerChanged"
                message.body = [.string("org.freedesktop.login1"), .string(""), .string(owner)]
                connection.deliver(message)
            }
        }
    }
}
