internal import Lifecycle

/// How an app is ended, and what is written down of it.
///
/// - One that has a handler for it hears willTerminate, and then SIGTERM, unless it said itself that it ends.
/// - An order to end decides what its end is called, whatever its exit looks like.
/// - The report names the phase it was in, and the sleep, if any, under way.
final class EndChecker: Checker {
    static let hears: [EventKind]? = [.requested, .stopping, .handlerReturned, .exited]
    static let sees: [EffectKind]? = [
        .spawn, .call, .terminate, .kill, .freeze, .report, .appNotice, .sleepNotice,
    ]

    private final class Watch {
        let instance: InstanceID
        let handlers: HandlerSet
        var phase: ScenePhase
        var isToldOfEnd = false
        var isAsked = false
        var saysItEnds = false
        /// An operator wants it to end.
        var isOrdered = false

        init(_ instance: InstanceID, _ handlers: HandlerSet, inBackground: Bool) {
            self.instance = instance
            self.handlers = handlers
            phase = inBackground ? .background : .inactive
        }
    }

    private var watches: [Watch] = []
    private var story = SleepStory()
    private var sleep = 0
    /// Whose willTerminate has returned in this step.
    private var returned: InstanceID?
    /// The last willTerminate.
    private var lastCall: (instance: InstanceID, id: CallID)?

    private func watch(_ instance: InstanceID) -> Watch? { watches.first { $0.instance == instance } }

    func heard(_ event: Event, _ scene: Scene) {
        returned = nil
        switch event {
        case .client(.requested(_, .terminate(let app, _))):
            guard let record = scene.chronicle.records.last(where: { $0.app == app }), record.isAlive else { return }
            watch(record.instance)?.isOrdered = true
        case .app(.stopping(let instance)): watch(instance)?.saysItEnds = true
        case .app(.handlerReturned(let instance, let call)):
            guard let record = scene.chronicle.record(instance), record.isAlive, !record.isKillAsked,
                !record.isFreezeAsked, lastCall?.instance == instance, lastCall?.id == call
            else { return }
            returned = instance
            lastCall = nil
        default: break
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .process(.spawn(let app, let instance, _, let inBackground)):
            let handlers = scene.board.directory.entry(app)?.policy.handlers ?? []
            watches.append(Watch(instance, handlers, inBackground: inBackground))
        case .app(.call(let instance, let id, let call, _)):
            guard call.handler == .willTerminate else { return }
            watch(instance)?.isToldOfEnd = true
            lastCall = (instance, id)
        case .process(.terminate(let instance)):
            guard let watch = watch(instance), !scene.chronicle.isWarning(instance, scene.step) else { return }
            if returned == instance { returned = nil }
            if lastCall?.instance == instance { lastCall = nil }
            if watch.handlers.contains(.willTerminate), !watch.isToldOfEnd, !watch.saysItEnds {
                violate("\(scene.name(instance)) is sent SIGTERM, and has not heard willTerminate", scene)
            }
            // A process that was taken over is warned by one, too.
            let isAdopted = scene.chronicle.record(instance)?.reason == .backgroundTask
            if watch.isAsked, !watch.saysItEnds, !isAdopted {
                violate("\(scene.name(instance)) is sent SIGTERM twice", scene)
            }
            watch.isAsked = true
        case .process(.kill(let instance)): if returned == instance { returned = nil }
        case .note(.sleep(.preparing(let id, _))):
            story.see(effect, scene)
            sleep = id
        case .note(.sleep(.released)), .note(.sleep(.ended)), .note(.sleep(.darkWake)): story.see(effect, scene)
        case .note(.app(.phaseChanged(let app, let phase))):
            if let record = scene.chronicle.records.last(where: { $0.app == app }) {
                watch(record.instance)?.phase = phase
            }
        case .report(let end):
            judge(end, scene)
            watches.removeAll { $0.instance == end.instance }
        default: break
        }
    }

    private func judge(_ end: Termination, _ scene: Scene) {
        if returned == end.instance { returned = nil }
        guard let watch = watch(end.instance) else { return }
        let name = scene.name(end.instance)
        if watch.isOrdered {
            switch end.reason.namespace {
            case .exit, .crash, .unknown:
                violate("\(name) was to end, and that is called \(end.reason.namespace)", scene)
            default: break
            }
        }
        if end.reason.namespace == .user, !watch.isOrdered, scene.chronicle.record(end.instance)?.isDoomed == false {
            violate("\(name) was not ended by an operator", scene)
        }
        let duringSleep = story.stage == .awake ? nil : sleep
        if end.sleep != duringSleep {
            violate("\(name) ended in sleep \(duringSleep ?? 0), and not in \(end.sleep ?? 0)", scene)
        }
        if end.phase != watch.phase { violate("\(name) ended in \(watch.phase.name), not in \(end.phase.name)", scene) }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        guard let instance = returned, let record = scene.chronicle.record(instance), record.isAlive else { return }
        violate("\(scene.name(instance)) has returned from willTerminate, and is not sent SIGTERM", scene)
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.ends, message) }
}
