internal import Lifecycle

/// Processes that another program has started and hands over: each an app of its own for as long as it runs, started
/// once, with one task and its own budget, and gone with its end.
final class AdoptionChecker: Checker {
    static let hears: [EventKind]? = [.requested, .requestAbandoned, .exited, .killedForMemory]
    static let sees: [EffectKind]? = [.spawn, .reply, .report, .appNotice, .sleepNotice, .taskChanged]

    private struct Adoption {
        let request: RequestID
        let name: String
        let wish: TaskParameters
        var app: AppID?
        var instance: InstanceID?
        var isAnswered = false
        var end: Termination?
    }

    private var adoptions: [Adoption] = []
    private var story = SleepStory()
    private var isNew = false
    private var wasThere = false
    private var mayBeThere = false
    private var wasEnding = false
    /// Their budget's end was said to them.
    private var warned: [(instance: InstanceID, task: BackgroundTaskID)] = []
    private var killedForMemory: [InstanceID] = []
    /// In the step at hand: how it has to be recorded; nil where that is not sure.
    private var exit: (instance: InstanceID, namespace: TerminationNamespace, code: UInt64?)?

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .client(.requested(let id, .adopt(let name, let wish))):
            isNew = true
            adoptions.append(Adoption(request: id, name: name, wish: wish, app: scene.board.core.id(of: name)))
            let records = scene.chronicle.records.filter { scene.name($0.app) == name }
            mayBeThere = !records.isEmpty
            wasThere =
                scene.board.directory.entries.contains { $0.isConfigured && $0.policy.name == name }
                || records.contains { $0.isAlive && !$0.isReported }
            wasEnding = scene.chronicle.isEnding
        case .client(.abandoned(let id)):
            for index in adoptions.indices where adoptions[index].request == id { adoptions[index].isAnswered = true }
        case .memory(.killed(let instance, _)): killedForMemory.append(instance)
        case .process(.exited(let instance, let status)): noteExit(instance, status, scene)
        default: break
        }
    }

    private func noteExit(_ instance: InstanceID, _ status: ExitStatus, _ scene: Scene) {
        guard let record = scene.chronicle.record(instance), isAdopted(record.app, scene), scene.isWell(record),
            record.status == nil, !record.isReported, status != .signalled(9), !killedForMemory.contains(instance)
        else { return }
        if record.tasks.contains(where: { task in warned.contains { $0.instance == instance && $0.task == task.id } }) {
            exit = (instance, .backgroundTask, 0x2182_bad2)
            return
        }
        switch status {
        case .unknown: exit = (instance, .exit, 0)
        case .exited(let code): exit = (instance, .exit, UInt64(UInt32(bitPattern: code)))
        case .signalled: exit = (instance, .crash, nil)
        case .withLoop: exit = (instance, .unknown, 0)
        }
    }

    private func isAdopted(_ app: AppID, _ scene: Scene) -> Bool {
        scene.board.directory.entry(app)?.isAdopted == true
    }

    func did(_ effect: Effect, _ scene: Scene) {
        story.see(effect, scene)
        switch effect {
        case .process(.spawn(let app, let instance, let reason, let background)):
            if isAdopted(app, scene) { spawn(app, instance, reason, background, scene) }
        case .client(.reply(let request, .adopt(let outcome))): judge(request, outcome, scene)
        case .report(let end): note(end, scene)
        case .note(.app(.restartScheduled(let app, _))):
            if isAdopted(app, scene) { violate("\(scene.name(app)) is to be restarted, and is a task", scene) }
        case .client(.taskChanged(let app, let instance, let task, let change)):
            guard isAdopted(app, scene) else { return }
            if change == .expiring { warned.append((instance, task.id)) }
            if change == .began { judge(task, instance, scene) }
        default: break
        }
    }

    private func spawn(
        _ app: AppID, _ instance: InstanceID, _ reason: LaunchReason, _ background: Bool, _ scene: Scene
    ) {
        guard let place = adoptions.lastIndex(where: { $0.app == app && $0.instance == nil }) else {
            return violate("\(scene.name(app)) is started again", scene)
        }
        adoptions[place].instance = instance
        if reason != .backgroundTask || !background {
            violate("\(scene.name(app)) is started as \(reason), and is a task", scene)
        }
    }

    private func judge(_ request: RequestID, _ outcome: AdoptAnswer, _ scene: Scene) {
        guard let place = adoptions.firstIndex(where: { $0.request == request }) else { return }
        adoptions[place].isAnswered = true
        let adoption = adoptions[place]
        switch outcome {
        case .begun(_, let left):
            if scene.step.effects.contains(where: { if case .note(.board(.lowPowerMode)) = $0 { true } else { false } })
            {
                return
            }
            // A reload may have configured its name by now: then it has the app's budget.
            let entry = adoption.app.flatMap { scene.board.directory.entry($0) }
            let policy = entry?.isConfigured == true ? entry?.policy : nil
            let own = adoption.wish.timeAllowed ?? AppPolicy(name: adoption.name).taskBudget
            let budget = policy?.taskBudget ?? own
            let size = scene.conditions.isLowPower ? min(budget, .seconds(30)) : budget
            guard left != size else { return }
            violate("\(adoption.name) is told of \(left?.text ?? "no limit"), not \(size.text)", scene)
        case .ended(let end):
            if adoption.end != end { violate("\(adoption.name) is said to have ended, and has not so", scene) }
        case .denied:
            if adoption.end != nil { violate("\(adoption.name) has ended, and its end is not told", scene) }
            adoptions.remove(at: place)
            if isNew, !wasThere, !mayBeThere, !wasEnding, story.former == .awake, story.stage == .awake {
                violate("\(adoption.name) is denied, and nothing stands against it", scene)
            }
        }
    }

    private func judge(_ task: BackgroundTaskView, _ instance: InstanceID, _ scene: Scene) {
        guard case .process(.spawned(instance)) = scene.step.event,
            let adoption = adoptions.last(where: { $0.instance == instance })
        else { return }
        if task.name != adoption.wish.name || task.keepAwake != (adoption.wish.keepAwake ?? false) {
            violate("\(adoption.name) begins another task than was asked for", scene)
        }
    }

    private func note(_ end: Termination, _ scene: Scene) {
        if let exit, exit.instance == end.instance, end.reason.namespace != exit.namespace || !isCode(end, exit.code) {
            violate("\(scene.name(end.instance)) ended as \(end.reason.namespace), and it was another end", scene)
        }
        warned.removeAll { $0.instance == end.instance }
        killedForMemory.removeAll { $0 == end.instance }
        guard let place = adoptions.firstIndex(where: { $0.instance == end.instance }) else { return }
        adoptions[place].end = end
        if adoptions[place].isAnswered { adoptions.remove(at: place) }
    }

    private func isCode(_ end: Termination, _ code: UInt64?) -> Bool { code.map { $0 == end.reason.code } ?? true }

    func stepped(_ step: Step, _ scene: Scene) {
        if isNew, let adoption = adoptions.last, case .client(.requested(adoption.request, _)) = step.event {
            judge(adoption, scene)
        }
        story.hear()
        isNew = false
        exit = nil
    }

    /// It was not denied.
    private func judge(_ adoption: Adoption, _ scene: Scene) {
        if wasThere { violate("\(adoption.name) is taken over, and is there already", scene) }
        if wasEnding { violate("\(adoption.name) is taken over as all apps are to end", scene) }
        if story.former == .preparing || story.former == .asleep, story.stage == story.former, !story.hasBegun {
            violate("\(adoption.name) is taken over asleep", scene)
        }
        if story.former == .dark, story.stage == .dark { violate("the wake stays dark for \(adoption.name)", scene) }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.adoptions, message) }
}
