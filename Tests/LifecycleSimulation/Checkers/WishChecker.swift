internal import Lifecycle

/// What an operator has asked for comes about, and what was denied does not.
///
/// - A launch or an activation that comes while the app is being ended, and is not denied, is carried out when nothing
///   is left of it: it is spawned again, at the latest when nothing else is under way on the board.
/// - One that is denied leaves the app as it was: where it was in background by an operator's wish, no handler brings
/// it to the front until something else is asked.
final class WishChecker: Checker {
    static let sees: [EffectKind]? = [.spawn, .endNotice, .sleepNotice, .reply, .report, .call]

    private struct Wish {
        let app: AppID
        let request: RequestID
    }

    /// To be launched as soon as it is gone.
    private var launches: [Wish] = []
    /// To be ended, by an operator.
    private var ordered: [InstanceID] = []
    /// In background by the last wish that was granted.
    private var sentBack: [AppID] = []
    /// Sent back before a wish for the front that may yet be denied.
    private var inQuestion: [(request: RequestID, app: AppID, wasBack: Bool)] = []
    /// Wishes for background that another one may take the place of yet.
    private var backs: [(request: RequestID, app: AppID, wasBack: Bool)] = []
    /// Their clients are gone, and no answer tells what becomes of them.
    private var abandoned: [RequestID] = []

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .configured, .stopRequested, .started:
            launches = []
            sentBack = []
            inQuestion = []
            backs = []
            abandoned = []
        case .client(.abandoned(let id)): abandoned.append(id)
        case .client(.requested(let id, let request)): wish(request, id, scene)
        case .login(.prepareForShutdown), .login(.available): launches = []
        default: break
        }
    }

    private func wish(_ request: ClientRequest, _ id: RequestID, _ scene: Scene) {
        switch request {
        case .launch(let app, _), .activate(let app):
            let isDenied = scene.refuses(id)
            guard !isDenied, scene.board.directory.entry(app)?.isAdopted == false else { return }
            if case .launch = request, isUp(app, scene) { return }
            inQuestion.append((id, app, sentBack.contains(app)))
            // Another one makes way where only one is in front.
            if scene.conditions.policy.front == .one { sentBack = [] } else { sentBack.removeAll { $0 == app } }
            if isBeingEnded(app, scene) { launches.append(Wish(app: app, request: id)) }
        case .background(let app):
            let isDenied = scene.refuses(id)
            if isDenied { return }
            inQuestion.removeAll { $0.app == app }
            backs.append((id, app, sentBack.contains(app)))
            if !sentBack.contains(app) { sentBack.append(app) }
            launches.removeAll { $0.app == app }
        case .terminate(let app, _):
            ordered += scene.chronicle.records.filter { $0.app == app }.map(\.instance)
            inQuestion.removeAll { $0.app == app }
            launches.removeAll { $0.app == app }
            sentBack.removeAll { $0 == app }
        case .sleep, .beginBackgroundTask, .endBackgroundTask, .adopt, .warnOfMemory, .setLowPower: break
        }
    }

    /// A launch of it changes nothing.
    private func isUp(_ app: AppID, _ scene: Scene) -> Bool {
        guard let record = scene.chronicle.records.last(where: { $0.app == app }) else { return false }
        let isLeaving =
            record.isDoomed || record.isKillAsked || record.isTerminateAsked || ordered.contains(record.instance)
        return record.isSpawned && record.isAlive && !isLeaving
    }

    /// By an operator: a call of willTerminate or a signal is out, or is to follow.
    private func isBeingEnded(_ app: AppID, _ scene: Scene) -> Bool {
        guard let record = scene.chronicle.records.last(where: { $0.app == app }) else { return false }
        let isAsked = record.isKillAsked || record.isTerminateAsked || ordered.contains(record.instance)
        return record.isSpawned && !record.isGone && isAsked
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .process(.spawn(let app, _, _, _)):
            launches.removeAll { $0.app == app }
            // What has been started comes up where it was to.
            inQuestion.removeAll { $0.app == app }
        case .note(.shutdown(.criticalBattery)): launches = []
        // It denies all that waits for a launch.
        case .note(.sleep(.preparing)): launches.removeAll { abandoned.contains($0.request) }
        case .client(.reply(let id, .app(.denied(let denial)))):
            launches.removeAll { $0.request == id }
            if let back = backs.first(where: { $0.request == id }) { forget(back) }
            guard let index = inQuestion.firstIndex(where: { $0.request == id }) else { return }
            let question = inQuestion.remove(at: index)
            // One whose client is gone still stands.
            let stands = inQuestion.contains { $0.app == question.app && !scene.denies($0.request) }
            // Another wish has taken its place.
            let isSuperseded = denial == .phaseChanged || denial == .ended
            if !isSuperseded, question.wasBack, !stands, !sentBack.contains(question.app) {
                sentBack.append(question.app)
            }
        case .client(.reply(let id, .app(.done))):
            backs.removeAll { $0.request == id }
            inQuestion.removeAll { $0.request == id }
            // Its end had not begun.
            launches.removeAll { $0.request == id }
        // It has ended by itself, and not by the end that the wish had come after.
        case .client(.reply(let id, .app(.ended(let end)))):
            if end.reason.namespace != .user { launches.removeAll { $0.request == id } }
        case .report(let end): sentBack.removeAll { $0 == end.app }
        case .app(.call(let instance, _, let call, _)):
            // It was not on its way out after all.
            if call == .didBecomeActive { launches.removeAll { $0.app == scene.board.directory.app(of: instance) } }
            guard call == .didBecomeActive || call == .willEnterForeground,
                let app = scene.board.directory.app(of: instance), sentBack.contains(app)
            else { return }
            violate("\(scene.name(app)) comes to the front, and the last wish for that was denied", scene)
        default: break
        }
    }

    /// Another wish has taken its place: it has never been.
    private func forget(_ back: (request: RequestID, app: AppID, wasBack: Bool)) {
        backs.removeAll { $0.request == back.request }
        if !back.wasBack { sentBack.removeAll { $0 == back.app } }
        for index in backs.indices where backs[index].app == back.app { backs[index].wasBack = back.wasBack }
        for index in inQuestion.indices where inQuestion[index].app == back.app {
            inQuestion[index].wasBack = back.wasBack
        }
    }

    func rested(_ scene: Scene) {
        guard !scene.chronicle.isEnding, let wish = launches.first else { return }
        violate("\(scene.name(wish.app)) was to be launched when it is gone, and is not", scene)
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.wishes, message) }
}

extension Scene {
    /// In this step.
    func denies(_ id: RequestID) -> Bool {
        step.effects.contains { if case .client(.reply(id, let outcome)) = $0 { outcome.denial != nil } else { false } }
    }

    func refuses(_ id: RequestID) -> Bool {
        step.effects.contains {
            if case .client(.reply(id, let outcome)) = $0, outcome.isRefusal { true } else { false }
        }
    }
}

extension RequestOutcome {
    /// The wish is off; nothing is to come of it.
    var isRefusal: Bool {
        switch self {
        case .app(.denied), .app(.notRunning), .sleep(.denied), .beginBackgroundTask(.denied),
            .beginBackgroundTask(.tooMany),
            .endBackgroundTask(.noSuchTask), .adopt(.denied):
            true
        case .app(.done), .app(.ended), .sleep(.ready), .beginBackgroundTask(.begun), .endBackgroundTask(.ended),
            .adopt(.begun),
            .adopt(.ended), .setLowPower:
            false
        }
    }
}
