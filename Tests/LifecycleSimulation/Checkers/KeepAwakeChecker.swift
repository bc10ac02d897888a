internal import Lifecycle

/// The lock that keeps the board awake is held, asked for or refused while a task is held that may do that and has time
/// left for it, and not otherwise.
///
/// The time is each app's own: `task-budget`, charged while the lock is held for it, full again after a sleep. The
/// lock is dropped in the step in which a sleep begins, or no app is left that has a reason for it. After a refusal it
/// is asked for again with the next task, the next logind, or the end of a sleep (and when logind says so too).
final class KeepAwakeChecker: Checker {
    static let sees: [EffectKind]? = [
        .takeLock, .releaseLock, .sleepNotice, .boardNotice, .appNotice, .taskChanged, .report, .reply,
    ]

    private enum Lock { case none, asked, held, refused }

    private struct Account {
        let app: AppID
        let size: Nanoseconds
        /// It was opened for an app on its way out, which the core may have treated as gone: nothing is claimed of it.
        var isVague: Bool
        var most = Nanoseconds.zero
        var least = Nanoseconds.zero
        /// That it is spent was said.
        var isSaid = false

        var isSurelySpent: Bool { !isVague && least >= size }
        var hasSurelyMore: Bool { !isVague && most < size }
    }

    private struct Watch {
        let instance: InstanceID
        var reading: Nanoseconds
        var slack = Nanoseconds.zero
        /// MONOTONIC, of the last charge.
        var chargedOn = Nanoseconds.zero
        /// As of the end of the last step.
        var isCharged = false
        /// How long its time may be, as far as the core knew then.
        var span = Nanoseconds.zero
    }

    private var accounts: [Account] = []
    private var watches: [Watch] = []
    private var lock = Lock.none
    /// Since the last refusal.
    private var mayAskAgain = false
    /// In this step: whose time is surely over, and whether the lock was held before it.
    private var wasHeld = false
    private var spent: [(app: AppID, instance: InstanceID)] = []
    private var isAvailable = false
    private var isAwake = true

    /// BOOTTIME, in this sleep.
    private var releasedAt: Nanoseconds?
    private var isLogical = false

    /// MONOTONIC: when this sleep was announced, and what had been stolen by then.
    private var announcedAt = Nanoseconds.zero
    private var stolenBefore = Nanoseconds.zero
    /// The loop stood still after the release.
    private var wasLate = false

    /// The kernel did, or the board slept as it can.
    private func hasSlept(_ scene: Scene) -> Bool {
        guard let releasedAt else { return false }
        if isLogical { return true }
        // What is shorter the clocks do not tell from the time between two readings.
        guard let sleep = scene.board.truth.lastSleep, sleep.time >= .seconds(2) else { return false }
        return sleep.began.boottime >= releasedAt
    }

    /// It slept before it was let, or nothing ran on it, which looks the same.
    private func mayHaveSlept(_ scene: Scene) -> Bool {
        let began = scene.board.truth.lastSleep?.began.monotonic ?? .zero
        return began >= announcedAt || scene.board.truth.stolen > stolenBefore || wasLate
    }

    private func announce(logically: Bool, _ scene: Scene) {
        isLogical = logically
        announcedAt = scene.now
        stolenBefore = scene.board.truth.stolen
        wasLate = false
    }

    /// The kernel is to sleep, too: a logical sleep that the board was in ends with that.
    private func hearRealSleep(_ scene: Scene) {
        guard isLogical, !isAwake, scene.announcesRealSleep else { return }
        announce(logically: false, scene)
        guard releasedAt != nil else { return }
        accounts = []
        releasedAt = scene.step.at.boottime
    }

    /// The sleep is over, or goes on in the dark.
    private func wake(_ scene: Scene) {
        if hasSlept(scene) {
            accounts = []
        } else if mayHaveSlept(scene) {
            blurAccounts()
        }
        releasedAt = nil
    }

    private func blurAccounts() {
        for index in accounts.indices { accounts[index].isVague = true }
    }

    private func account(_ app: AppID) -> Account? { accounts.first { $0.app == app } }

    func heard(_ event: Event, _ scene: Scene) {
        spent = []
        wasHeld = lock == .held
        for index in watches.indices { charge(index, scene) }
        if releasedAt != nil, scene.times.excess > .zero { wasLate = true }
        hearRealSleep(scene)
        switch event {
        case .process(.spawned(let instance)):
            watches.append(Watch(instance: instance, reading: scene.times.reading(instance, scene) ?? scene.now))
            if let record = scene.chronicle.record(instance), record.reason == .backgroundTask {
                accounts.removeAll { $0.app == record.app }
            }
        // It may have been asked for twice: the first answer is not the last.
        case .login(.lockTaken(.keepAwake)): lock = .held
        case .login(.lockRefused(.keepAwake)):
            if lock == .asked { lock = .refused }
            mayAskAgain = false
        case .login(.available):
            isAvailable = true
            lock = .none
        // logind has done what it refused the lock for.
        case .login(.prepareForSleep(false, _, _)): if lock == .refused { lock = .none }
        case .login(.unavailable):
            isAvailable = false
            lock = .none
        default: break
        }
    }

