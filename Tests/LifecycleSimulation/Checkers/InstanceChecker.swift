internal import Lifecycle

/// At most one live instance of an app: it is spawned again when nothing of the last instance is left, or when what is
/// left cannot be killed, has been named, and is not the main process.
///
/// Instance and call identifiers are never used twice; nothing is done to instances that are not there; groups are
/// cleared once, after the main process has gone.
final class InstanceChecker: Checker {
    static let hears: [EventKind]? = []
    static let sees: [EffectKind]? = [.spawn, .call, .terminate, .kill, .clear, .freeze, .thaw, .reportStuck]

    private var lastInstance = Int64.min
    private var lastCall = Int64.min
    private var named: Set<Int64> = []
    private var cleared: Set<Int64> = []

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .process(.spawn(let app, let instance, _, _)):
            if instance.rawValue <= lastInstance { violate("#\(instance.rawValue) was used before", scene) }
            lastInstance = instance.rawValue
            for record in scene.chronicle.records where record.app == app && !record.isGone {
                if record.status != nil, named.contains(record.instance.rawValue) { continue }
                violate("\(scene.name(app)) is spawned beside #\(record.instance.rawValue)", scene)
            }
        case .app(.call(let instance, let call, _, _)):
            if call.rawValue <= lastCall { violate("call \(call.rawValue) was used before", scene) }
            lastCall = call.rawValue
            expect(instance, "called", scene)
        case .process(.terminate(let instance)): expect(instance, "terminated", scene)
        // A start that was given up: should it come up after all.
        case .process(.kill(let instance)) where scene.chronicle.record(instance)?.isGivenUp == true: break
        case .process(.kill(let instance)): expect(instance, "killed", scene)
        case .process(.freeze(let instance)), .process(.thaw(let instance)):
            // The clocks come first: a sleep may end in the step that brings the news of its death.
            if case .process(.exited(instance, _)) = scene.step.event { return }
            expect(instance, "frozen or thawed", scene)
        case .process(.clear(let instance)):
            let record = scene.chronicle.record(instance)
            if record?.status == nil, record?.isGivenUp != true { violate("\(scene.name(instance)) still runs", scene) }
            if !cleared.insert(instance.rawValue).inserted { violate("cleared twice", scene) }
        case .process(.reportStuck(let instance, _)): named.insert(instance.rawValue)
        case .login, .sleep, .report, .client, .app(.inform), .app(.giveUp), .note, .board, .memory, .watchdog,
            .stopDaemon:
            break
        }
    }

    private func expect(_ instance: InstanceID, _ what: String, _ scene: Scene) {
        guard let record = scene.chronicle.record(instance), record.isSpawned, record.isAlive else {
            return violate("\(scene.name(instance)) does not run and is \(what)", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.oneInstance, message) }
}
