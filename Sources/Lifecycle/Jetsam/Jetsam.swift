/// What is known of the board's memory.
struct Memory: Equatable {
    /// MONOTONIC: as long as nothing more is heard, the level holds until then.
    var warningEnd: Nanoseconds?
    var criticalEnd: Nanoseconds?
    /// As last announced.
    var pressure = MemoryPressure.normal
    /// The level for which the shell was asked to read; nil: it was not.
    var asked: MemoryLevel?
    /// MONOTONIC: its answer is not waited for any longer.
    var answerDue: Nanoseconds?
    /// That no app is left to be ended has been said of the present shortage.
    var isExhaustionSaid = false
    /// MONOTONIC: what was freed last has to show first.
    var nextJetsam = Nanoseconds.zero
}

/// What one app's processes have of the memory.
public struct MemoryUse: Equatable, Sendable {
    public var instance: InstanceID
    /// nil: the kernel does not count it.
    public var bytes: Int64?

    public init(instance: InstanceID, bytes: Int64?) {
        self.instance = instance
        self.bytes = bytes
    }
}

/// Who goes first when something is short: the lesser.
struct JetsamOrder: Comparable {
    var isProtected: Bool
    var isRunning: Bool
    var band: Int
    var isInFront: Bool
    var bytes: Int64
    var index: Int

    static func < (left: JetsamOrder, right: JetsamOrder) -> Bool {
        if left.isProtected != right.isProtected { return right.isProtected }
        if left.isRunning != right.isRunning { return right.isRunning }
        if left.band != right.band { return left.band < right.band }
        if left.isInFront != right.isInFront { return right.isInFront }
        if left.bytes != right.bytes { return left.bytes > right.bytes }
        return left.index < right.index
    }
}

extension DeviceLifecycle {
    /// A level of pressure is over when nothing was heard of it for so long.
    static let memoryQuiet = Nanoseconds.seconds(10)
    /// How long the answer to `readMemory` is waited for; after that the kernel's next word is a new question.
    static let memoryAnswer = Nanoseconds.seconds(10)
    /// An app of less than this, or than a hundredth of a smaller board's memory, gives nothing back worth its end.
    static let leastJetsam: Int64 = 4 << 20
    /// Between the end of one app and the next decision.
    static let jetsamPause = Nanoseconds.seconds(1)

    /// The kernel says that apps wait for memory. Whether the board is short of it, or only an app at its own limit, is
    /// to be read.
    mutating func hearMemoryPressure(_ level: MemoryLevel) {
        // Two answers could not be told from each other; the kernel says so again.
        guard memory.asked == nil else { return }
        memory.asked = level
        memory.answerDue = now.monotonic + Self.memoryAnswer
        emit(.memory(.read(uses: level == .critical)))
    }

    /// Whoever was ended last is still on its way out.
    private var isJetsamUnderWay: Bool {
        apps.contains { app in
            guard let instance = app.instance, !instance.isNamed, instance.cause?.reason.namespace == .jetsam else {
                return false
            }
            switch instance.stage {
            case .killing, .clearing: return true
            case .spawning, .running, .stopping: return false
            }
        }
    }

    /// What waiting there was counts only where little is left: above a half it is none, above a quarter a warning.
    mutating func didReadMemory(available: Int64, total: Int64, uses: [MemoryUse]) {
        guard let asked = memory.asked else { return }
        memory.asked = nil
        memory.answerDue = nil
        if available > total / 2 { return }
        let end = now.monotonic + Self.memoryQuiet
        memory.warningEnd = end
        guard asked == .critical, available <= total / 4 else { return }
        memory.criticalEnd = end
        guard now.monotonic >= memory.nextJetsam, !isJetsamUnderWay else { return }
        jetsam(available: available, total: total, uses)
    }

