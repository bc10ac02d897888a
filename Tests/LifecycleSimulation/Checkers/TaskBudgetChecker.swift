internal import Lifecycle

/// The budget of background tasks: no app is killed for it too soon, none gets more of it, and each is warned.
///
/// Each app has an account, kept in the checkers' own runnable time: set as it enters background (`task-budget` if it
/// holds a task by then, else 30 s), charged while it holds a task there, kept over restarts, and gone when it becomes
/// active or an operator launches it; in low power mode no app has more than 30 s. What is charged is known between two
/// bounds: `most`, and `least` where nothing excuses the core from charging it.
/// - Who is killed with 0x2182bad2 holds a task, and has spent it all by `most`.
/// - Who has spent it by `least` does not hold a task for much longer.
/// - When no more than the warning lead is left, the tasks' expirations are announced, newest first, as soon as the app
///   can be called; not sooner, and not after the kill. What is begun then is denied.
final class TaskBudgetChecker: Checker {
    static let sees: [EffectKind]? = [
        .spawn, .boardNotice, .appNotice, .sleepNotice, .taskChanged, .call, .reply, .kill, .report,
    ]

    private struct Account {
        let app: AppID
        var size: Nanoseconds
        var most = Nanoseconds.zero
        var least = Nanoseconds.zero
        /// What low power mode has taken of it, at least and at most.
        var cut = Nanoseconds.zero...Nanoseconds.zero
        /// It may have been filled again since: nothing is claimed of what it had.
        var isVague = false
        /// What it was filled with, if it was.
        var filling: Nanoseconds?

        var lead: Nanoseconds { Self.lead(of: size) }
        var leastLead: Nanoseconds { min(lead, Self.lead(of: filling ?? size)) }

        private static func lead(of size: Nanoseconds) -> Nanoseconds {
            size < .seconds(50) ? size / 10 : .seconds(5)
        }
    }

    private struct Task {
        let id: BackgroundTaskID
        let instance: InstanceID
        /// The reading at which its own limit is over.
        let limit: Nanoseconds?
        /// How long that is.
        let allowed: Nanoseconds
        /// MONOTONIC.
        let begunOn: Nanoseconds
        var isWarned = false
    }

    private struct Watch {
        let instance: InstanceID
        var reading: Nanoseconds
        var slack: Nanoseconds
        /// MONOTONIC, of the last charge.
        var chargedOn = Nanoseconds.zero
        /// As of the end of the last step.
        var isCharged = false
        var isCallable = false
        /// What was known then.
        var killedWith: Account?
        var isKilled = false
        var held = 0
        var wasWarned = true
    }

    private var accounts: [Account] = []
    private var tasks: [Task] = []
    private var watches: [Watch] = []
    /// The last expiration that was announced in this step.
    private var announced: BackgroundTaskID?
    private var fills = FillMoments()

    private func account(_ app: AppID?) -> Account? { accounts.first { $0.app == app } }

    // MARK: The account

    func heard(_ event: Event, _ scene: Scene) {
        announced = nil
        for index in watches.indices { charge(index, scene) }
        fills.hear(event, scene)
        fillAccounts(fills.byTime, scene)
        guard case .process(.spawned(let instance)) = event, !watches.contains(where: { $0.instance == instance })
        else { return }
        let reading = scene.times.reading(instance, scene) ?? scene.now
        watches.append(Watch(instance: instance, reading: reading, slack: .zero, chargedOn: scene.now))
    }

    private func open(_ app: AppID, holds: Bool, _ scene: Scene) {
        guard account(app) == nil else { return }
        let budget = scene.board.directory.entry(app)?.policy.taskBudget ?? .zero
        let size = holds ? budget : .seconds(30)
        accounts.append(Account(app: app, size: scene.conditions.isLowPower ? min(size, .seconds(30)) : size))
        if isLowPowerNews(scene) { blur(app, scene) }
    }

    private func blur(_ app: AppID, _ scene: Scene) {
        guard let index = accounts.firstIndex(where: { $0.app == app }) else { return }
        let budget = scene.board.directory.entry(app)?.policy.taskBudget ?? .zero
        accounts[index].size = max(budget, .seconds(30))
        accounts[index].filling = min(budget, .seconds(30))
        accounts[index].most = accounts[index].size
        accounts[index].isVague = true
    }

    /// Low power mode has begun: no app has more than 30 s left.
    private func cut() {
        for index in accounts.indices {
            let left = accounts[index].size - .seconds(30)
            let cut = accounts[index].cut
            accounts[index].cut =
                cut.lowerBound
                + max(left - accounts[index].most, .zero)...cut.upperBound + max(left - accounts[index].least, .zero)
            accounts[index].most = max(accounts[index].most, accounts[index].size - .seconds(30))
            accounts[index].least = max(accounts[index].least, accounts[index].size - .seconds(30))
        }
    }

