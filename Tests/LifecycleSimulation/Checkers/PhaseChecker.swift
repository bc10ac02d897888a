internal import Lifecycle

/// Invariant 6: after a sleep every app that was not ended is back in the phase it had before.
///
/// Compared between two moments in which nothing is under way on the board: whatever sleeps, freezes, crashes and
/// restarts lie between them, an app that runs at both is in the same phase, but for what operators have asked for
/// since: their requests are played over it in their order, and those that were denied as if they had never come. Of
/// an app that was ended, or asked for while it was on its way out, and after a reload nothing is known. What was
/// ended for a shutdown that was cancelled runs again. Where a condition of the board keeps apps from the front, an app
/// is as near to its phase as that allows.
final class PhaseChecker: Checker {
    static let hears: [EventKind]? = [.configured, .started, .requested, .stopRequested]
    static let sees: [EffectKind]? = [.spawn, .report, .reply]

    private struct Wish {
        let request: RequestID
        let app: AppID
        let phase: ScenePhase
        let isLaunch: Bool
        /// What its client is told later changes nothing.
        var hasBegun = false
        /// Where its own app is now is not known; that others made way for it is.
        var isVague = false
    }

    /// Where they are when no condition asks otherwise.
    private var phases: [(app: AppID, phase: ScenePhase)] = []
    /// What was asked for since, and was not denied.
    private var wishes: [Wish] = []
    private var endedForShutdown: [AppID] = []
    /// Apps that something was asked of since the last moment of rest.
    private var asked: [AppID] = []

    func did(_ effect: Effect, _ scene: Scene) {
        // What is adopted may take the place of what was.
        if case .process(.spawn(let app, _, .backgroundTask, _)) = effect { forget(app) }
        if case .client(.reply(let id, .app(.denied))) = effect {
            wishes.removeAll { $0.request == id && !$0.hasBegun }
        }
        if case .process(.spawn(let app, _, _, _)) = effect {
            for index in wishes.indices where wishes[index].app == app && wishes[index].isLaunch {
                wishes[index].hasBegun = true
            }
        }
        guard case .report(let end) = effect else { return }
        endedForShutdown.removeAll { $0 == end.app }
        let isOfShutdown = end.reason.namespace == .shutdown || end.reason.namespace == .lowBattery
        if isOfShutdown, !asked.contains(end.app) { endedForShutdown.append(end.app) }
    }

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .configured, .started, .stopRequested:
            phases = []
            wishes = []
            endedForShutdown = []
            // Who is still on its way out then may have been taken from the configuration and put back.
            asked += scene.chronicle.records.map(\.app)
        case .client(.requested(let id, let request)): if !scene.refuses(id) { note(request, id, scene) }
        case .freezing, .timePassed, .process, .app, .login, .sleep, .board, .memory, .watchdog, .client(.abandoned):
            break
        }
    }

    private func note(_ request: ClientRequest, _ id: RequestID, _ scene: Scene) {
        switch request {
        case .activate(let app):
            touch(app)
            wishes.append(Wish(request: id, app: app, phase: .active, isLaunch: false))
        case .background(let app):
            touch(app)
            wishes.append(Wish(request: id, app: app, phase: .background, isLaunch: false))
        case .launch(let app, let background):
            touch(app)
            let records = scene.chronicle.records.filter { $0.app == app && !$0.isGone }
            if records.isEmpty {
                wishes.append(
                    Wish(request: id, app: app, phase: background ? .background : .active, isLaunch: true))
            } else if !records.allSatisfy({ scene.isWell($0) }) {
                // It is on its way out, perhaps: then it comes back where it is wished.
                if scene.conditions.policy.front == .one {
                    phases = []
                    wishes = []
                } else {
                    forget(app)
                }
            }
        case .terminate(let app, _):
            touch(app)
            forget(app)
        case .sleep, .beginBackgroundTask, .endBackgroundTask, .adopt, .warnOfMemory, .setLowPower: break
        }
    }

    private func touch(_ app: AppID) {
        endedForShutdown.removeAll { $0 == app }
        asked.append(app)
    }

    private func forget(_ app: AppID) {
        phases.removeAll { $0.app == app }
        for index in wishes.indices where wishes[index].app == app { wishes[index].isVague = true }
    }

    /// What was asked for and not denied stands.
    private func playWishes(_ scene: Scene) {
        for wish in wishes {
            phases.removeAll { $0.app == wish.app }
            if wish.phase == .active, scene.board.devicePolicy.front == .one {
                for index in phases.indices { phases[index].phase = .background }
            }
            if !wish.isVague { phases.append((wish.app, wish.phase)) }
        }
        wishes = []
    }

    /// By an app that a reload has removed, and that is still to go.
    private func isPlaceTaken(_ scene: Scene) -> Bool {
        scene.board.devicePolicy.front == .one
            && scene.chronicle.records.contains { record in
                !record.isGone && scene.board.directory.entry(record.app)?.isConfigured == false
            }
    }

    func rested(_ scene: Scene) {
        for app in endedForShutdown {
            guard let view = scene.board.core.view(of: app), view.phase == nil else { continue }
            scene.inspection.violate(
                .phaseRestored, "\(scene.name(app)) was ended for a shutdown that was cancelled, and is not back")
        }
        asked = []
        playWishes(scene)
        let limit = scene.conditions.limit
        for app in scene.board.core.appIDs {
            guard let phase = scene.board.core.view(of: app)?.phase else { continue }
            if let before = phases.first(where: { $0.app == app }) {
                guard min(before.phase, limit) != phase else { continue }
                // It waits for its place.
                if phase == .inactive, isPlaceTaken(scene) { continue }
                scene.inspection.violate(
                    .phaseRestored,
                    "\(scene.name(app)) is to be \(before.phase.name), and is \(phase.name)")
            } else if phase < limit || limit == .active, !isPlaceTaken(scene) {
                phases.append((app, phase))
            }
        }
    }
}
