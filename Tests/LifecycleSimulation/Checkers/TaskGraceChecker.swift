internal import Lifecycle

/// Held background tasks put the release of the sleep lock off by `task-grace` and no more, and they have that time.
///
/// It is counted from the first moment at which nothing else holds the release up: every app is frozen, gone or named,
/// but for those that are ready in background and hold tasks (or are in an expiration handler), and servers that are to
/// be frozen after them. When it is over, one of them is being frozen, or the board may sleep; and the core has
/// asked to be woken for that. Before, none of them is frozen within the allowance.
final class TaskGraceChecker: Checker {
    static let hears: [EventKind]? = [
        .configured, .prepareForSleep, .preparingForSleep, .loginAvailable, .lockTaken, .requested,
    ]
    static let sees: [EffectKind]? = [.sleepNotice, .appNotice, .reportStuck, .thaw, .freeze, .report]

    private var isPreparing = false
    private var grace = Nanoseconds.zero
    /// The end of the grace, from when surely nothing else was waited for.
    private var end: Nanoseconds?
    /// The same, from when perhaps nothing else was.
    private var earliestEnd: Nanoseconds?
    /// Until then the allowance is surely not over; nil: something may have cut it short.
    private var allowanceEnd: Nanoseconds?
    private var named: [InstanceID] = []
    /// Their launch has held up a sleep, and may not be waited for again.
    private var heldUp: Set<AppID> = []

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .configured(_, let device):
            grace = device.taskGrace
            // Whichever of the two counts, if it is not known to have begun.
            earliestEnd = .zero
            if end == nil { end = .max }
        case .login(.prepareForSleep), .login(.preparingForSleep), .login(.available), .login(.lockTaken(.sleep)),
            .client(.requested(_, .sleep)):
            allowanceEnd = nil
        default: break
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .note(.sleep(.preparing(_, let allowance))):
            isPreparing = true
            named = []
            end = nil
            earliestEnd = nil
            allowanceEnd = self.end(of: allowance, scene)
        case .note(.sleep(.released)), .note(.sleep(.ended)): isPreparing = false
        case .note(.app(.heldUpSleep(let app))): heldUp.insert(app)
        case .process(.reportStuck(let instance, _)): named.append(instance)
        case .process(.thaw(let instance)): named.removeAll { $0 == instance }
        case .process(.freeze(let instance)):
            named.removeAll { $0 == instance }
            // It was frozen before, and let go of a lock.
            if scene.step.event == .login(.appHoldsLock(instance)) { return }
            guard isPreparing, let record = scene.chronicle.record(instance), isHeldByTasks(record, scene),
                let allowanceEnd, scene.now < allowanceEnd, scene.now < earliestEnd ?? .max
            else { return }
            violate("\(scene.name(instance)) is frozen before its tasks had their time", scene)
        case .report(let end): named.removeAll { $0 == end.instance }
        default: break
        }
    }

    private func end(of allowance: Nanoseconds, _ scene: Scene) -> Nanoseconds? {
        // Under a second every app is frozen at once.
        if allowance < .seconds(1) { return nil }
        switch scene.step.event {
        case .login(.prepareForSleep(true, _, let signalled)): return min(signalled, scene.now) + allowance
        case .client(.requested(_, .sleep)): return scene.now + allowance
        default: return nil
        }
    }

    private func isReady(_ record: InstanceRecord, _ scene: Scene) -> Bool {
        scene.isWell(record) && scene.isLaunched(record) && record.phase == .background && !record.isFreezeAsked
            && (record.call == nil || record.call?.call.handler == .backgroundTaskWillExpire)
    }

    /// It surely keeps the others waiting.
    private func isBusy(_ record: InstanceRecord, _ scene: Scene) -> Bool {
        scene.isWell(record) && !record.isFreezeAsked && !isReady(record, scene)
            && (scene.isLaunched(record) || !heldUp.contains(record.app))
    }

    private func isHeldByTasks(_ record: InstanceRecord, _ scene: Scene) -> Bool {
        isReady(record, scene) && (!record.tasks.isEmpty || record.call != nil)
    }

    private func isSettled(_ record: InstanceRecord, _ scene: Scene) -> Bool {
        if record.isGone { return true }
        // What is being killed or cleared is waited for, frozen or not.
        guard record.isAlive, !record.isKillAsked else { return false }
        if record.isFrozenHeard || record.isFreezeAsked && named.contains(record.instance) { return true }
        let suspends = scene.board.directory.entry(record.app)?.policy.suspend ?? true
        return !(suspends && scene.chronicle.isFreezingAvailable) && isReady(record, scene)
    }

    func stepped(_ step: Step, _ scene: Scene) {
        guard isPreparing else { return }
        if earliestEnd == nil, !scene.chronicle.records.contains(where: { isBusy($0, scene) }) {
            earliestEnd = scene.now + grace
        }
        let holders = scene.chronicle.records.filter { isHeldByTasks($0, scene) }
        let others = scene.chronicle.records.filter { record in
            !isSettled(record, scene) && !isReady(record, scene)
        }
        guard !holders.isEmpty, others.isEmpty else { return }
        if let end, scene.now >= end { return violate("the sleep waits for tasks after their grace", scene) }
        let end = end ?? scene.now + grace
        self.end = end
        if step.asksNow?.at ?? .max > end { violate("nothing is due when the grace is over", scene) }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.taskGrace, message) }
}
