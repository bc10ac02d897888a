internal import Lifecycle

/// An app that is never in front has its whole budget again every 24 h of BOOTTIME: it is neither denied a task nor
/// killed for one when it has not had so much in the last day.
final class RefillChecker: Checker {
    static let sees: [EffectKind]? = [.spawn, .appNotice, .sleepNotice, .reply]

    private struct Account {
        let app: AppID
        /// Of this budget.
        var since: Nanoseconds
        var budget: Nanoseconds
        /// BOOTTIME, and what was used until then.
        var samples: [(at: Nanoseconds, spent: Nanoseconds)] = []
        var spent = Nanoseconds.zero
        var instance: InstanceID?
        var reading = Nanoseconds.zero
        /// MONOTONIC.
        var lookedAt = Nanoseconds.zero
        var heldTasks = false
        /// By a long sleep: BOOTTIME, and what was spent by then.
        var filled: (at: Nanoseconds, spent: Nanoseconds)?
    }

    private var accounts: [Account] = []
    private var wasLow: Nanoseconds?
    private var story = SleepStory()
    /// In this step.
    private var spawned: [AppID] = []
    /// BOOTTIME: its end.
    private var lastSleep: Nanoseconds?
    /// Becoming active fills theirs.
    private var wereInFront: [AppID] = []

    private static let day = Nanoseconds.seconds(86_400)

    func heard(_ event: Event, _ scene: Scene) {
        story.hear()
        spawned = []
        // Until it comes up nothing is there to be filled.
        if case .process(.spawned(let instance)) = event, let app = scene.board.directory.app(of: instance) {
            for index in accounts.indices where accounts[index].app == app {
                accounts[index].since = scene.step.at.boottime
            }
        }
        if case .configured = event {
            accounts.removeAll { scene.board.directory.entry($0.app)?.isConfigured != true }
            for index in accounts.indices {
                let budget = scene.board.directory.entry(accounts[index].app)?.policy.taskBudget ?? .zero
                if budget != accounts[index].budget { accounts[index].since = scene.step.at.boottime }
                accounts[index].budget = budget
            }
            wereInFront.removeAll { scene.board.directory.entry($0)?.isConfigured != true }
        }
        for index in accounts.indices { charge(index, scene) }
        if scene.conditions.isLowPower { wasLow = scene.step.at.boottime }
    }

