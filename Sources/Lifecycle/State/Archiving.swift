// Writing the whole state down and reading it back. What follows from the rest is not written but derived again.

extension DeviceLifecycle {
    private static let formatVersion = 15

    /// The whole state between two events, to be written down.
    public func archived() -> [UInt8] {
        var copy = self
        var archive = StateArchive()
        copy.archive(&archive)
        return StateArchive.sealed(archive.bytes)
    }

    /// Reads a state back; nil when the bytes are damaged or of another version.
    public init?(archive bytes: [UInt8]) {
        self.init()
        guard let text = StateArchive.opened(bytes) else { return nil }
        var archive = StateArchive(reading: text)
        self.archive(&archive)
        guard archive.isComplete, derive() else { return nil }
    }

    private mutating func archive(_ archive: inout StateArchive) {
        var version = Self.formatVersion
        archive.value(&version)
        guard version == Self.formatVersion else { return archive.fail() }
        policy.archive(&archive)
        archive.list(&apps, App(policy: AppPolicy(name: ""))) { $1.archive(&$0) }
        archive.value(&canFreeze)
        archive.value(&isStarted)
        sleep.archive(&archive)
        shutdown.archive(&archive)
        login.archive(&archive)
        conditions.archive(&archive)
        memory.archive(&archive)
        watchdog.archive(&archive)
        serviceWatchdog.archive(&archive)
        adoptedFreezeRecord.archive(&archive)
        adoptedLate.archive(&archive)
        requests.archive(&archive)
        archive.value(&lastInstance)
        archive.value(&lastCall)
        archive.value(&lastTask)
        archive.value(&now.monotonic)
        archive.value(&now.boottime)
        var hasBegun = wakeUp != nil
        archive.value(&hasBegun)
        wakeUp = hasBegun ? .never : nil
        archive.value(&reprieveEnd)
        poolRefills.archive(&archive)
    }

    /// No count comes near this in the life of a board; each can be added to for as long again.
    private static let highestCount = Int64.max / 2

    private var areNumbersSane: Bool {
        func isCount(_ value: Int64) -> Bool { 0 <= value && value <= Self.highestCount }
        return isCount(lastInstance) && isCount(lastCall) && isCount(lastTask) && isCount(Int64(sleep.id))
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
        stage.archive(&archive)
        archive.value(&id)
        archive.value(&isLogical)
        archive.value(&isAnnouncedByLogin)
        archive.optional(&loginWaitsSince, .zero) { $0.value(&$1) }
        archive.value(&allowanceSince)
        archive.value(&isDoubtful)
        archive.value(&isToldByHook)
        archive.value(&isAttended)
        archive.value(&isForIdleness)
        archive.list(&killed, "") { $0.value(&$1) }
        archive.value(&clocksShowSleep)
        archive.optional(&kernelCountedSleep, false) { $0.value(&$1) }
        archive.value(&isHandled)
        archive.optional(&formerEnd, .zero) { $0.value(&$1) }
        archive.raw(&echo)
        archive.optional(&echoDue, .zero) { $0.value(&$1) }
    }
}

extension Shutdown {
    mutating func archive(_ archive: inout StateArchive) {
        archive.value(&isAnnounced)
        archive.value(&stopsDaemon)
        archive.optional(&end, .zero) { $0.value(&$1) }
        archive.value(&margin)
        archive.optional(&wave, 0) { $0.value(&$1) }
        archive.optional(&waveEnd, .zero) { $0.value(&$1) }
        archive.value(&isWaveForced)
        archive.value(&isOver)
        archive.value(&isLowBattery)
        archive.optional(&powerOffDue, .zero) { $0.value(&$1) }
    }
}
