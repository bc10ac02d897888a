internal import Lifecycle

/// A request that is denied is as if it had never come.
///
/// With each wish for an app a second core is kept that does not hear of it, but of all that comes after. When the wish
/// is denied, both must be equal. Not compared is a wish that has moved the board meanwhile: what either does differs,
/// the app's launch has begun, or goes on to background by an operator's word, or a task was held: its budget stands
/// still while its app is on its way to the front.
struct DenialRehearsal {
    private struct Omission {
        let request: RequestID
        let app: AppID
        /// That has not heard of it.
        var core: DeviceLifecycle
        var isNew = true
        var hasEnded = false
    }

    private static let most = 4
    private var omissions: [Omission] = []

    /// The core is another one, or carries on from an archive.
    mutating func forget() { omissions = [] }

    /// Before the core hears the event.
    mutating func begin(_ event: Event, _ core: WatchedCore) {
        guard case .client(.requested(let id, let request)) = event, omissions.count < Self.most else { return }
        switch request {
        case .launch(let app, _), .activate(let app), .background(let app):
            let state = core.state
            guard state.appIDs.allSatisfy({ state.tasks(of: $0, at: .zero).isEmpty }) else { return }
            omissions.append(Omission(request: id, app: app, core: state))
        case .terminate, .sleep, .beginBackgroundTask, .endBackgroundTask, .adopt, .warnOfMemory, .setLowPower: break
        }
    }

    /// What is wrong, when a wish has been denied.
    mutating func follow(_ event: Event, at instant: Instant, _ effects: [Effect], _ core: WatchedCore) -> String? {
        var problem: String?
        omissions = omissions.compactMap { former in
            var omission = former
            if event == .client(.abandoned(former.request)) { return nil }
            if case .client(.requested(_, .background(former.app))) = event, !former.isNew { return nil }
            // Time goes by all the same.
            let without = omission.core.handle(former.isNew ? .timePassed : event, at: instant)
            let isSame = matters(effects, former.request) == matters(without, former.request)
            if effects.contains(where: { isConsequence($0, former.app) }) { return nil }
            omission.isNew = false
            if effects.contains(where: { isEnd($0, of: former.app) }) { omission.hasEnded = true }
            guard let outcome = outcome(of: former.request, effects) else { return isSame ? omission : nil }
            // What follows from the end is not said yet where another wish has taken its place.
            if case .client(.requested) = event, omission.hasEnded { return nil }
            if let denial = outcome.denial, problem == nil {
                problem = compare(core.state, omission.core, isSame: isSame)
                    .map { "request \(former.request.rawValue), denied (\(denial.explanation)), \($0)" }
            }
            return nil
        }
        return problem
    }

    private func isConsequence(_ effect: Effect, _ app: AppID) -> Bool {
        switch effect {
        case .process(.spawn(app, _, _, _)), .client(.taskChanged): true
        default: false
        }
    }

    private func isEnd(_ effect: Effect, of app: AppID) -> Bool {
        if case .report(let end) = effect { return end.app == app }
        return false
    }

    private func compare(_ core: DeviceLifecycle, _ without: DeviceLifecycle, isSame: Bool) -> String? {
        guard isSame else { return nil }
        if core == without { return nil }
        return "has changed something: \(ArchiveChecker.difference(core, without))"
    }

    private func outcome(of id: RequestID, _ effects: [Effect]) -> RequestOutcome? {
        for case .client(.reply(id, let outcome)) in effects { return outcome }
        return nil
    }

    /// What can be seen of an app that is to be launched differs, and when it is said what follows from its end.
    private func matters(_ effects: [Effect], _ id: RequestID) -> [Effect] {
        effects.filter { effect in
            switch effect {
            case .client(.reply(id, _)), .client(.appChanged), .client(.deviceChanged), .note(.app(.restartScheduled)),
                .note(.app(.leftDown)):
                false
            default: true
            }
        }
    }
}
