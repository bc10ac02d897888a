// Writing the whole state down and reading it back. What follows from the rest is not written but derived again.

extension DeviceLifecycle {
    /// Of what the fields mean: raised where the meaning of one has changed, so that no reader takes the one for the
    /// other. A new field raises nothing. Of a recording's beginnings, too; its events have `FlightRecord.format`.
    private static let formatVersion = 18

    /// The whole state between two events, to be written down.
    public func archived() -> [UInt8] {
        var copy = self
        var archive = StateArchive()
        copy.archive(&archive, changesAlone: false)
        return StateArchive.sealed(archive.bytes)
    }

    /// What has changed since the last call of this, or since the state was read; the rest is in what was written
    /// before. It has no checksum.
    public mutating func archivedChanges() -> [UInt8] {
        var archive = StateArchive()
        self.archive(&archive, changesAlone: true)
        return archive.bytes
    }

    /// Reads a state back, and what has changed after it, step by step; nil when the bytes are damaged or of another
    /// version.
    public init?(archive bytes: [UInt8], changes: [[UInt8]] = [], change: TextChange? = nil) {
        self.init()
        guard let text = StateArchive.opened(bytes) else { return nil }
        var archive = StateArchive(reading: text, change: change)
        self.archive(&archive, changesAlone: false)
        guard !archive.failed else { return nil }
        for change in changes {
            var archive = StateArchive(reading: change)
            self.archive(&archive, changesAlone: true)
            guard !archive.failed else { return nil }
        }
        guard derive() else { return nil }
        _ = apps.takeChanges()
    }

    /// changesAlone: nothing of what is as it was written before.
    @inline(never)
    private mutating func archive(_ archive: inout StateArchive, changesAlone: Bool) {
        var version = Self.formatVersion
        archive.value(1, &version)
        guard version == Self.formatVersion else { return archive.fail() }
        if !changesAlone { written.value = Written() }
        Self.organ(&archive, 2, &policy, &written.value.policy, DevicePolicy()) { $1.archive(&$0) }
        if changesAlone { apps.archiveChanges(&archive) } else { apps.archive(&archive) }
        archive.value(4, &canFreeze)
        archive.value(5, &isStarted)
        Self.organ(&archive, 6, &sleep, &written.value.sleep, Sleep()) { $1.archive(&$0) }
        Self.organ(&archive, 7, &shutdown, &written.value.shutdown, Shutdown()) { $1.archive(&$0) }
        Self.organ(&archive, 8, &login, &written.value.login, Login()) { $1.archive(&$0) }
        Self.organ(&archive, 9, &conditions, &written.value.conditions, Conditions()) { $1.archive(&$0) }
        Self.organ(&archive, 10, &memory, &written.value.memory, Memory()) { $1.archive(&$0) }
        archive.group(11) { watchdog.archive(&$0) }
        archive.group(12) { serviceWatchdog.archive(&$0) }
        Self.organ(&archive, 13, &adoptedFreezeRecord, &written.value.freezeRecord, OverdueSleeps()) { $1.archive(&$0) }
        Self.organ(&archive, 14, &adoptedLate, &written.value.late, LateSleeps()) { $1.archive(&$0) }
        Self.organ(&archive, 15, &requests, &written.value.requests, PendingRequests()) { $1.archive(&$0) }
        archive.value(16, &lastInstance)
        archive.value(17, &lastCall)
        archive.value(18, &lastTask)
        archive.value(19, &now.monotonic)
        archive.value(20, &now.boottime)
        var hasBegun = wakeUp != nil
        archive.value(21, &hasBegun)
        if archive.isReading { wakeUp = hasBegun ? .never : nil }
        archive.value(22, &reprieveEnd)
        archive.group(23) { poolRefills.archive(&$0) }
        archive.optional(24, &adoptedHeldUpSleep, 0) { $0.value(1, &$1) }
    }

