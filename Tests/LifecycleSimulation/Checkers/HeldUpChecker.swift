internal import Lifecycle

/// A launch that has taken all the time of a sleep takes none of the next: until it has launched, the app is frozen as
/// soon as a sleep is announced, or as the apps that come after it are. That is said once, and of no other app.
final class HeldUpChecker: Checker {
    static let hears: [EventKind]? = [.configured]
    static let sees: [EffectKind]? = [.sleepNotice, .appNotice]

    private var order = LaunchOrder()
    private var isPreparing = false
    /// In this sleep handlers have time.
    private var isLongEnough = false
    /// Their launch has held up a sleep, and they have not launched since.
    private var owing: Set<AppID> = []
    private var said: Set<AppID> = []
    private var isReleased = false

    func heard(_ event: Event, _ scene: Scene) {
        if case .configured = event { order.learn(scene.board.directory) }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .note(.sleep(.preparing(_, let allowance))):
            isPreparing = true
            isLongEnough = allowance >= .seconds(1)
        case .note(.sleep(.released)): isReleased = true
        case .note(.sleep(.ended)): isPreparing = false
        case .note(.app(.heldUpSleep(let app))):
            if owing.contains(app) { violate("\(scene.name(app)) is said to hold up sleeps, again", scene) }
            said.insert(app)
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        forgetLaunched(scene)
        if isPreparing, !scene.sleep.isDoubtful, scene.sleep.isCertain { judge(scene) }
        if isReleased { release(scene) }
        said = []
    }

    private func isLaunching(_ record: InstanceRecord, _ scene: Scene) -> Bool {
        record.isSpawned && record.isAlive && !record.isKillAsked && !scene.isLaunched(record)
    }

    private func forgetLaunched(_ scene: Scene) {
        for record in scene.chronicle.records where owing.contains(record.app) && record.isSpawned {
            if scene.isLaunched(record) { owing.remove(record.app) }
        }
    }

    private func judge(_ scene: Scene) {
        guard scene.chronicle.isFreezingAvailable, !scene.chronicle.isEnding, !order.isCircular else { return }
        for record in scene.chronicle.records where owing.contains(record.app) && isLaunching(record, scene) {
            guard !record.isFreezeAsked, let entry = scene.board.directory.entry(record.app),
                entry.policy.suspend, entry.former.suspend, !isNeeded(record, scene)
            else { continue }
            violate("\(scene.name(record.instance)) holds up another sleep with its launch", scene)
        }
    }

    /// By an app that comes after it, and is not frozen.
    private func isNeeded(_ server: InstanceRecord, _ scene: Scene) -> Bool {
        scene.chronicle.records.contains { client in
            order.comesAfter(client.app, server.app) && client.isSpawned && client.isAlive && !client.isFrozenHeard
        }
    }

    /// What is announced with the release has held it up.
    private func release(_ scene: Scene) {
        for app in said {
            let record = scene.chronicle.records.last { $0.app == app }
            if record.map({ isLaunching($0, scene) }) != true || !isLongEnough {
                violate("\(scene.name(app)) is said to hold up sleeps, and does not launch", scene)
            }
        }
        owing.formUnion(said)
        isReleased = false
        isPreparing = false
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.heldUp, message) }
}
