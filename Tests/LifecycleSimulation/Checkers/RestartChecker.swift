internal import Lifecycle

/// Restarts follow the policy: only after ends it names, never sooner than the growing delay, never more often in a row
/// than the limit.
///
/// Restarts are counted here from the spawns. Whatever may forgive an app begins a new count: a request for it, a
/// reload, a shutdown that may be cancelled, an uptime of `restart-reset`.
final class RestartChecker: Checker {
    static let hears: [EventKind]? = [
        .configured, .prepareForShutdown, .loginAvailable, .requested, .stopRequested, .spawned,
    ]
    static let sees: [EffectKind]? = [.appNotice, .endNotice, .report, .spawn, .reply]

    private struct Count {
        let app: AppID
        /// Those heard of before its last spawn.
        var shutdowns = 0
        var restarts = 0
        var lastEnd: Termination?
        var endedAt = Nanoseconds.zero
        /// At some moment since then the board was not short of memory, nor too hot.
        var wasWell = false
        /// It was there for long enough to be forgiven, and could not run for so long.
        var wasHeldUp = false
    }

    private var counts: [Count] = []
    private var shutdowns = 0
    private var delays = RestartDelays()
    private var owed = OwedRestarts()
    /// Apps that an operator has ended, and nothing has asked for since.
    private var endedByOperator: [AppID] = []

    private func index(_ app: AppID) -> Int {
        if let index = counts.firstIndex(where: { $0.app == app }) { return index }
        counts.append(Count(app: app, shutdowns: shutdowns))
        return counts.count - 1
    }

    func heard(_ event: Event, _ scene: Scene) {
        delays.hear(event, scene)
        owed.hear(event, scene)
        hearOperator(event)
        switch event {
        case .configured: counts = counts.map { Count(app: $0.app, shutdowns: $0.shutdowns) }
        case .login(.prepareForShutdown), .login(.available), .stopRequested: shutdowns += 1
        case .client(.requested(_, .launch(let app, _))), .client(.requested(_, .activate(let app))),
            .client(.requested(_, .background(let app))),
            .client(.requested(_, .terminate(let app, _))):
            counts[index(app)] = Count(app: app, shutdowns: counts[index(app)].shutdowns)
        case .started, .freezing, .timePassed, .process, .app, .login(.unavailable), .login(.lockTaken),
            .login(.lockRefused),
            .login(.prepareForSleep), .login(.preparingForSleep), .sleep, .login(.suspendRefused),
            .login(.powerOffRefused), .login(.appHoldsLock), .login(.appReleasedLock), .login(.appFillsLocks), .board,
            .memory, .watchdog,
            .client:
            break
        }
    }

    private func hearOperator(_ event: Event) {
        switch event {
        case .configured: endedByOperator = []
        case .client(.requested(_, .terminate(let app, _))): endedByOperator.append(app)
        case .client(.requested(_, .launch(let app, _))), .client(.requested(_, .activate(let app))),
            .client(.requested(_, .background(let app))):
            endedByOperator.removeAll { $0 == app }
        default: break
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        if let problem = delays.see(effect, scene) { violate(problem, scene) }
        owed.see(effect, wasStable: delays.wasStable(in: scene.step), scene)
        if case .note(.shutdown(.criticalBattery)) = effect { shutdowns += 1 }
        if case .report(let end) = effect {
            let index = index(end.app)
            guard let policy = scene.board.directory.entry(end.app)?.policy else { return }
            if scene.times.longest(end.instance) >= policy.restartReset {
                counts[index].restarts = 0
                counts[index].wasHeldUp = false
            } else if end.uptime >= policy.restartReset {
                counts[index].wasHeldUp = true
            }
            counts[index].lastEnd = end
            counts[index].endedAt = scene.now
            counts[index].wasWell = false
        }
        if case .process(.spawn(let app, _, let reason, _)) = effect {
            noteWell(scene)
            if reason == .restart {
                if endedByOperator.contains(app) { violate("\(scene.name(app)) was ended by an operator", scene) }
                restarted(app, scene)
            }
            counts[index(app)].shutdowns = shutdowns
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        noteWell(scene)
        if let app = owed.exhausted() { violate("\(scene.name(app)) is left down, and that is not said", scene) }
        guard let app = owed.step(scene), !scene.chronicle.isEnding else { return }
        violate("\(scene.name(app)) has ended by its own fault, and is not to be started again", scene)
    }

    private func noteWell(_ scene: Scene) {
        guard scene.conditions.pressure == .normal, scene.conditions.heat < .critical else { return }
        for index in counts.indices { counts[index].wasWell = true }
    }

    private func restarted(_ app: AppID, _ scene: Scene) {
        let index = index(app)
        guard let end = counts[index].lastEnd, let policy = scene.board.directory.entry(app)?.policy else { return }
        if counts[index].shutdowns != shutdowns {
            // A shutdown was cancelled since its last spawn: who ran before it comes back.
            counts[index] = Count(app: app, shutdowns: shutdowns)
            return
        }
        // The daemon has ended it: it goes on, whatever its policy.
        if end.reason.isOfDaemon { return }
        // Memory or heat took it from the front: it comes back when the board is well.
        if end.reason.namespace == .jetsam || end.reason.namespace == .thermal {
            if !counts[index].wasWell || policy.restart == .never {
                violate("\(scene.name(app)) comes back before the board is well", scene)
            }
        }
        counts[index].restarts += 1
        let isAllowed =
            switch policy.restart {
            case .never: false
            case .onFailure: end.reason.isFailure || end.reason.namespace == .jetsam || end.reason.namespace == .thermal
            case .always: ![.user, .shutdown, .backgroundTask, .lowBattery].contains(end.reason.namespace)
            }
        if !isAllowed { violate("\(scene.name(app)) is restarted after \(end.reason.namespace.name)", scene) }
        if counts[index].restarts >= policy.restartLimit {
            let excuse = counts[index].wasHeldUp ? ": what it was frozen is no stable uptime" : ""
            violate("\(scene.name(app)) is restarted \(counts[index].restarts) times in a row\(excuse)", scene)
        }
        var delay = policy.restartDelay
        for _ in 1..<counts[index].restarts { delay = delay.doubled(upTo: max(policy.restartDelayMax, delay)) }
        if scene.now - counts[index].endedAt < delay {
            violate("\(scene.name(app)) is restarted after less than \(delay.text)", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.restartsBounded, message) }
}