    /// By the day, a long sleep or external power: those of apps that are never in front.
    private func fillAccounts(_ fill: FillMoments.Fill, _ scene: Scene) {
        guard fill != .none else { return }
        // A reload and low power mode in the same step come before it or after it.
        var isCertain = fill == .certain && !isLowPowerNews(scene)
        if case .configured = scene.step.event { isCertain = false }
        for index in accounts.indices where !fills.hasBeenInFront(accounts[index].app) {
            let entry = scene.board.directory.entry(accounts[index].app)
            if isCertain, entry?.isAdopted == false { refill(index, scene) } else { mayFill(index, entry, scene) }
        }
    }

    private func refill(_ index: Int, _ scene: Scene) {
        let app = accounts[index].app
        let budget = scene.board.directory.entry(app)?.policy.taskBudget ?? .zero
        accounts[index] = Account(app: app, size: scene.conditions.isLowPower ? min(budget, .seconds(30)) : budget)
        for place in tasks.indices
        where scene.board.directory.app(of: tasks[place].instance) == app && !isOver(tasks[place], scene) {
            tasks[place].isWarned = false
        }
    }

    private func mayFill(_ index: Int, _ entry: AppDirectory.Entry?, _ scene: Scene) {
        if entry?.isAdopted == true { return }
        var budget = entry?.policy.taskBudget ?? .zero
        // It was filled before the reload at hand was heard.
        if case .configured = scene.step.event { budget = max(budget, entry?.former.taskBudget ?? .zero) }
        accounts[index].size = max(accounts[index].size, budget)
        accounts[index].most = accounts[index].size
        accounts[index].least = .zero
        accounts[index].isVague = true
        // Low power mode that changes with it may do so before it.
        let isShort = scene.conditions.isLowPower || isLowPowerNews(scene)
        let filling = isShort ? min(budget, .seconds(30)) : budget
        accounts[index].filling = min(accounts[index].filling ?? filling, filling)
    }

    private func charge(_ index: Int, _ scene: Scene) {
        let instance = watches[index].instance
        guard let reading = scene.times.reading(instance, scene) else { return }
        let slack = scene.times.slack(instance)
        let passed = reading - watches[index].reading
        let sure = max(passed - (slack - watches[index].slack), .zero)
        watches[index].reading = reading
        watches[index].slack = slack
        let since = watches[index].chargedOn
        watches[index].chargedOn = scene.now
        guard watches[index].isCharged, let app = scene.chronicle.record(instance)?.app,
            let place = accounts.firstIndex(where: { $0.app == app })
        else { return }
        let hidden = scene.times.hidden(instance, since: since, of: accounts[place].size, scene)
        accounts[place].most += max(passed, .zero) + hidden
        if watches[index].isCallable { accounts[place].least += sure }
    }

    /// Whether nothing excuses the core from charging it: who is called may be on its way to the front.
    private func isSure(_ record: InstanceRecord, _ scene: Scene) -> Bool {
        scene.isWell(record) && scene.isLaunched(record) && record.call == nil && !record.isFreezeAsked
    }

    // MARK: What is done

    func did(_ effect: Effect, _ scene: Scene) {
        fillAccounts(fills.see(effect, scene), scene)
        switch effect {
        case .process(.spawn(let app, _, let reason, _)):
            if [.user, .boot, .backgroundTask].contains(reason) { accounts.removeAll { $0.app == app } }
        case .note(.board(.lowPowerMode(true, _))): cut()
        case .note(.app(.phaseChanged(let app, let phase))): moved(app, phase, scene)
        case .client(.taskChanged(let app, let instance, let task, let change)):
            switch change {
            case .began: begin(task.id, instance, scene)
            case .expiring: warn(task, app, instance, scene)
            case .ended, .expired, .died: tasks.removeAll { $0.id == task.id }
            }
        case .app(.call(let instance, _, .backgroundTaskWillExpire(let task, _), let deadline)):
            if announced != task { violate("\(scene.name(instance)) is called for no task that expires", scene) }
            if !tasks.contains(where: { $0.id == task }) { violate("task \(task.rawValue) is not held", scene) }
            guard let account = account(scene.board.directory.app(of: instance)) else { return }
            if isInBackground(instance, scene), deadline > account.size - account.least {
                violate("\(scene.name(instance)) is promised \(deadline.text), more than it has left", scene)
            }
        case .client(.reply(let request, .beginBackgroundTask(let outcome))): judge(request, outcome, scene)
        case .process(.kill(let instance)): noteKill(instance, scene)
        case .report(let end):
            if end.reason.namespace == .backgroundTask { judge(end, scene) }
            watches.removeAll { $0.instance == end.instance }
        default: break
        }
    }

