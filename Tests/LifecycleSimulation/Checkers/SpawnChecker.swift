internal import Lifecycle

/// Each process is started for the reason that is given, which its first handler is told, and it is counted.
final class SpawnChecker: Checker {
    static let hears: [EventKind]? = [.configured, .started, .requested]
    static let sees: [EffectKind]? = [.spawn, .call, .report, .endNotice]

    private var isStarted = false
    private var configured: [AppID] = []
    /// They are started at boot, or as a reload brings them, and were not yet.
    private var due: [AppID] = []
    /// An operator has asked for them since their last start.
    private var asked: [AppID] = []
    /// What has been asked for each since its last start.
    private var wishes: [(app: AppID, inBackground: Bool)] = []
    /// Of whose next start it cannot be told.
    private var vague: [AppID] = []
    private var ended: [AppID] = []
    private var launches: [(app: AppID, count: Int)] = []

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .started:
            isStarted = true
            due = scene.board.directory.entries.filter { $0.isConfigured && $0.policy.launch == .boot }.map(\.id)
        case .configured:
            launches = []
            // Where they begin was said when their start was asked for.
            vague += due + wishes.map(\.app)
            let entries = scene.board.directory.entries.filter(\.isConfigured)
            if isStarted {
                due += entries.filter { $0.policy.launch == .boot && !configured.contains($0.id) }.map(\.id)
            }
            configured = entries.map(\.id)
        case .client(.requested(_, .launch(let app, let inBackground))):
            asked.append(app)
            wishes.append((app, inBackground))
        case .client(.requested(_, .activate(let app))):
            asked.append(app)
            wishes.append((app, false))
        case .client(.requested(_, .background(let app))), .client(.requested(_, .terminate(let app, _))):
            vague.append(app)
        default: break
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .process(.spawn(let app, _, let reason, let inBackground)):
            judge(app, reason, scene)
            judgePhase(app, reason, inBackground, scene)
            count(app, scene)
            due.removeAll { $0 == app }
            asked.removeAll { $0 == app }
            wishes.removeAll { $0.app == app }
            vague.removeAll { $0 == app }
        case .app(.call(let instance, _, .didFinishLaunching(let told), _)):
            guard let record = scene.chronicle.record(instance), record.reason != told else { return }
            violate(
                "\(scene.name(instance)) is told \(told) as the reason for its launch: it is \(record.reason)", scene)
        case .report(let end): if !ended.contains(end.app) { ended.append(end.app) }
        // What was to be launched meanwhile comes now.
        case .note(.shutdown(.cancelled)): ended += configured
        default: break
        }
    }

    private func judge(_ app: AppID, _ reason: LaunchReason, _ scene: Scene) {
        let isRight =
            switch reason {
            case .boot: due.contains(app)
            case .user: asked.contains(app)
            case .restart: ended.contains(app)
            case .backgroundTask: scene.board.directory.entry(app)?.isAdopted == true
            case .backgroundFetch, .remoteNotification, .backgroundSession, .location, .accessory: false
            }
        if !isRight { violate("\(scene.name(app)) is started, and the reason is not \(reason)", scene) }
    }

    /// It begins in background where a condition or its configuration keeps it there, or an operator has said so.
    private func judgePhase(_ app: AppID, _ reason: LaunchReason, _ inBackground: Bool, _ scene: Scene) {
        guard !vague.contains(app), scene.conditions.policy.front != .one,
            scene.conditions.limit == scene.conditions.limitBefore,
            let entry = scene.board.directory.entry(app)
        else { return }
        var isWanted: Bool?
        switch reason {
        case .boot where entry.policy.start == entry.former.start:
            isWanted = entry.policy.start == .background
        case .user where wishes.filter { $0.app == app }.count == 1:
            isWanted = wishes.first { $0.app == app }?.inBackground
        default: break
        }
        guard let isWanted else { return }
        let expected = isWanted || scene.conditions.limit == .background
        if inBackground != expected {
            violate("\(scene.name(app)) is started \(inBackground ? "in background" : "to the front")", scene)
        }
    }

    private func count(_ app: AppID, _ scene: Scene) {
        guard let now = scene.board.core.view(of: app)?.launches,
            scene.board.directory.entry(app)?.isAdopted == false
        else { return }
        if let index = launches.firstIndex(where: { $0.app == app }) {
            launches[index].count += 1
            if launches[index].count != now {
                violate("\(scene.name(app)) was started \(launches[index].count) times, not \(now)", scene)
            }
        } else {
            launches.append((app, now))
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.spawns, message) }
}
