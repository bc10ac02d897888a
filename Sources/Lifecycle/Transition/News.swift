/// What an app has still to be told of the board, and what it was told last: of each kind the latest word.
struct News: Equatable {
    private var warning: MemoryLevel?
    /// `Conditions.powerFingerprint`.
    private var knownPower = 0
    private var knownHeat = ThermalState.nominal
    /// MONOTONIC: until then nothing more is heard of its own memory limit; nil: it is listened to.
    private(set) var limitQuietEnd: Nanoseconds?

    init() {}

    /// It starts now: what it finds is no news.
    init(knowing conditions: Conditions) {
        knownPower = conditions.powerFingerprint
        knownHeat = conditions.thermalState
    }

    var isWarnedOfMemory: Bool { warning != nil }

    mutating func warn(_ level: MemoryLevel) { warning = level }

    /// Its own limit, where the kernel says so a hundred times a second. Returns whether that is news.
    mutating func reachedLimit(quietUntil end: Nanoseconds) -> Bool {
        guard limitQuietEnd == nil else { return false }
        warning = .warning
        limitQuietEnd = end
        return true
    }

    /// Returns whether its limit is listened to again from now on.
    mutating func endQuiet(at now: Nanoseconds) -> Bool {
        guard let end = limitQuietEnd, end <= now else { return false }
        limitQuietEnd = nil
        return true
    }

    /// What it is told next, and knows then; nil: nothing.
    mutating func next(_ conditions: borrowing Conditions) -> Information? {
        if let level = warning {
            warning = nil
            return .didReceiveMemoryWarning(level)
        }
        if knownPower != conditions.powerFingerprint {
            knownPower = conditions.powerFingerprint
            return .powerStateDidChange(
                externalPower: conditions.lastExternal ?? true, batteryLevel: conditions.batteryLevel,
                lowPowerMode: conditions.isLowPower)
        }
        if knownHeat != conditions.thermalState {
            knownHeat = conditions.thermalState
            return .thermalStateDidChange(knownHeat)
        }
        return nil
    }

    mutating func archive(_ archive: inout StateArchive) {
        archive.optional(1, &warning, .warning) { $0.raw(1, &$1) }
        archive.value(2, &knownPower)
        archive.raw(3, &knownHeat)
        archive.optional(4, &limitQuietEnd, .zero) { $0.value(1, &$1) }
    }
}
