/// What the freezer of an app was told, beside what the core has asked for.
extension Checks {
    /// Of what may hold one: 2 s, and what the loop may be late by.
    private static let longestExcuse: Int64 = 2_500_000_000

    func judgeFreezer(_ record: InstanceRecord) {
        guard let group = record.group, !group.isRemoved, let wanted = record.wantsFrozen, !record.isKillAsked,
            record.endsTold == 0, !struck(.groupWrite, .open, .watch)
        else { return }
        if wanted, !group.wantsFrozen, isExcused(record, group) { return }
        if group.wantsFrozen != wanted {
            complain("\(record.app) is to be \(wanted ? "frozen" : "thawed"), and is not")
        }
        if wanted, group.isFrozen, !record.isFrozenTold {
            complain("\(record.app) is frozen, and the core is not told")
        }
    }

    /// Whatever fails on the way: what runs again gets the processor in the end.
    func judgeThaw(_ record: InstanceRecord) {
        guard let group = record.group, record.wantsFrozen == false, group.wantsFrozen, group.isPopulated else {
            record.stuckFrozenSince = nil
            return
        }
        let since = record.stuckFrozenSince ?? kernel.clock.monotonic
        record.stuckFrozenSince = since
        if kernel.clock.monotonic - since > 30_000_000_000 {
            complain("\(record.app) is to be thawed, and stays frozen")
        }
    }

    /// Asked for by an earlier event, and done now. It is owed no more.
    func isLateFreeze(_ record: InstanceRecord) -> Bool {
        let isOwed = record.isFreezeOwed
        record.isFreezeOwed = false
        return isOwed && !order.wants(.freeze, record.instance)
    }

    /// An app that holds a lock of its own on sleep is frozen when it has let go.
    private func isExcused(_ record: InstanceRecord, _ group: PlayedGroup) -> Bool {
        guard let locks = kernel.loop.world?.login.appLocks else { return false }
        if locks.isHolder(group) { return true }
        return locks.isAsked && kernel.clock.monotonic - record.frozenWantedAt < Self.longestExcuse
    }
}