    private func charge(_ index: Int, _ scene: Scene) {
        let instance = watches[index].instance
        guard let reading = scene.times.reading(instance, scene) else { return }
        let slack = scene.times.slack(instance)
        let passed = max(reading - watches[index].reading, .zero)
        let sure = max(passed - (slack - watches[index].slack), .zero)
        watches[index].reading = reading
        watches[index].slack = slack
        guard watches[index].isCharged, let record = scene.chronicle.record(instance),
            let place = accounts.firstIndex(where: { $0.app == record.app })
        else { return }
        let hidden = scene.times.hidden(instance, since: watches[index].chargedOn, of: watches[index].span, scene)
        watches[index].chargedOn = scene.now
        accounts[place].most += passed + hidden
        guard scene.isWell(record) else { return }
        let wasSpent = accounts[place].isSurelySpent
        accounts[place].least += sure
        if !wasSpent, accounts[place].isSurelySpent { spent.append((record.app, instance)) }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .login(.takeLock(.keepAwake)):
            if lock == .refused, !mayAskAgain { violate("the lock is asked for again, and was refused", scene) }
            lock = .asked
            mayAskAgain = false
            if !isAwake { violate("the board is kept awake in a sleep", scene) }
        case .login(.releaseLock(.keepAwake)): lock = .none
        case .note(.sleep(.preparing)):
            isAwake = false
            releasedAt = nil
            announce(logically: !scene.saysRealSleep, scene)
        case .note(.sleep(.released)): releasedAt = scene.step.at.boottime
        case .note(.sleep(.ended)):
            isAwake = true
            spent = []
            // What ended the sleep may have come before the refusal or after it.
            if scene.step.event == .login(.lockRefused(.keepAwake)) {
                mayAskAgain = true
            } else if lock == .refused {
                lock = .none
            }
            wake(scene)
        case .note(.sleep(.darkWake)):
            if lock == .refused { lock = .none }
            wake(scene)
        case .note(.sleep(.unannounced)):
            accounts = []
            spent = []
        case .note(.board(.lowPowerMode(true, _))): cut(scene)
        case .client(.reply(let request, .beginBackgroundTask(.denied(.keepAwakeSpent)))): judgeDenial(request, scene)
        case .note(.app(.keepAwakeSpent(let app, let budget))):
            for index in accounts.indices where accounts[index].app == app { accounts[index].isSaid = true }
            guard let account = account(app) else { return violate("\(scene.name(app)) kept nothing awake", scene) }
            if account.hasSurelyMore {
                violate("\(scene.name(app)) kept the board awake for \(account.most.text) of \(budget.text)", scene)
            }
        case .client(.taskChanged(let app, _, let task, .began)): judge(task, of: app, scene)
        case .report(let end): watches.removeAll { $0.instance == end.instance }
        default: break
        }
    }

    private func judgeDenial(_ request: RequestID, _ scene: Scene) {
        guard case .client(.requested(request, .beginBackgroundTask(let instance, _))) = scene.step.event,
            let app = scene.board.directory.app(of: instance),
            let budget = scene.board.directory.entry(app)?.policy.taskBudget
        else { return }
        if account(app)?.hasSurelyMore ?? (budget > .zero) {
            violate("\(scene.name(app)) is denied a task, and has time to keep the board awake", scene)
        }
    }

    /// Low power mode has begun: no app has more than 30 s left, whether or not any of it was used.
    private func cut(_ scene: Scene) {
        for entry in scene.board.directory.entries where entry.policy.keepsAwake && account(entry.id) == nil {
            accounts.append(Account(app: entry.id, size: entry.policy.taskBudget, isVague: false))
        }
        for index in accounts.indices {
            accounts[index].most = max(accounts[index].most, accounts[index].size - .seconds(30))
            accounts[index].least = max(accounts[index].least, accounts[index].size - .seconds(30))
        }
    }

    /// Who may not, does not.
    private func judge(_ task: BackgroundTaskView, of app: AppID, _ scene: Scene) {
        if task.keepAwake, lock == .refused { lock = .none }
        guard case .client(.requested(_, .beginBackgroundTask(_, let wish))) = scene.step.event,
            let policy = scene.board.directory.entry(app)?.policy
        else { return }
        let isSpent = account(app)?.isSurelySpent ?? false
        let maySay = account(app)?.hasSurelyMore ?? true
        if task.keepAwake, !policy.keepsAwake || wish.keepAwake == false || isSpent {
            violate("task \(task.id.rawValue) of \(scene.name(app)) keeps the board awake, and must not", scene)
        }
        if !task.keepAwake, wish.keepAwake == true || wish.keepAwake == nil && policy.keepsAwake && maySay {
            violate("task \(task.id.rawValue) of \(scene.name(app)) should keep the board awake", scene)
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        var mayBeWanted = false
        var isWanted = false
        for index in watches.indices {
            watches[index].isCharged = false
            guard let record = scene.chronicle.record(watches[index].instance), isAwake, record.isAlive,
                !record.isKillAsked, record.tasks.contains(where: \.keepAwake)
            else { continue }
            let account = account(record.app)
            if account?.isSurelySpent != true { mayBeWanted = true }
            if scene.isWell(record), account?.hasSurelyMore ?? true { isWanted = true }
            guard lock == .held else { continue }
            watches[index].isCharged = true
            let budget = scene.board.directory.entry(record.app)?.policy.taskBudget ?? .zero
            let size = scene.conditions.isLowPower ? min(budget, .seconds(30)) : budget
            watches[index].span = size
            if account == nil {
                accounts.append(Account(app: record.app, size: size, isVague: !scene.isWell(record)))
            }
        }
        for (app, instance) in spent where isAwake && wasHeld && isAvailable {
            guard let record = scene.chronicle.record(instance), scene.isWell(record), account(app)?.isSaid == false,
                record.tasks.contains(where: \.keepAwake)
            else { continue }
            violate("\(scene.name(app)) has kept the board awake for its time, and it is not said", scene)
        }
        if lock == .held, !mayBeWanted { violate("the board is kept awake, and no app wants it", scene) }
        if lock == .none, isWanted, isAvailable { violate("the board is not kept awake for a task", scene) }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.keepAwake, message) }
}
