// What does not hold of an organ's own state.

extension Instance {
    var fault: Fault? {
        if call != nil, !isAlive { return .callOfTheDead }
        if stage == .spawning, !tasks.isEmpty { return .strangeTasks }
        if let fault = tasks.fault { return fault }
        if stage == .stopping, stop == nil { return .endWithoutOrder }
        if stop?.exitDue != nil, stage == .spawning || stage == .running { return .endWithoutOrder }
        if stage == .killing, cause == nil, stop == nil { return .killWithoutCause }
        if stage == .spawning, freezer != .thawed { return .frozenWithoutReason }
        if isAlive, freezer != .thawed, freezeReasons.isEmpty { return .frozenWithoutReason }
        if isAlive, clock.isStopped != (freezer != .thawed) { return .clockAgainstFreezer }
        if phase == .active, !isLaunched { return .frontBeforeLaunch }
        if tasks.poolEnd != nil, phase == .active { return .budgetInFront }
        return nil
    }
}

extension HeldTasks {
    var fault: Fault? {
        if all.count > Self.limit { return .strangeTasks }
        for place in all.indices.dropFirst() where all[place].id.rawValue <= all[place - 1].id.rawValue {
            return .strangeTasks
        }
        return nil
    }
}

extension App {
    var fault: Fault? {
        if isRetired, !hasInstance, isLaunchPlanned { return .launchOfRetired }
        if let pool, pool.left < .zero || pool.left > pool.size { return .budgetOutOfRange }
        if adoption != nil, instance?.isAlive == true { return .adoptionOfWhatRuns }
        return nil
    }
}

extension Sleep {
    var fault: Fault? {
        if let preparation,
            !(allowanceSince <= preparation.allowanceEnd && preparation.allowanceEnd <= preparation.release
                && preparation.orderEndsAt <= preparation.release)
        {
            return .sleepTimesOutOfOrder
        }
        if !isUp, echoDue != nil { return .questionInSleep }
        return nil
    }
}

extension Shutdown {
    var fault: Fault? {
        if !isRunning, wave != nil || waveEnd != nil { return .shutdownLeftovers }
        if powerOffDue != nil, !isLowBattery { return .shutdownLeftovers }
        return nil
    }
}
