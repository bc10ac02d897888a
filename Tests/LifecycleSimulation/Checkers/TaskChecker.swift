internal import Lifecycle

/// Invariant 4: every begun background task ends exactly once: ended, expired, or died with its app.
///
/// A task begins by a request that is answered with its identifier, in the same step; identifiers are greater than 0
/// and grow. It is `ended` when its app has asked for that, `expired` when its own limit is over or its app was killed
/// for the budget, `died` when its app ends for anything else; nothing is heard of it afterwards. Requests are answered
/// truly, and no app holds more than 64.
final class TaskChecker: Checker {
    static let sees: [EffectKind]? = [.taskChanged, .reply, .report]

    private struct Open {
        let id: BackgroundTaskID
        let instance: InstanceID
        let hasLimit: Bool
    }

    private var open: [Open] = []
    private var last: Int64 = 0
    /// Identifiers that began in this step, and those that were answered.
    private var began: [BackgroundTaskID] = []
    private var answered: [BackgroundTaskID] = []
    private var reported: [(instance: InstanceID, namespace: TerminationNamespace)] = []
    private var adoptions: [(request: RequestID, app: String)] = []
    /// Apps being adopted for a client that does not wait for the answer any more.
    private var abandoned: [String] = []

    func heard(_ event: Event, _ scene: Scene) {
        began = []
        answered = []
        if case .client(.requested(let id, .adopt(let app, _))) = event { adoptions.append((id, app)) }
        if case .client(.abandoned(let id)) = event {
            abandoned += adoptions.filter { $0.request == id }.map(\.app)
            adoptions.removeAll { $0.request == id }
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .client(.taskChanged(let app, let instance, let task, let change)):
            if scene.board.directory.app(of: instance) != app { violate("is another app's", task.id, scene) }
            note(task, change, instance, scene)
        case .client(.reply(let request, let outcome)): judge(request, outcome, scene)
        case .report(let end): reported.append((end.instance, end.reason.namespace))
        default: break
        }
    }

    private func note(_ task: BackgroundTaskView, _ change: TaskChange, _ instance: InstanceID, _ scene: Scene) {
        if change == .began { return begin(task, instance, scene) }
        guard let place = open.firstIndex(where: { $0.id == task.id && $0.instance == instance }) else {
            return violate("is \(change) and not held", task.id, scene)
        }
        let end = reported.first { $0.instance == instance }?.namespace
        switch change {
        case .began: return
        case .expiring:
            if end != nil { violate("expires after its app's end", task.id, scene) }
            return
        case .ended:
            guard case .client(.requested(_, .endBackgroundTask(instance, task.id))) = scene.step.event else {
                violate("is ended, and was not asked to", task.id, scene)
                break
            }
        case .expired:
            if end != .backgroundTask, end != nil || !open[place].hasLimit {
                violate("is expired, and has no limit", task.id, scene)
            }
        case .died: if end == nil || end == .backgroundTask { violate("died and its app did not", task.id, scene) }
        }
        open.remove(at: place)
    }

    private func begin(_ task: BackgroundTaskView, _ instance: InstanceID, _ scene: Scene) {
        if task.id.rawValue <= last { violate("was used before", task.id, scene) }
        last = task.id.rawValue
        let record = scene.chronicle.record(instance)
        if record?.isSpawned != true || record?.isAlive != true { violate("begins in a dead app", task.id, scene) }
        if task.held != .zero { violate("is held as it begins", task.id, scene) }
        var hasLimit = false
        if case .client(.requested(_, .beginBackgroundTask(let asker, let wish))) = scene.step.event {
            hasLimit = wish.timeAllowed != nil
            if asker != instance || wish.name != task.name { violate("is not what was asked for", task.id, scene) }
        }
        began.append(task.id)
        open.append(Open(id: task.id, instance: instance, hasLimit: hasLimit))
        if count(instance) > 64 { violate("is one too many", task.id, scene) }
    }

    private func count(_ instance: InstanceID) -> Int { open.reduce(0) { $0 + ($1.instance == instance ? 1 : 0) } }