    private func charge(_ index: Int, _ scene: Scene) {
        guard let record = scene.chronicle.records.last(where: { $0.app == accounts[index].app && $0.isAlive }),
            let process = scene.board.process(record.instance)
        else { return }
        let reading = process.ran(at: scene.now)
        if accounts[index].instance == record.instance, !record.tasks.isEmpty {
            accounts[index].spent += max(reading - accounts[index].reading, .zero)
        } else if accounts[index].instance != record.instance, accounts[index].heldTasks {
            // What the last one had at its end: all of it, at most.
            accounts[index].spent += scene.now - accounts[index].lookedAt
        }
        accounts[index].lookedAt = scene.now
        accounts[index].heldTasks = !record.tasks.isEmpty
        accounts[index].instance = record.instance
        accounts[index].reading = reading
        let now = scene.step.at.boottime
        if accounts[index].samples.last?.at ?? .zero < now - .seconds(600) {
            accounts[index].samples.append((now, accounts[index].spent))
            accounts[index].samples.removeAll { $0.at < now - Self.day - .seconds(7200) }
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        story.see(effect, scene)
        switch effect {
        case .process(.spawn(let app, _, let reason, let background)):
            // By hand or at boot it is given its time anew.
            accounts.removeAll { $0.app == app && (!background || reason == .user || reason == .boot) }
            // A launch has its own time.
            for index in accounts.indices where accounts[index].app == app { accounts[index].filled = nil }
            spawned.append(app)
            guard background, !wereInFront.contains(app), !accounts.contains(where: { $0.app == app }),
                let entry = scene.board.directory.entry(app), !entry.isAdopted
            else { return }
            accounts.append(Account(app: app, since: scene.step.at.boottime, budget: entry.policy.taskBudget))
        case .note(.app(.phaseChanged(let app, let phase))):
            if phase == .background { return }
            accounts.removeAll { $0.app == app }
            if phase == .active { wereInFront.append(app) }
        case .client(.reply(let request, .beginBackgroundTask(.begun(_, let left?)))):
            guard case .client(.requested(request, .beginBackgroundTask(let instance, let wish))) = scene.step.event,
                wish.timeAllowed == nil, let app = scene.board.directory.app(of: instance)
            else { return }
            judge(left, app, scene)
        case .client(.reply(let request, .beginBackgroundTask(.denied(.budgetSpent)))):
            guard case .client(.requested(request, .beginBackgroundTask(let instance, _))) = scene.step.event,
                let app = scene.board.directory.app(of: instance)
            else { return }
            judge(app, "is denied a task", scene)
        // What does not die is reported days later.
        case .note(.app(.overrun(let app, _, let reason))):
            // A handler that overran is another matter.
            if case .taskBudgetSpent = reason { judge(app, "is killed for a task", scene) }
        default: break
        }
    }

    /// A sleep of the kernel's of 30 min and more fills it, too.
    private func judge(_ left: Nanoseconds, _ app: AppID, _ scene: Scene) {
        guard let account = accounts.first(where: { $0.app == app }), let filled = account.filled,
            let policy = scene.board.directory.entry(app)?.policy, filled.at > account.since,
            wasLow.map({ $0 < filled.at }) ?? true
        else { return }
        let spent = account.spent - filled.spent
        guard left + spent + Self.margin(policy) < policy.taskBudget else { return }
        scene.inspection.violate(
            .refills,
            "\(scene.name(app)) has \(left.text) of \(policy.taskBudget.text), and the board has slept for long")
    }

    func stepped(_ step: Step, _ scene: Scene) {
        guard let sleep = scene.board.truth.lastSleep, sleep.ended != lastSleep, sleep.ended <= step.at.boottime else {
            return
        }
        lastSleep = sleep.ended
        // Low power mode was in force until this very step.
        if step.effects.contains(where: { if case .note(.board(.lowPowerMode)) = $0 { true } else { false } }) {
            return
        }
        guard sleep.time > .seconds(1900), !sleep.isHidden, story.former == .awake || story.former == .asleep else {
            return
        }
        for index in accounts.indices where wasUp(accounts[index].app, scene) {
            accounts[index].filled = (step.at.boottime, accounts[index].spent)
        }
    }

    /// Before this step; what comes up in it has its own time.
    private func wasUp(_ app: AppID, _ scene: Scene) -> Bool {
        if spawned.contains(app) { return false }
        return scene.chronicle.records.contains { record in
            record.app == app && record.isAlive && record.isSpawned
                && scene.step.event != .process(.spawned(record.instance))
        }
    }

    /// A stall of less than a second is not credited.
    private static func margin(_ policy: AppPolicy) -> Nanoseconds { max(policy.taskBudget / 4, .seconds(1)) }

    private func judge(_ app: AppID, _ what: String, _ scene: Scene) {
        guard let account = accounts.first(where: { $0.app == app }),
            let policy = scene.board.directory.entry(app)?.policy
        else { return }
        let now = scene.step.at.boottime
        let window = Self.day + .seconds(1800)
        guard now - account.since > window, now - (wasLow ?? .zero - window) > window else { return }
        let before = account.samples.last { $0.at <= now - window }?.spent ?? .zero
        let spent = account.spent - before
        guard spent + Self.margin(policy) < policy.taskBudget else { return }
        scene.inspection.violate(
            .refills, "\(scene.name(app)) \(what), and had \(spent.text) of \(policy.taskBudget.text) in a day")
    }
}
