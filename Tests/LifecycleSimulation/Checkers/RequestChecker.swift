internal import Lifecycle

/// Every request is answered exactly once, unless it was abandoned; and what is answered is true.
final class RequestChecker: Checker {
    static let hears: [EventKind]? = [.requested, .requestAbandoned]
    static let sees: [EffectKind]? = [.reply, .spawn]

    private struct Open {
        let id: RequestID
        let request: ClientRequest
        /// What ran when the request came.
        let instance: InstanceID?
        /// A launch that has not begun, and that a sleep calls off.
        var isWaiting = false
    }

    private var open: [Open] = []
    private var done: [Open] = []

    func heard(_ event: Event, _ scene: Scene) {
        if case .client(.requested(let id, let request)) = event {
            var instance: InstanceID?
            if case .terminate(let app, _) = request {
                instance = scene.chronicle.records.last { $0.app == app && !$0.isGone }?.instance
            }
            // The launch goes on, to background.
            if case .background(let app) = request { begin(app) }
            open.append(
                Open(id: id, request: request, instance: instance, isWaiting: isWaiting(request, scene)))
        }
        guard case .client(.abandoned(let id)) = event else { return }
        // What the client was not told stands.
        if let app = open.first(where: { $0.id == id })?.request.wishedApp { begin(app) }
        open.removeAll { $0.id == id }
    }

    private func isWaiting(_ request: ClientRequest, _ scene: Scene) -> Bool {
        // A process that was taken over is started by nothing else.
        guard case .launch(let app, _) = request, scene.board.directory.entry(app)?.isAdopted == false else {
            return false
        }
        // It goes on to background.
        if open.contains(where: { $0.request == .background(app) }) { return false }
        return scene.chronicle.records.allSatisfy {
            $0.app != app || $0.isGone || $0.isKillAsked || $0.isTerminateAsked
        }
    }

    private func begin(_ app: AppID) {
        for index in open.indices where open[index].request.wishedApp == app { open[index].isWaiting = false }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        if case .process(.spawn(let app, _, _, _)) = effect { begin(app) }
        guard case .client(.reply(let id, let outcome)) = effect else { return }
        guard let index = open.firstIndex(where: { $0.id == id }) else {
            return violate("request \(id.rawValue) is answered and no client waits for it", scene)
        }
        let request = open.remove(at: index)
        if !outcome.answers(request.request) {
            violate("\"\(request.request.text(scene.board.directory))\" is answered as another request", scene)
        }
        if let denial = outcome.denial { judgeDenial(request, denial, scene) }
        if outcome == .app(.done) || outcome == .endBackgroundTask(.ended) || outcome == .setLowPower {
            done.append(request)
        }
        // The hook only waits until nothing holds the board up any more.
        if case .sleep(.ready) = outcome, case .sleep(start: true, logical: true, _) = request.request {
            done.append(request)
        }
        if case .warnOfMemory(let app, _) = request.request, outcome != .app(.done) { judgeWarning(app, scene) }
    }

    /// Who runs can be warned.
    private func judgeWarning(_ app: AppID, _ scene: Scene) {
        guard scene.board.core.view(of: app) != nil,
            let record = scene.chronicle.records.last(where: { $0.app == app }), record.isSpawned, record.isAlive,
            !record.isKillAsked
        else { return }
        violate("\(scene.name(record.instance)) runs, and is not warned", scene)
    }

    func stepped(_ step: Step, _ scene: Scene) {
        for request in done where !isTrue(request, scene) {
            violate("\"\(request.request.text(scene.board.directory))\" is answered as done, and is not", scene)
        }
        done = []
        let isSleep = step.effects.contains { if case .note(.sleep(.preparing)) = $0 { true } else { false } }
        if isSleep, let waiting = open.first(where: { $0.isWaiting || $0.request.isActivation }) {
            violate("request \(waiting.id.rawValue) waits for a launch, and a sleep is prepared", scene)
        }
        let limit = scene.conditions.limit
        if limit < .active, let waiting = open.first(where: { $0.request.isActivation }) {
            violate("request \(waiting.id.rawValue) waits for the front above \(limit.name)", scene)
        }
    }

    /// An app is kept from the front only by a sleep, a shutdown or a condition of the board; and by those, each is.
    private func judgeDenial(_ open: Open, _ denial: Denial, _ scene: Scene) {
        // What ends by time alone in this very step may still have counted.
        if denial == .sleeping || denial == .shuttingDown { return }
        guard case .client(.requested(open.id, .activate(let app))) = scene.step.event,
            scene.conditions.limit == .active,
            scene.conditions.limitBefore == .active,
            scene.board.core.device.sleepState == .awake, !scene.chronicle.isEnding,
            scene.board.directory.entry(app)?.isAdopted == false, scene.board.core.view(of: app) != nil
        else { return }
        violate("\(scene.name(app)) is denied the front", scene)
    }

    private func isTrue(_ open: Open, _ scene: Scene) -> Bool {
        switch open.request {
        case .launch(let app, _): scene.board.core.view(of: app)?.phase != nil
        case .activate(let app): scene.board.core.view(of: app)?.phase == .active
        case .background(let app): scene.board.core.view(of: app)?.phase == .background
        case .terminate(let app, _):
            scene.board.core.view(of: app)?.instance == nil || scene.board.core.view(of: app)?.instance != open.instance
        case .endBackgroundTask(let instance, let task):
            scene.chronicle.record(instance)?.tasks.contains { $0.id == task } != true
        case .warnOfMemory(let app, _): scene.board.core.view(of: app)?.instance != nil
        case .setLowPower: true
        case .sleep: scene.step.effects.contains { $0.isReadyForSleep || $0.isEndOfSleep } || isAsleep(scene)
        case .beginBackgroundTask, .adopt: false
        }
    }

    private func isAsleep(_ scene: Scene) -> Bool {
        switch scene.board.core.device.sleepState {
        case .asleep, .darkWake: true
        case .awake, .preparing: false
        }
    }

    func finished(_ scene: Scene) {
        guard !scene.board.daemonHasLeft, !scene.board.isPoweredOff, let first = open.first else { return }
        violate("request \(first.id.rawValue) is never answered", scene)
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.requestsAnswered, message) }
}

extension Effect {
    fileprivate var isReadyForSleep: Bool { if case .note(.sleep(.released)) = self { true } else { false } }
    /// Of one that was slept.
    fileprivate var isEndOfSleep: Bool { if case .note(.sleep(.ended(_, .slept))) = self { true } else { false } }
}

extension RequestOutcome {
    fileprivate func answers(_ request: ClientRequest) -> Bool {
        switch (request, self) {
        case (.launch, .app), (.activate, .app), (.background, .app), (.terminate, .app), (.warnOfMemory, .app): true
        case (.sleep, .sleep), (.beginBackgroundTask, .beginBackgroundTask), (.endBackgroundTask, .endBackgroundTask),
            (.adopt, .adopt):
            true
        case (.setLowPower, .setLowPower): true
        default: false
        }
    }
}

extension ClientRequest {
    fileprivate var isActivation: Bool { if case .activate = self { true } else { false } }

    fileprivate var wishedApp: AppID? {
        switch self {
        case .launch(let app, _), .activate(let app), .background(let app): app
        case .terminate, .sleep, .beginBackgroundTask, .endBackgroundTask, .adopt, .warnOfMemory, .setLowPower: nil
        }
    }
}