    private func judge(_ request: RequestID, _ outcome: RequestOutcome, _ scene: Scene) {
        adoptions.removeAll { $0.request == request }
        switch outcome {
        case .beginBackgroundTask(.begun(let task, _)), .adopt(.begun(let task, _)):
            if !began.contains(task) { violate("is promised and has not begun", task, scene) }
            answered.append(task)
        case .beginBackgroundTask, .adopt, .endBackgroundTask, .app, .sleep, .setLowPower: break
        }
        guard case .client(.requested(request, let asked)) = scene.step.event else { return }
        switch (asked, outcome) {
        case (.beginBackgroundTask(let instance, let wish), .beginBackgroundTask(let outcome)):
            judge(outcome, wish, instance, scene)
        case (.endBackgroundTask(_, let task), .endBackgroundTask(let outcome)):
            // What was held has just ended; what was not must not be confirmed.
            let hasEnded = scene.step.effects.contains {
                if case .client(.taskChanged(_, _, let view, .ended)) = $0 { view.id == task } else { false }
            }
            if outcome != (hasEnded ? .ended : .noSuchTask) { violate("is answered wrongly", task, scene) }
        default: break
        }
    }

    private func judge(
        _ outcome: BeginBackgroundTaskAnswer, _ wish: TaskParameters, _ instance: InstanceID, _ scene: Scene
    ) {
        switch outcome {
        case .denied(let denial): judgeDenial(denial, wish, instance, scene)
        case .begun(let task, let left):
            judgeGrant(task, instance, scene)
            // It is on its way to background, where its budget counts.
            let handler = scene.chronicle.record(instance)?.call?.call.handler
            if left == nil, handler == .didEnterBackground { violate("is told of no limit", task, scene) }
        case .tooMany(let limit):
            if count(instance) < limit { violate("there are not so many tasks", scene) }
        }
    }

    /// What is said against it is so.
    private func judgeDenial(_ denial: Denial, _ wish: TaskParameters, _ instance: InstanceID, _ scene: Scene) {
        guard let record = scene.chronicle.record(instance) else { return }
        if denial == .appEnding, scene.isWell(record) {
            violate("\(scene.name(instance)) is denied a task, and is not being ended", scene)
        }
        if denial == .keepAwakeNotConfigured,
            wish.keepAwake != true || scene.board.directory.entry(record.app)?.policy.keepsAwake == true
        {
            violate("\(scene.name(instance)) is denied what it is configured with", scene)
        }
    }

    private func judgeGrant(_ task: BackgroundTaskID, _ instance: InstanceID, _ scene: Scene) {
        guard let record = scene.chronicle.record(instance) else { return }
        if record.isKillAsked || record.isTerminateAsked || record.call?.call.handler == .willTerminate {
            violate("begins, and its app is being ended", task, scene)
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        if case .client(.requested(_, .endBackgroundTask(let instance, let task))) = step.event,
            open.contains(where: { $0.id == task && $0.instance == instance })
        {
            violate("is still held after its end", task, scene)
        }
        for task in began where !answered.contains(task) {
            if case .process(.spawned(let instance)) = step.event, isAbandoned(instance, scene) { continue }
            violate("has begun, and no client was told", task, scene)
        }
        for task in open where reported.contains(where: { $0.instance == task.instance }) {
            violate("outlives its app", task.id, scene)
        }
        reported = []
    }

    /// An adoption that no client waits for any more begins all the same.
    private func isAbandoned(_ instance: InstanceID, _ scene: Scene) -> Bool {
        guard let app = scene.chronicle.record(instance)?.app else { return false }
        return abandoned.contains(scene.name(app))
    }

    func finished(_ scene: Scene) {
        for task in open where scene.chronicle.record(task.instance).map({ $0.isReported || $0.isGone }) ?? true {
            violate("is held by no app", task.id, scene)
        }
    }

    private func violate(_ what: String, _ task: BackgroundTaskID, _ scene: Scene) {
        violate("task \(task.rawValue) \(what)", scene)
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.taskEnded, message) }
}