    /// Ends as many apps as give back what is wanted, and no more: at least one, as the pressure is real.
    private mutating func jetsam(available: Int64, total: Int64, _ uses: [MemoryUse]) {
        let wanted = policy.memoryReserve ?? total / 8
        let least = min(Self.leastJetsam, total / 100)
        memory.nextJetsam = now.monotonic + Self.jetsamPause
        var orders: [JetsamOrder] = []
        for index in apps.indices {
            guard let instance = apps[index].instance, instance.isAlive else { continue }
            let known = uses.first { $0.instance == instance.id }?.bytes
            if let known, known < least { continue }
            let bytes = known ?? 0
            orders.append(
                JetsamOrder(
                    isProtected: apps[index].policy.priorityBand >= policy.protectedBand,
                    isRunning: instance.freezer != .frozen, band: apps[index].policy.priorityBand,
                    isInFront: instance.phase != .background, bytes: bytes, index: index))
        }
        orders.sort()
        guard let first = orders.first else {
            if !memory.isExhaustionSaid { emit(.note(.board(.memoryExhausted))) }
            memory.isExhaustionSaid = true
            return
        }
        var short = wanted.saturatingSubtract(available)
        for order in orders where order == first || short > 0 && !order.isProtected {
            short = short.saturatingSubtract(order.bytes)
            let reason = TerminationReason.memoryCritical(
                available: available, bytes: order.bytes, isProtected: order.isProtected)
            kill(order.index, Cause(reason: reason))
            // What this one gives back is not known: it has to show before anybody else goes for it.
            if order.bytes <= 0 { break }
        }
    }

    /// Somebody else has killed the app's main process: said before its exit is.
    mutating func wasKilledForMemory(_ id: InstanceID, _ killer: MemoryKiller) {
        if let index = index(of: id) { apps[index].instance?.wasKilled(by: killer) }
    }

    /// One app has reached its own limit (memory.high), where the kernel says so a hundred times a second.
    mutating func reachedMemoryLimit(_ id: InstanceID) {
        let end = now.monotonic + Self.memoryQuiet
        guard let index = index(of: id), apps[index].instance?.news.reachedLimit(quietUntil: end) == true else {
            return
        }
        touch(index)
    }

    mutating func settleMemory() {
        if let due = memory.answerDue, due <= now.monotonic {
            memory.asked = nil
            memory.answerDue = nil
        }
        if let end = memory.criticalEnd, end <= now.monotonic { memory.criticalEnd = nil }
        if let end = memory.warningEnd, end <= now.monotonic { memory.warningEnd = nil }
        let pressure: MemoryPressure =
            memory.criticalEnd != nil ? .critical : memory.warningEnd != nil ? .warning : .normal
        guard pressure != memory.pressure else { return }
        let isWorse = pressure.rawValue > memory.pressure.rawValue
        if memory.pressure == .critical {
            memory.isExhaustionSaid = false
            for index in apps.indices where apps[index].launch.queued != nil { touch(index) }
        }
        memory.pressure = pressure
        emit(.note(.board(.memoryPressure(pressure))))
        guard isWorse else { return }
        for index in apps.indices where apps[index].instance?.isAlive == true {
            apps[index].instance?.news.warn(pressure == .critical ? .critical : .warning)
            touch(index)
        }
    }

    var memoryDue: Nanoseconds? {
        let due = min(memory.criticalEnd ?? .max, memory.warningEnd ?? .max, memory.answerDue ?? .max)
        return due == .max ? nil : due
    }

    /// An app that was in front when the board ran out of memory or too hot comes back when it is well again. That a
    /// hot place cannot be read any more does not make it well for one that heat has ended; that it was cool for a
    /// moment does not either.
    mutating func settleReturns() {
        guard memory.pressure == .normal, conditions.isSurelyCool, canLaunch else { return }
        // Until nothing is left of it.
        for index in apps.indices where apps[index].returnsWhenWell && apps[index].instance == nil {
            if apps[index].lastTermination?.reason.namespace == .thermal, isHeatLost { continue }
            apps[index].changeLaunch { $0.returnNow() }
            touch(index)
        }
    }
}
