/// When the pools of apps that are never in front were filled: becoming active is what fills those of all others.
struct PoolRefills: Equatable {
    /// BOOTTIME of the last time; nil: the daemon has not begun.
    var filledAt: Nanoseconds?
    /// BOOTTIME of the last time that external power did it.
    var poweredAt: Nanoseconds?

    mutating func archive(_ archive: inout StateArchive) {
        archive.optional(1, &filledAt, .zero) { $0.value(1, &$1) }
        archive.optional(2, &poweredAt, .zero) { $0.value(1, &$1) }
    }
}

extension DeviceLifecycle {
    /// BOOTTIME.
    static let refillInterval = Nanoseconds.seconds(86_400)
    /// A sleep of this length fills pools, too.
    static let refillingSleep = Nanoseconds.seconds(1800)
    static let powerRefillInterval = Nanoseconds.seconds(3600)

    /// A day is over. No alarm is needed: only an app that asks for time has to find it.
    mutating func judgePools() {
        guard isStarted else { return }
        guard let filled = poolRefills.filledAt else {
            poolRefills.filledAt = now.boottime
            return
        }
        if now.boottime - filled >= Self.refillInterval { refillPools() }
    }

    mutating func refillPoolsForPower() {
        if let last = poolRefills.poweredAt, now.boottime - last < Self.powerRefillInterval { return }
        poolRefills.poweredAt = now.boottime
        refillPools()
    }

    /// The whole budget: the app could not choose the moment.
    mutating func refillPools() {
        poolRefills.filledAt = now.boottime
        for index in apps.indices where !apps[index].hasBeenActive && !apps[index].isAdopted && apps[index].pool != nil
        {
            apps[index].stopPool(at: now.monotonic)
            apps[index].fillPool(isLowPower: conditions.isLowPower)
            apps[index].instance?.tasks.forgetWarnings()
            touch(index)
        }
    }
}
