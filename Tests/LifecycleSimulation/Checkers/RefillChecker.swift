internal import Lifecycle

/// An app that is never in front has its whole budget again every 24 h of BOOTTIME: it is neither denied a task nor
/// killed for one when it has not had so much in the last day.
final class RefillChecker: Checker {
    static let sees: [EffectKind]? = [.spawn, .appNotice, .reply]

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
    }

    private var accounts: [Account] = []
    private var wasLow: Nanoseconds?
    /// Becoming active fills theirs.
    private var wereInFront: [AppID] = []

    private static let day = Nanoseconds.seconds(86_400)

    func heard(_ event: Event, _ scene: Scene) {
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
        switch effect {
        case .spawn(let app, _, _, let background):
            accounts.removeAll { $0.app == app && !background }
            guard background, !wereInFront.contains(app), !accounts.contains(where: { $0.app == app }),
                let entry = scene.board.directory.entry(app), !entry.isAdopted
            else { return }
            accounts.append(Account(app: app, since: scene.step.at.boottime, budget: entry.policy.taskBudget))
        case .note(.phaseChanged(let app, let phase)):
            if phase == .background { return }
            accounts.removeAll { $0.app == app }
            if phase == .active { wereInFront.append(app) }
        case .reply(let request, .denied(let reason)):
            guard reason.hasPrefix("the budget"),
                case .requested(request, .beginTask(let instance, _)) = scene.step.event,
                let app = scene.board.directory.app(of: instance)
            else { return }
            judge(app, "is denied a task", scene)
        // What does not die is reported days later.
        case .note(.overrun(let app, _, let reason)):
            if reason.namespace == .backgroundTask { judge(app, "is killed for a task", scene) }
        default: break
        }
    }

    private func judge(_ app: AppID, _ what: String, _ scene: Scene) {
        guard let account = accounts.first(where: { $0.app == app }),
            let policy = scene.board.directory.entry(app)?.policy
        else { return }
        let now = scene.step.at.boottime
        let window = Self.day + .seconds(1800)
        guard now - account.since > window, now - (wasLow ?? .zero - window) > window else { return }
        let before = account.samples.last { $0.at <= now - window }?.spent ?? .zero
        let spent = account.spent - before
        guard spent + policy.taskBudget / 4 < policy.taskBudget else { return }
        scene.inspection.violate(
            .refills, "\(scene.name(app)) \(what), and had \(spent.text) of \(policy.taskBudget.text) in a day")
    }
}
