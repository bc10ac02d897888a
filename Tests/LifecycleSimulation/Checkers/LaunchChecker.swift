internal import Lifecycle

/// What is to be launched is.
///
/// - An app that is started at boot, and one that a reload brings, is there as soon as nothing else is under way.
/// - One that waits for others waits as long as they come up, and no longer: not for one that is down, nor for one that
///   cannot be killed.
final class LaunchChecker: Checker {
    static let hears: [EventKind]? = [
        .configured, .requested, .requestAbandoned, .started, .prepareForShutdown, .loginAvailable, .stopping,
        .ready,
    ]
    static let sees: [EffectKind]? = [.spawn, .reply, .reportStuck]

    /// The others may take so long to be judged.
    private static let patience = Nanoseconds.seconds(40)

    private struct Wish {
        let id: RequestID
        let app: AppID
        /// Less what was stolen: since when nothing is left to wait for.
        var since: Nanoseconds?
    }

    private var order = LaunchOrder()
    private var isStarted = false
    private var configured: [AppID] = []
    /// Brought by a reload, and not spawned yet.
    private var new: [AppID] = []
    private var wishes: [Wish] = []
    private var unkillable: [InstanceID] = []
    /// They end by themselves, in their own time: those that wait for them wait for their next instance.
    private var leaving: [InstanceID] = []
    /// READY=1 has come.
    private var ready: [InstanceID] = []

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .started:
            isStarted = true
            new = scene.board.directory.entries.filter { $0.isConfigured && $0.policy.launch == .boot }.map(\.id)
        case .configured: learn(scene)
        case .login(.prepareForShutdown), .login(.available): new = []
        case .client(.requested(let id, .launch(let app, _))), .client(.requested(let id, .activate(let app))):
            new.removeAll { $0 == app }
            wishes.removeAll { $0.app == app }
            if scene.board.directory.entry(app)?.isAdopted == false { wishes.append(Wish(id: id, app: app)) }
        case .app(.stopping(let instance)): leaving.append(instance)
        case .app(.ready(let instance)): ready.append(instance)
        case .client(.abandoned(let id)): wishes.removeAll { $0.id == id }
        case .client(.requested(_, .terminate(let app, _))), .client(.requested(_, .background(let app))):
            new.removeAll { $0 == app }
            wishes.removeAll { $0.app == app }
        default: break
        }
    }

    private func learn(_ scene: Scene) {
        order.learn(scene.board.directory)
        wishes = []
        let present = scene.board.directory.entries.filter(\.isConfigured)
        new.removeAll { app in !present.contains { $0.id == app && $0.policy.launch == .boot } }
        for entry in present where !configured.contains(entry.id) && entry.policy.launch == .boot && isStarted {
            new.append(entry.id)
        }
        configured = present.map(\.id)
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .process(.spawn(let app, _, _, _)):
            judgeOrder(app, scene)
            new.removeAll { $0 == app }
            wishes.removeAll { $0.app == app }
        case .client(.reply(let id, _)): wishes.removeAll { $0.id == id }
        case .process(.reportStuck(let instance, .unkillable)), .process(.reportStuck(let instance, .unstarted)):
            unkillable.append(instance)
        default: break
        }
    }

    /// A server that is on its way up comes first.
    private func judgeOrder(_ app: AppID, _ scene: Scene) {
        guard !order.isCircular else { return }
        for server in order.servers(of: app) {
            let rising = scene.chronicle.records.first { record in
                record.app == server && record.isAlive && !scene.isLaunched(record) && !record.isKillAsked
                    && !record.isTerminateAsked && !record.isDoomed && !unkillable.contains(record.instance)
            }
            guard let rising else { continue }
            violate("\(scene.name(app)) is launched before \(scene.name(rising.instance)) is up", scene)
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        let now = scene.now - scene.board.truth.stolen
        let mayLaunch = isStarted && scene.board.core.device.sleepState == .awake && !scene.chronicle.isEnding
        for index in wishes.indices {
            guard mayLaunch, scene.times.excess == .zero, !order.isCircular, isFree(wishes[index].app, scene) else {
                wishes[index].since = nil
                continue
            }
            let since = wishes[index].since ?? now
            wishes[index].since = since
            guard now - since > Self.patience else { continue }
            violate("\(scene.name(wishes[index].app)) is to be launched, and waits for nothing", scene)
        }
    }

    /// Nothing is left of it, and none of those that it comes after is on its way.
    private func isFree(_ app: AppID, _ scene: Scene) -> Bool {
        if scene.chronicle.records.contains(where: { $0.app == app && !$0.isGone }) { return false }
        return order.servers(of: app).allSatisfy { server in
            let record = scene.chronicle.records.last { $0.app == server && !$0.isGone }
            if let record, record.isKillAsked, unkillable.contains(record.instance) { return true }
            if let record, leaving.contains(record.instance) { return false }
            // A reload may have come between its start and its launch.
            let entry = scene.board.directory.entry(server)
            let awaitsReady = entry?.policy.readiness == .notify || entry?.former.readiness == .notify
            if let record, awaitsReady, !ready.contains(record.instance) { return false }
            // One that is being ended may be on its way back.
            if let record { return scene.isWell(record) && scene.isLaunched(record) }
            return scene.board.core.view(of: server)?.restartPending != true
        }
    }

    func rested(_ scene: Scene) {
        guard !scene.chronicle.isEnding else { return }
        for app in new {
            guard let view = scene.board.core.view(of: app), view.instance == nil else { continue }
            violate("\(scene.name(app)) is to be started, and is not", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.launches, message) }
}
