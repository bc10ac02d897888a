internal import Lifecycle

/// What can be seen of an app and of the board's sleeps is what was heard and done.
///
/// Looks only at what the step at hand is about, and at all apps when nothing is under way.
final class ViewChecker: Checker {
    static let hears: [EventKind]? = [.frozen, .exited, .stopping]
    static let sees: [EffectKind]? = [
        .spawn, .call, .terminate, .kill, .freeze, .thaw, .report, .appNotice, .sleepNotice, .endNotice,
    ]

    private var story = SleepStory()
    private var sleep = 0
    private var ends: [(app: AppID, end: Termination)] = []
    private var isStopping: [InstanceID] = []
    private var saysItEnds: [InstanceID] = []
    // In this step.
    private var touched: [InstanceID] = []
    private var isAboutBoard = false

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .process(.frozen(let instance)), .process(.exited(let instance, _)): touched.append(instance)
        case .app(.stopping(let instance)):
            touched.append(instance)
            // Whether it is heeded depends on where the core is with it.
            saysItEnds.append(instance)
        default: break
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .process(.spawn(let app, let instance, let reason, _)):
            touched.append(instance)
            // What is taken over under the name of a former app has no past.
            if reason == .backgroundTask { ends.removeAll { $0.app == app } }
        case .process(.freeze(let instance)), .process(.thaw(let instance)), .process(.kill(let instance)):
            touched.append(instance)
        case .app(.call(let instance, _, let call, _)):
            touched.append(instance)
            if call.handler == .willTerminate { isStopping.append(instance) }
        case .process(.terminate(let instance)):
            touched.append(instance)
            if !scene.chronicle.isWarning(instance, scene.step) {
                isStopping.append(instance)
            } else if scene.step.beginsEnd {
                saysItEnds.append(instance)
            }
        case .report(let end):
            touched.append(end.instance)
            ends.removeAll { $0.app == end.app }
            ends.append((end.app, end))
        case .note(let notice):
            story.see(effect, scene)
            isAboutBoard = true
            if case .sleep(.preparing(let id, _)) = notice { sleep = id }
            if case .app(.phaseChanged(let app, _)) = notice,
                let record = scene.chronicle.records.last(where: { $0.app == app })
            {
                touched.append(record.instance)
            }
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        if !touched.isEmpty {
            for instance in touched { judge(instance, scene) }
            touched = []
        }
        guard isAboutBoard else { return }
        isAboutBoard = false
        let device = scene.board.core.device
        let state: SleepState =
            switch story.stage {
            case .awake: .awake
            case .preparing: .preparing
            case .asleep: .asleep
            case .dark: .darkWake
            }
        if device.sleepState != state {
            violate("the board is said to be \(device.sleepState), and is \(state)", scene)
        }
        if sleep != 0, device.sleep != sleep { violate("sleep \(sleep) is said to be \(device.sleep)", scene) }
        if device.isShuttingDown != scene.chronicle.isEnding { violate("it is not right about a shutdown", scene) }
    }

    private func judge(_ instance: InstanceID, _ scene: Scene) {
        guard let record = scene.chronicle.record(instance), let view = scene.board.core.view(of: record.app),
            scene.chronicle.records.last(where: { $0.app == record.app }) === record
        else { return }
        let name = scene.name(instance)
        if let end = ends.first(where: { $0.app == record.app })?.end, view.lastTermination != end,
            scene.board.directory.entry(record.app)?.isAdopted == false
        {
            violate("the last end of \(scene.name(record.app)) is not what can be seen", scene)
        }
        guard !record.isGone, !record.isGivenUp, view.instance == instance else {
            if record.isAlive, record.isSpawned, !record.isReported {
                violate("\(name) runs, and cannot be seen", scene)
            }
            return
        }
        let isEnding = record.isKillAsked || record.status != nil || isStopping.contains(instance)
        let state: TaskState = isEnding ? .terminating : record.isFrozenHeard ? .suspended : .running
        if view.taskState != state, isEnding || !saysItEnds.contains(instance) {
            violate("\(name) is said to be \(view.taskState), and is \(state)", scene)
        }
        if view.phase != record.phase { violate("\(name) is said to be in another phase", scene) }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.views, message) }
}
