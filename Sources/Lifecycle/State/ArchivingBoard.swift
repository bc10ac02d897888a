// The part of the state that is about the board itself.

extension Conditions {
    mutating func archive(_ archive: inout StateArchive) {
        archive.value(&session.users)
        archive.value(&session.isLocked)
        archive.value(&session.isIdle)
        archive.value(&isLidClosed)
        external.archive(&archive)
        charge.archive(&archive)
        archive.list(&zones, HeatZone(zone: 0, temperature: LastKnown())) { $1.archive(&$0) }
        archive.value(&isUnderVoltage)
        archive.value(&isNetworkUp)
        var set = Int(present.rawValue)
        archive.value(&set)
        if set >> Condition.allCases.count != 0 { return archive.fail() }
        present = ConditionSet(rawValue: UInt16(set))
        limit.archive(&archive)
        saving.archive(&archive)
        supply.archive(&archive)
        level.archive(&archive)
        voltage.archive(&archive)
        heat.archive(&archive)
        rest.archive(&archive)
        restWish.archive(&archive)
        archive.optional(&userLowPower, false) { $0.value(&$1) }
        archive.optional(&criticalSince, .zero) { $0.value(&$1) }
        archive.optional(&nextThermalKill, .zero) { $0.value(&$1) }
        archive.optional(&pollInterval, .zero) { $0.value(&$1) }
        archive.optional(&pollDue, .zero) { $0.value(&$1) }
        archive.value(&toldLevel)
        archive.optional(&lastExternal, false) { $0.value(&$1) }
    }
}