    /// The organs as they were written last.
    struct Written: Sendable {
        var policy: DevicePolicy?
        var sleep: Sleep?
        var shutdown: Shutdown?
        var login: Login?
        var conditions: Conditions?
        var memory: Memory?
        var freezeRecord: OverdueSleeps?
        var late: LateSleeps?
        var requests: PendingRequests?
    }

    /// Writes it where it is another than was written last; reads it in the place of what it was.
    private static func organ<Organ: Equatable>(
        _ archive: inout StateArchive, _ field: Int, _ organ: inout Organ, _ written: inout Organ?, _ blank: Organ,
        _ each: (inout StateArchive, inout Organ) -> Void
    ) {
        if !archive.isReading {
            if written == organ { return }
            written = organ
        }
        archive.group(field) { archive in
            if archive.isReading { organ = blank }
            each(&archive, &organ)
        }
    }

    /// No count comes near this in the life of a board; each can be added to for as long again.
    private static let highestCount = Int64.max / 2

    private var areNumbersSane: Bool {
        func isCount(_ value: Int64) -> Bool { 0 <= value && value <= Self.highestCount }
        return isCount(lastInstance) && isCount(lastCall) && isCount(lastTask) && isCount(Int64(sleep.id))
            && isCount(Int64(sleep.age))
            && (-1...100).contains(conditions.toldLevel) && conditions.zones.all.count <= HeatZones.limit
            && apps.allSatisfy { isCount(Int64($0.launches)) && isCount(Int64($0.level)) }
    }

    /// Derives what is not written; false when what was read cannot be.
    private mutating func derive() -> Bool {
        guard requests.all.allSatisfy({ apps.indices.contains($0.app) }), areNumbersSane else { return false }
        deadlineOfApp = [Deadline](repeating: .never, count: apps.count)
        checkOfApp = [Nanoseconds](repeating: .max, count: apps.count)
        for index in apps.indices {
            let app = apps[index]
            guard indexOfName[app.policy.name] == nil, app.servers.allSatisfy(apps.indices.contains),
                app.clients.allSatisfy(apps.indices.contains)
            else { return false }
            indexOfName[app.policy.name] = index
            if let id = app.instance?.id {
                guard indexOfInstance[id] == nil else { return false }
                indexOfInstance[id] = index
            }
            apps[index].announced = app.isRetired ? nil : app.view
        }
        for index in apps.indices { refresh(index) }
        if wakeUp != nil { wakeUp = earliestDeadline }
        deviceView = device
        return true
    }
}

extension Sleep {
    /// `unsettled` is derived from the apps.
    mutating func archive(_ archive: inout StateArchive) {
        archive.group(1) { stage.archive(&$0) }
        archive.value(2, &id)
        archive.value(3, &isLogical)
        archive.value(4, &isAnnouncedByLogin)
        archive.optional(5, &loginWaitsSince, .zero) { $0.value(1, &$1) }
        archive.value(6, &allowanceSince)
        archive.value(7, &isDoubtful)
        archive.value(8, &isToldByHook)
        archive.value(9, &isAttended)
        archive.value(10, &isForIdleness)
        archive.list(11, &killed, "") { $0.value(1, &$1) }
        archive.value(12, &clocksShowSleep)
        archive.optional(13, &kernelCountedSleep, false) { $0.value(1, &$1) }
        archive.value(14, &isHandled)
        archive.optional(15, &formerEnd, .zero) { $0.value(1, &$1) }
        archive.raw(16, &echo)
        archive.optional(17, &echoDue, .zero) { $0.value(1, &$1) }
        archive.value(18, &age)
    }
}

extension Shutdown {
    mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &isAnnounced)
        archive.value(2, &stopsDaemon)
        archive.optional(3, &end, .zero) { $0.value(1, &$1) }
        archive.value(4, &margin)
        archive.optional(5, &wave, 0) { $0.value(1, &$1) }
        archive.optional(6, &waveEnd, .zero) { $0.value(1, &$1) }
        archive.value(7, &isWaveForced)
        archive.value(8, &isOver)
        archive.value(9, &isLowBattery)
        archive.optional(10, &powerOffDue, .zero) { $0.value(1, &$1) }
    }
}