    private func isInBackground(_ instance: InstanceID, _ scene: Scene) -> Bool {
        scene.chronicle.record(instance)?.phase == .background
    }

    private func moved(_ app: AppID, _ phase: ScenePhase, _ scene: Scene) {
        guard let record = scene.chronicle.records.last(where: { $0.app == app }) else { return }
        if phase == .background { open(app, holds: !record.tasks.isEmpty, scene) }
        guard phase == .active else { return }
        accounts.removeAll { $0.app == app }
        for index in tasks.indices where tasks[index].instance == record.instance { tasks[index].isWarned = false }
    }

    private func begin(_ task: BackgroundTaskID, _ instance: InstanceID, _ scene: Scene) {
        var limit: Nanoseconds?
        var allowed = Nanoseconds.zero
        if case .client(.requested(_, .beginBackgroundTask(_, let wish))) = scene.step.event,
            let time = wish.timeAllowed
        {
            limit = (scene.times.reading(instance, scene) ?? scene.now) + time
            allowed = time
        }
        tasks.append(Task(id: task, instance: instance, limit: limit, allowed: allowed, begunOn: scene.now))
    }

    private func isOver(_ task: Task, _ scene: Scene) -> Bool {
        guard let limit = task.limit, let reading = scene.times.reading(task.instance, scene) else { return false }
        return limit <= reading + scene.times.hidden(task.instance, since: task.begunOn, of: task.allowed, scene)
    }

    // MARK: Warnings

    private func warn(_ task: BackgroundTaskView, _ app: AppID, _ instance: InstanceID, _ scene: Scene) {
        announced = task.id
        guard let place = tasks.firstIndex(where: { $0.id == task.id }) else { return }
        tasks[place].isWarned = true
        if isOver(tasks[place], scene) { return }
        let name = "task \(task.id.rawValue) of \(scene.name(instance))"
        guard isInBackground(instance, scene), let account = account(app) else {
            return violate("\(name) expires in front", scene)
        }
        if account.most < account.size - account.lead {
            violate("\(name) expires after \(account.most.text) of \(account.size.text)", scene)
        }
        if tasks[place...].contains(where: { $0.instance == instance && !$0.isWarned }) {
            violate("\(name) expires before a newer one", scene)
        }
        guard !account.isVague, tasks[place].limit == nil, let left = task.timeRemaining, left < account.lead,
            isDue(instance)
        else {
            return
        }
        if left + lateness(scene) < account.lead { violate("\(name) is told late: \(left.text)", scene) }
    }

    /// Whether its time was running and it could have been called after the last step.
    private func isDue(_ instance: InstanceID) -> Bool {
        watches.contains { $0.instance == instance && $0.isCharged && $0.isCallable }
    }

    private func lateness(_ scene: Scene) -> Nanoseconds {
        max(scene.now - (scene.step.askedBefore?.at ?? scene.now), .zero)
    }

    private func judge(_ request: RequestID, _ outcome: BeginBackgroundTaskAnswer, _ scene: Scene) {
        guard case .client(.requested(request, .beginBackgroundTask(let instance, let wish))) = scene.step.event,
            let app = scene.board.directory.app(of: instance), let record = scene.chronicle.record(instance)
        else { return }
        let isEntering = record.call?.call.handler == .didEnterBackground
        guard isEntering || record.phase == .background else { return judgeInFront(wish, outcome, record, scene) }
        let name = scene.name(instance)
        guard let account = account(app) else {
            if isEntering { judgeEntering(wish, outcome, record, scene) }
            return
        }
        if case .denied(.budgetSpent) = outcome, account.most < account.size - account.lead {
            violate("\(name) is denied a task that it has time for", scene)
        }
        guard case .begun(_, let left) = outcome else { return }
        if account.least >= account.size - account.leastLead {
            violate("\(name) begins a task and has no time", scene)
        }
        guard wish.timeAllowed == nil, let left, !account.isVague else { return }
        if left > account.size - account.least || left < account.size - account.most {
            violate(
                "\(name) is told of \(left.text), and has \((account.size - account.most).text) to "
                    + "\((account.size - account.least).text) of \(account.size.text)", scene)
        }
    }

    /// There it has no limit but its own.
    private func judgeInFront(
        _ wish: TaskParameters, _ outcome: BeginBackgroundTaskAnswer, _ record: InstanceRecord, _ scene: Scene
    ) {
        if case .denied(.budgetSpent) = outcome {
            violate("\(scene.name(record.instance)) is denied a task in front", scene)
        }
        // What is longer than all time ends with it.
        if case .begun(_, let left) = outcome, left != wish.timeAllowed, wish.timeAllowed != .max {
            violate("\(scene.name(record.instance)) is told of \(left?.text ?? "no limit") in front", scene)
        }
    }

