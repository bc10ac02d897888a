internal import Lifecycle

/// Invariant 6: after a sleep every app that was not ended is back in the phase it had before.
///
/// Compared between two moments in which nothing is under way on the board: whatever sleeps, freezes, crashes and
/// restarts lie between them, an app that runs at both is in the same phase, unless somebody asked for another: a
/// request for it, a request that brings another app to the front of a board with one front app, or a reload. Who was
/// ended for a shutdown that was cancelled runs again. Where a condition of the board keeps apps from the front, it is
/// as near to its phase as that allows.
final class PhaseChecker: Checker {
    static let hears: [EventKind]? = [.configured, .started, .requested, .stopRequested]
    static let sees: [EffectKind]? = [.spawn, .report]

    /// Where they are when no condition asks otherwise.
    private var phases: [(app: AppID, phase: ScenePhase)] = []
    private var endedForShutdown: [AppID] = []
    /// Apps that somebody asked something of since the last moment of rest.
    private var asked: [AppID] = []

    func did(_ effect: Effect, _ scene: Scene) {
        // What is adopted may take the place of what was.
        if case .spawn(let app, _, .backgroundTask, _) = effect { phases.removeAll { $0.app == app } }
        guard case .report(let end) = effect else { return }
        endedForShutdown.removeAll { $0 == end.app }
        let isOfShutdown = end.reason.namespace == .shutdown || end.reason.namespace == .lowBattery
        if isOfShutdown, !asked.contains(end.app) { endedForShutdown.append(end.app) }
    }

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .configured, .started, .stopRequested:
            phases = []
            endedForShutdown = []
            // Who is still on its way out then may have been taken from the configuration and put back.
            asked += scene.chronicle.records.map(\.app)
        case .requested(_, let request): forget(request, scene)
        case .freezing, .woke, .spawned, .spawnFailed, .exited, .groupEmptied, .frozen, .handlerReturned, .ready, .ping,
            .stopping, .extendTimeout, .loginAvailable, .loginUnavailable, .prepareForShutdown, .lockTaken,
            .lockRefused,
            .prepareForSleep, .preparingForSleep, .kernelSlept, .suspendRefused, .powerOffRefused, .sleepNoted,
            .session, .lid,
            .powerKeyPressed,
            .power, .underVoltage, .temperatures, .network, .polling, .memoryPressure, .memoryRead, .memoryLimitReached,
            .killedForMemory, .hardwareWatchdog, .serviceWatchdog, .requestAbandoned:
            break
        }
    }

    private func forget(_ request: Request, _ scene: Scene) {
        switch request {
        case .launch(let app, _), .activate(let app), .background(let app), .terminate(let app, _):
            endedForShutdown.removeAll { $0 == app }
            asked.append(app)
        case .sleep, .beginTask, .endTask, .adopt, .warnOfMemory, .setLowPower: break
        }
        switch request {
        case .launch(let app, _), .activate(let app):
            if scene.board.devicePolicy.front == .one {
                phases = []
            } else {
                phases.removeAll { $0.app == app }
            }
        case .background(let app), .terminate(let app, _): phases.removeAll { $0.app == app }
        case .sleep, .beginTask, .endTask, .adopt, .warnOfMemory, .setLowPower: break
        }
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
        let limit = scene.conditions.limit
        for app in scene.board.core.appIDs {
            guard let phase = scene.board.core.view(of: app)?.phase else { continue }
            if let before = phases.first(where: { $0.app == app }) {
                guard min(before.phase, limit) != phase else { continue }
                scene.inspection.violate(
                    .phaseRestored,
                    "\(scene.name(app)) was \(before.phase.name) and is \(phase.name); nobody asked for it")
            } else if phase < limit || limit == .active, !isPlaceTaken(scene) {
                phases.append((app, phase))
            }
        }
    }
}
