internal import Lifecycle

/// Invariant 9: every end is recorded exactly once, before anything is restarted.
///
/// An end that is heard is reported in the same step, with the right app, uptime and a reason that fits what happened:
/// a watchdog only where the core killed, an exit or a crash only as the kernel said. Nothing else is reported, nothing
/// twice, and no app is spawned while an end of it is unreported.
final class RecordChecker: Checker {
    static let hears: [EventKind]? = [.spawned]
    static let sees: [EffectKind]? = [.spawn, .report]

    private var reported: Set<Int64> = []
    private var startedAt: [Int64: Nanoseconds] = [:]

    func heard(_ event: Event, _ scene: Scene) {
        if case .process(.spawned(let instance)) = event { startedAt[instance.rawValue] = scene.now }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .process(.spawn(let app, let instance, _, _)):
            startedAt[instance.rawValue] = scene.now
            if let other = scene.chronicle.records.first(where: { $0.app == app && !$0.isReported }) {
                violate(
                    "\(scene.name(app)) is spawned before the end of #\(other.instance.rawValue) is recorded", scene)
            }
        case .report(let end): judge(end, scene)
        case .app, .process(.terminate), .process(.kill), .process(.clear), .process(.freeze), .process(.thaw),
            .process(.reportStuck), .login, .sleep, .client, .note, .board, .memory, .watchdog, .stopDaemon:
            break
        }
    }

    private func judge(_ end: Termination, _ scene: Scene) {
        let name = scene.name(end.instance)
        guard reported.insert(end.instance.rawValue).inserted else {
            return violate("\(name) is recorded twice", scene)
        }
        guard let record = scene.chronicle.record(end.instance) else { return violate("\(name) never was", scene) }
        if record.app != end.app { violate("\(name) is recorded for another app", scene) }
        // Its start was not answered, and it is given up and killed.
        if !record.isSpawned, !record.spawnFailed, scene.step.effects.contains(.process(.kill(end.instance))) { return }
        guard record.spawnFailed || record.status != nil else { return violate("\(name) has not ended", scene) }
        if let start = startedAt[end.instance.rawValue], end.uptime != scene.now - start {
            violate("\(name): uptime \(end.uptime.text) and not \((scene.now - start).text)", scene)
        }
        let code = Int32(truncatingIfNeeded: Int64(bitPattern: end.reason.code))
        switch end.reason.namespace {
        case .watchdog, .backgroundTask:
            // A process that was taken over is asked first: the task budget's checker knows whether it was.
            let isAsked = record.reason == .backgroundTask
            if !record.isKillAsked, !isAsked { violate("\(name): its time was over, and it was not killed", scene) }
        // Its parent alone hears how a process that was taken over has ended.
        case .exit where record.reason == .backgroundTask && record.status == .unknown: break
        case .exit: if record.status != .exited(code) { violate("\(name): did not exit with \(code)", scene) }
        case .crash: if record.status != .signalled(code) { violate("\(name): did not die of signal \(code)", scene) }
        case .unknown: if record.status != .unknown { violate("\(name): its end is known", scene) }
        case .launchFailure: if !record.spawnFailed { violate("\(name): was launched", scene) }
        case .user, .shutdown: break
        // Who decided that is the matter of checkers of their own.
        case .jetsam, .thermal, .lowBattery: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        for record in scene.chronicle.records where !record.isReported && (record.spawnFailed || record.status != nil) {
            violate("the end of \(scene.name(record.instance)) is not recorded", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.recordedOnce, message) }
}
