internal import Lifecycle

/// A launch, an end by itself, or an expiration handler in front, that has taken all the time of a sleep takes none of
/// the next ten: an app that launches then, or is in such a handler, is frozen as soon as a sleep is announced, or as
/// the apps that come after it are. That is said once of those, and of no other app.
final class HeldUpChecker: Checker {
    static let hears: [EventKind]? = [.configured, .stopping]
    static let sees: [EffectKind]? = [.sleepNotice, .appNotice, .spawn]

    private var order = LaunchOrder()
    private var isPreparing = false
    /// In this sleep handlers have time.
    private var isLongEnough = false
    /// Their launch has held up a sleep of the last ten: which.
    private var heldUp: [AppID: Int] = [:]
    private var sleep = 0
    private var owing: Set<AppID> { Set(heldUp.filter { $0.value + 10 >= sleep }.keys) }
    /// They have said that they end.
    private var ending: Set<InstanceID> = []
    private var said: Set<AppID> = []
    /// Before this step.
    private var launching: Set<InstanceID> = []
    private var expiring: Set<InstanceID> = []
    private var isReleased = false

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .configured: order.learn(scene.board.directory)
        case .app(.stopping(let instance)): ending.insert(instance)
        default: break
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .note(.sleep(.preparing(_, let allowance))):
            sleep = scene.board.core.sleepAge
            isPreparing = true
            isLongEnough = allowance >= .seconds(1)
        case .note(.sleep(.released)): isReleased = true
        // What is taken over is an app of its own, whatever had that place before.
        case .process(.spawn(let app, _, .backgroundTask, _)): heldUp[app] = nil
        case .note(.sleep(.ended)): isPreparing = false
        case .note(.app(.heldUpSleep(let app))):
            if owing.contains(app) { violate("\(scene.name(app)) is said to hold up sleeps, again", scene) }
            said.insert(app)
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        if isPreparing, !scene.sleep.isDoubtful, scene.sleep.isCertain { judge(scene) }
        judgeSaid(scene)
        launching = Set(
            scene.chronicle.records.filter { isSpawning($0) || isLaunching($0, scene) }.map { $0.instance })
        expiring = Set(scene.chronicle.records.filter(isExpiring).map { $0.instance })
        if isReleased { isPreparing = false }
        isReleased = false
    }

    private func isSpawning(_ record: InstanceRecord) -> Bool { !record.isSpawned && record.isAlive }

    private func isLaunching(_ record: InstanceRecord, _ scene: Scene) -> Bool {
        record.isSpawned && record.isAlive && !record.isKillAsked && !scene.isLaunched(record)
    }

    private func isExpiring(_ record: InstanceRecord) -> Bool {
        record.isAlive && record.call?.call.handler == .backgroundTaskWillExpire && record.phase != .background
    }

    private func judge(_ scene: Scene) {
        guard scene.chronicle.isFreezingAvailable, !scene.chronicle.isEnding, !order.isCircular else { return }
        for record in scene.chronicle.records where owing.contains(record.app) {
            guard isLaunching(record, scene) || isExpiring(record), !record.isFreezeAsked,
                let entry = scene.board.directory.entry(record.app),
                entry.policy.suspend, entry.former.suspend, !isNeeded(record, scene)
            else { continue }
            violate("\(scene.name(record.instance)) holds up another sleep", scene)
        }
    }

    /// By an app that comes after it, and is not frozen.
    private func isNeeded(_ server: InstanceRecord, _ scene: Scene) -> Bool {
        scene.chronicle.records.contains { client in
            order.comesAfter(client.app, server.app) && client.isSpawned && client.isAlive && !client.isFrozenHeard
        }
    }

    /// It was told to end, or has said that it does.
    private func isEnding(_ record: InstanceRecord) -> Bool {
        ending.contains(record.instance) || record.isTerminateAsked || record.call?.call.handler == .willTerminate
    }

    private func isKnown(_ record: InstanceRecord) -> Bool {
        launching.contains(record.instance) || expiring.contains(record.instance)
    }

    private func judgeSaid(_ scene: Scene) {
        for app in said {
            let record = scene.chronicle.records.last { $0.app == app }
            if record.map({ isKnown($0) || isEnding($0) }) != true || !isLongEnough {
                violate("\(scene.name(app)) is said to hold up sleeps, and has nothing to be awaited", scene)
            }
            heldUp[app] = sleep
        }
        said = []
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.heldUp, message) }
}