    /// With a task that it holds as it enters background it has the whole budget.
    private func judgeEntering(
        _ wish: TaskParameters, _ outcome: BeginBackgroundTaskAnswer, _ record: InstanceRecord, _ scene: Scene
    ) {
        if isLowPowerNews(scene) { return }
        let budget = scene.board.directory.entry(record.app)?.policy.taskBudget ?? .zero
        let size = scene.conditions.isLowPower ? min(budget, .seconds(30)) : budget
        guard case .begun(_, let left) = outcome, wish.timeAllowed == nil, left != size else { return }
        violate("\(scene.name(record.instance)) is told of \(left?.text ?? "no limit") of \(size.text)", scene)
    }

    /// What is begun in the very step has its time from before it.
    private func isLowPowerNews(_ scene: Scene) -> Bool {
        scene.step.effects.contains { if case .note(.board(.lowPowerMode)) = $0 { true } else { false } }
    }

    // MARK: The kill

    private func noteKill(_ instance: InstanceID, _ scene: Scene) {
        guard let index = watches.firstIndex(where: { $0.instance == instance }), !watches[index].isKilled,
            let app = scene.chronicle.record(instance)?.app
        else { return }
        let held = tasks.filter { $0.instance == instance }
        watches[index].killedWith = account(app)
        watches[index].isKilled = true
        watches[index].held = held.count
        // What was handed over may have been given less than any app is.
        let isAdopted = scene.board.directory.entry(app)?.isAdopted == true
        let lead = min(account(app)?.leastLead ?? .zero, isAdopted ? .milliseconds(100) : .max)
        let isExcused = !isDue(instance) || lateness(scene) >= lead / 2
        watches[index].wasWarned = isExcused || held.contains(where: \.isWarned)
    }

    private func judge(_ end: Termination, _ scene: Scene) {
        let name = scene.name(end.instance)
        if end.reason.code != 0x2182_bad2 { violate("\(name) ended with another code", scene) }
        // The handler overran what it was told: that is the deadlines' matter.
        if case .handlerOverrun = end.reason { return }
        // It ended by itself once it was asked to: then it had been told that its time runs out.
        if case .taskBudgetRanOut = end.reason {
            if !tasks.contains(where: { $0.instance == end.instance && $0.isWarned }) {
                violate("\(name) was not asked to end", scene)
            }
            return
        }
        guard let watch = watches.first(where: { $0.instance == end.instance }), let account = watch.killedWith else {
            return violate("\(name) ended for a budget that it did not have", scene)
        }
        if watch.held == 0 { violate("\(name) was killed for tasks and held none", scene) }
        if account.most < account.size, !account.isVague {
            violate("\(name) was killed after \(account.most.text) of \(account.size.text)", scene)
        }
        let had = account.size - account.cut.upperBound...account.size - account.cut.lowerBound
        if !account.isVague, !had.contains(end.allowance ?? .zero) { violate("\(name) had another budget", scene) }
        if !watch.wasWarned { violate("\(name) was not warned", scene) }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        if case .process(.spawned(let instance)) = step.event, let record = scene.chronicle.record(instance),
            record.isAlive, record.inBackground, !record.isKillAsked, record.phase != .active
        {
            open(record.app, holds: record.reason == .backgroundTask, scene)
            // It may have been given its time before it came nearer, or not.
            if record.phase != .background { blur(record.app, scene) }
            // Nor is it known what time was asked for with it, if it was taken over and is configured by now.
            let entry = scene.board.directory.entry(record.app)
            if record.reason == .backgroundTask, entry?.isConfigured == true { blur(record.app, scene) }
        }
        for index in watches.indices {
            guard let record = scene.chronicle.record(watches[index].instance) else { continue }
            watches[index].isCharged =
                record.isAlive && !record.isKillAsked && record.phase == .background && !record.tasks.isEmpty
            watches[index].isCallable = isSure(record, scene)
            guard watches[index].isCharged, watches[index].isCallable, let account = account(record.app) else {
                continue
            }
            if account.isVague { continue }
            if account.least > account.size + .seconds(3) {
                violate("\(scene.name(record.instance)) holds a task though its \(account.size.text) are over", scene)
            }
            let isLow = account.least >= account.size - account.lead
            if isLow, tasks.contains(where: { $0.instance == record.instance && !$0.isWarned }) {
                violate("\(scene.name(record.instance)) is not told that its time runs out", scene)
            }
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.taskBudget, message) }
}
