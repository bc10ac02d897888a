internal import Lifecycle

/// An app that runs through sleeps and does not let go of its own lock at logind is named when its time is over, once a
/// sleep, and ended at the second sleep in a row or the third of ten. One whose locks leave none for us is ended at
/// once. No other is.
final class HeldLockChecker: Checker {
    static let hears: [EventKind]? = [.appHoldsLock, .appReleasedLock, .appFillsLocks, .exited]
    static let sees: [EffectKind]? = [.appNotice, .spawn, .kill, .report, .sleepNotice]

    private struct Held {
        let instance: InstanceID
        let app: AppID
        let since: Nanoseconds
        /// The core must have taken it for a lock on the present sleep.
        let isCertain: Bool
    }

    private var held: [Held] = []
    private var rows: [AppID: OverdueRow] = [:]
    private var sleep = 0
    private var named: Set<InstanceID> = []
    private var killed: Set<InstanceID> = []
    private var justified: Set<InstanceID> = []
    private var filling: Set<InstanceID> = []
    private var isFilledNow: InstanceID?

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .login(.appHoldsLock(let instance)): hold(instance, scene)
        case .login(.appFillsLocks(let instance)):
            guard let record = scene.chronicle.record(instance), record.isSpawned, record.isAlive else { return }
            filling.insert(instance)
            if !record.isKillAsked { isFilledNow = instance }
        case .login(.appReleasedLock(let instance)), .process(.exited(let instance, _)):
            held.removeAll { $0.instance == instance }
        default: break
        }
    }

    private func hold(_ instance: InstanceID, _ scene: Scene) {
        guard let app = scene.board.directory.app(of: instance), let record = scene.chronicle.record(instance),
            let entry = scene.board.directory.entry(app), !held.contains(where: { $0.instance == instance }),
            rows[app]?.last != sleep
        else { return }
        let isRunning = record.isSpawned && record.isAlive && !record.isKillAsked
        let isCertain =
            scene.sleep.isBinding && !scene.sleep.isLogical && !scene.sleep.isDoubtful && scene.freezing.isYetToCome
            && isRunning && !entry.policy.suspend && !entry.former.suspend
        held.append(Held(instance: instance, app: app, since: scene.now, isCertain: isCertain))
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .process(.spawn(let app, _, .backgroundTask, _)): rows[app] = nil
        case .process(.kill(let instance)): killed.insert(instance)
        case .note(.app(.keepsLock(_, let instance))): name(instance, scene)
        case .report(let end) where end.reason == .sleepLockHeld && !justified.contains(end.instance):
            violate("\(scene.name(end.instance)) is ended for its lock, and did not keep it twice", scene)
        case .report(let end) where end.reason == .lockTableFilled && !filling.contains(end.instance):
            violate("\(scene.name(end.instance)) is ended for many locks, and has few", scene)
        case .note(.sleep(.preparing)): (sleep, held) = (scene.board.core.sleepAge, [])
        case .note(.sleep(.ended)): held = []
        default: break
        }
    }

    private func name(_ instance: InstanceID, _ scene: Scene) {
        guard let index = held.firstIndex(where: { $0.instance == instance }) else {
            return violate("\(scene.name(instance)) is said to keep a lock, and holds none", scene)
        }
        let lock = held.remove(at: index)
        let bound = rows[lock.app]?.bound(in: sleep) ?? .seconds(2)
        if scene.now - lock.since < bound {
            violate("\(scene.name(instance)) is named for its lock after \((scene.now - lock.since).text)", scene)
        }
        named.insert(instance)
    }

    func stepped(_ step: Step, _ scene: Scene) {
        for instance in named {
            guard let app = scene.board.directory.app(of: instance) else { continue }
            if OverdueRow.isTooMuch(rows[app], sleep) {
                justified.insert(instance)
                if !killed.contains(instance) { violate("\(scene.name(instance)) keeps its lock again", scene) }
            }
            rows[app] = .after(rows[app], sleep)
        }
        if let instance = isFilledNow, !killed.contains(instance) {
            violate("\(scene.name(instance)) leaves us no lock, and lives on", scene)
        }
        (named, killed, isFilledNow) = ([], [], nil)
        held.removeAll { scene.chronicle.record($0.instance)?.isKillAsked == true }
        guard scene.freezing.isYetToCome, scene.sleep.isBinding else { return }
        for lock in held
        where lock.isCertain && scene.now - lock.since >= rows[lock.app]?.bound(in: sleep) ?? .seconds(2) {
            violate("\(scene.name(lock.instance)) keeps its lock, and is not named", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.heldLocks, message) }
}
