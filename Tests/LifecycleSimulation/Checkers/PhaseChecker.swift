internal import Lifecycle

/// Invariant 6: after a sleep every app that was not ended is back in the phase it had before.
///
/// Compared between two moments in which nothing is under way on the board: whatever sleeps, freezes, crashes and
/// restarts lie between them, an app that runs at both is in the same phase, unless somebody asked for another: a
/// request for it, a request that brings another app to the front of a board with one front app, a reload, or a
/// shutdown (which ends everybody).
final class PhaseChecker: Checker {
    private var phases: [(app: AppID, phase: ScenePhase)] = []

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .configured, .started, .prepareForShutdown, .stopRequested: phases = []
        case .loginAvailable(_, _, let shutdown): if shutdown { phases = [] }
        case .requested(_, let request): forget(request, scene)
        case .freezing, .woke, .spawned, .spawnFailed, .exited, .groupEmptied, .frozen, .handlerReturned, .ready, .ping,
            .stopping, .extendTimeout, .loginUnavailable, .lockTaken, .lockRefused, .prepareForSleep,
            .preparingForSleep, .requestAbandoned:
            break
        }
    }

    private func forget(_ request: Request, _ scene: Scene) {
        switch request {
        case .launch(let app, _), .activate(let app):
            if scene.board.devicePolicy.front == .one {
                phases = []
            } else {
                phases.removeAll { $0.app == app }
            }
        case .background(let app), .terminate(let app, _): phases.removeAll { $0.app == app }
        case .sleep: break
        }
    }

    func rested(_ scene: Scene) {
        for app in scene.board.core.appIDs {
            guard let phase = scene.board.core.view(of: app)?.phase else { continue }
            if let before = phases.first(where: { $0.app == app }) {
                guard before.phase != phase else { continue }
                scene.inspection.violate(
                    .phaseRestored, "\(scene.name(app)) was \(before.phase.name) and is \(phase.name); nobody asked for it")
            } else {
                phases.append((app, phase))
            }
        }
    }
}
