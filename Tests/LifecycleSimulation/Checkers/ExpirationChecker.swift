internal import Lifecycle

/// What follows when a background task's time is over.
///
/// - It expires as soon as a limit of its own is over and the app can be called.
/// - The expiration handler of an app that has one is called in the same step, with what is left of the budget; for a
///   limit of the task's own 5 s of that. A task whose own limit is over has ended when the handler has returned, or at
///   once where there is none.
/// - A command that was taken over gets SIGTERM when its budget runs out, once for all of its tasks, and not for what
///   it has begun itself.
/// - Who is killed for a budget was said to overrun it, for the reason that is reported.
final class ExpirationChecker: Checker {
    static let hears: [EventKind]? = [.requested, .handlerReturned]
    static let sees: [EffectKind]? = [.taskChanged, .call, .terminate, .appNotice, .report]

    private static let allowance = Nanoseconds.seconds(5)

    private struct Limit {
        let task: BackgroundTaskID
        let instance: InstanceID
        /// The reading at which it is over, and what was not sure of readings by then.
        let end: Nanoseconds
        let slack: Nanoseconds
        var isOver = false
    }

    private struct Expiry {
        let task: BackgroundTaskView
        let instance: InstanceID
        /// By a limit of its own.
        let isOver: Bool
        var isCalled = false
        var isTerminated = false

        func isWarning(of instance: InstanceID) -> Bool { isTerminated && self.instance == instance }
    }

    private var limits: [Limit] = []
    /// In the step at hand.
    private var expiries: [Expiry] = []
    private var returned: BackgroundTaskID?
    /// Taken over, and asked to end as its budget ran out.
    private var warned: Set<InstanceID> = []
    /// Calls for tasks whose own limit is over.
    private var calls: [(id: CallID, task: BackgroundTaskID)] = []
    private var overruns: [(instance: InstanceID, reason: TerminationReason)] = []

    func heard(_ event: Event, _ scene: Scene) {
        guard case .app(.handlerReturned(let instance, let id)) = event,
            let place = calls.firstIndex(where: { $0.id == id }), scene.chronicle.record(instance)?.call?.id == id
        else { return }
        returned = calls.remove(at: place).task
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .client(.taskChanged(_, let instance, let task, let change)):
            switch change {
            case .began: begin(task, instance, scene)
            case .expiring: expire(task, instance, scene)
            case .ended, .expired, .died: limits.removeAll { $0.task == task.id }
            }
        case .app(.call(let instance, let id, .backgroundTaskWillExpire(let task, _), let deadline)):
            guard let place = expiries.lastIndex(where: { $0.task.id == task }) else { return }
            expiries[place].isCalled = true
            if expiries[place].isOver { calls.append((id, task)) }
            judge(deadline, expiries[place], instance, scene)
        case .process(.terminate(let instance)):
            guard let place = expiries.lastIndex(where: { $0.instance == instance }) else { return }
            if scene.chronicle.isWarning(instance, scene.step), expiries.contains(where: { $0.isWarning(of: instance) })
            {
                violate("\(scene.name(instance)) is asked to end twice as its budget runs out", scene)
            }
            expiries[place].isTerminated = true
            warned.insert(instance)
        case .note(.app(.overrun(_, let instance, let reason))): overruns.append((instance, reason))
        case .report(let end):
            let wasAsked = if case .taskBudgetRanOut = end.reason { true } else { false }
            if end.reason.namespace == .backgroundTask, !wasAsked,
                !overruns.contains(where: { $0.instance == end.instance && $0.reason == end.reason })
            {
                violate("\(scene.name(end.instance)) ended for a budget, and was not said to overrun it", scene)
            }
            overruns.removeAll { $0.instance == end.instance }
        default: break
        }
    }

    private func begin(_ task: BackgroundTaskView, _ instance: InstanceID, _ scene: Scene) {
        guard case .client(.requested(_, .beginBackgroundTask(_, let wish))) = scene.step.event,
            let time = wish.timeAllowed,
            let reading = scene.times.reading(instance, scene)
        else { return }
        limits.append(
            Limit(task: task.id, instance: instance, end: reading + time, slack: scene.times.slack(instance)))
    }

    /// For sure, though all that is not sure was not counted.
    private func isOver(_ limit: Limit, _ scene: Scene) -> Bool {
        guard let reading = scene.times.reading(limit.instance, scene) else { return false }
        return reading - (scene.times.slack(limit.instance) - limit.slack) >= limit.end
    }

    private func expire(_ task: BackgroundTaskView, _ instance: InstanceID, _ scene: Scene) {
        let isInFront = scene.chronicle.record(instance)?.phase != .background
        var isOver = false
        if let place = limits.firstIndex(where: { $0.task == task.id }), task.timeRemaining == .zero {
            isOver = isInFront || self.isOver(limits[place], scene)
            limits[place].isOver = true
        }
        expiries.append(Expiry(task: task, instance: instance, isOver: isOver))
    }

    private func judge(_ deadline: Nanoseconds, _ expiry: Expiry, _ instance: InstanceID, _ scene: Scene) {
        let name = scene.name(instance)
        let isLimited = limits.contains { $0.task == expiry.task.id }
        if expiry.isOver {
            let isInFront = scene.chronicle.record(instance)?.phase != .background
            if deadline > Self.allowance || isInFront && deadline != Self.allowance {
                violate("\(name) is given \(deadline.text) for a task whose own limit is over", scene)
            }
        } else if !isLimited, deadline != expiry.task.timeRemaining {
            violate("\(name) is given \(deadline.text), and has \(expiry.task.timeRemaining?.text ?? "all")", scene)
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        for expiry in expiries { judge(expiry, scene) }
        expiries = []
        if let returned, let record = scene.chronicle.records.last(where: { $0.tasks.contains { $0.id == returned } }),
            scene.isWell(record)
        {
            violate("task \(returned.rawValue) is held though its limit is over and its handler has returned", scene)
        }
        returned = nil
        for limit in limits where !limit.isOver {
            guard let record = scene.chronicle.record(limit.instance), scene.isWell(record),
                scene.isLaunched(record), record.call == nil, !record.isFreezeAsked, isOver(limit, scene)
            else { continue }
            violate("task \(limit.task.rawValue) does not expire though its own limit is over", scene)
        }
    }

    private func judge(_ expiry: Expiry, _ scene: Scene) {
        guard let record = scene.chronicle.record(expiry.instance), scene.isWell(record),
            let policy = scene.board.process(expiry.instance)?.policy
        else { return }
        let name = "task \(expiry.task.id.rawValue) of \(scene.name(expiry.instance))"
        let hasHandler = policy.handlers.contains(.backgroundTaskWillExpire)
        let hasTime = expiry.task.timeRemaining != .zero || expiry.isOver && record.phase != .background
        if expiry.isCalled != hasHandler, expiry.isCalled || hasTime {
            violate("\(name) expires, and its handler is \(hasHandler ? "not " : "")called", scene)
        }
        if expiry.isOver, !expiry.isCalled, record.tasks.contains(where: { $0.id == expiry.task.id }) {
            violate("\(name) is held though its limit is over and there is no handler", scene)
        }
        guard !hasHandler, scene.board.directory.entry(record.app)?.isAdopted == true else { return }
        if !expiry.isOver, !warned.contains(expiry.instance), hasTime {
            violate("\(name) expires, and SIGTERM is not sent", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.expirations, message) }
}
