internal import Lifecycle

/// Background tasks: what apps ask of the daemon, and processes that an operator hands over to it.
extension SimulatedBoard {
    /// A call over the process's own connection.
    private func ask(_ request: ClientRequest, by process: SimulatedProcess) {
        askers.append((RequestID(rawValue: nextRequest), process.instance))
        self.request(request)
    }

    /// It has come up.
    func beginHabits(_ process: SimulatedProcess) {
        if !process.habits.isIdle {
            schedule(.process(process.instance, .urge), after: spread(process.habits.pause(&random)))
        }
        guard directory.entry(process.app)?.isAdopted == true else { return }
        let status = random.pick([ExitStatus.unknown, .unknown, .exited(0), .exited(3), .signalled(11)])
        plan(Reaction(after: random.magnitude(.milliseconds(5), .seconds(400)), deed: .exits(status)), for: process)
    }

    /// It thinks of its tasks.
    func follow(_ process: SimulatedProcess) {
        guard !plan.isOver, process.stage == .alive else { return }
        schedule(.process(process.instance, .urge), after: spread(process.habits.pause(&random)))
        if process.habits.lies, random.chance(perMille: 400) { return lie(process) }
        let isFull = process.habits.grabs && random.chance(perMille: 30)
        for _ in 0..<(isFull ? 66 : 1) where process.stage == .alive { beginBackgroundTask(process) }
    }

    func beginBackgroundTask(_ process: SimulatedProcess) {
        ask(.beginBackgroundTask(process.instance, process.habits.wish(&random)), by: process)
    }

    private func lie(_ process: SimulatedProcess) {
        let others = processes.flatMap(\.tasks) + [0, -1, .max, 1].map { BackgroundTaskID(rawValue: $0) }
        switch random.below(4) {
        case 0: ask(.beginBackgroundTask(InstanceID(rawValue: 977_000), process.habits.wish(&random)), by: process)
        case 1: ask(.endBackgroundTask(InstanceID(rawValue: 977_000), random.pick(others)), by: process)
        default: ask(.endBackgroundTask(process.instance, random.pick(others)), by: process)
        }
    }

    /// What it does about its tasks when it is called.
    func planTasks(on call: HandlerCall, deadline: Nanoseconds, of process: SimulatedProcess) {
        func soon() -> Nanoseconds { random.magnitude(.microseconds(10), .milliseconds(5)) }
        guard case .backgroundTaskWillExpire(let task, _) = call else {
            // At a good moment: one that is held as didEnterBackground returns has a budget.
            if !process.habits.isIdle, random.chance(perMille: 350) {
                plan(Reaction(after: soon(), deed: .beginsTask), for: process)
            }
            return
        }
        // It comes to the front just as its time runs out.
        if plan.has(.requests), taskRandom.chance(perMille: 100) {
            plan(.asks(.activate(process.app)), after: taskRandom.magnitude(.microseconds(10), .seconds(2)))
        }
        if process.habits.grabs {
            for _ in 0..<random.below(8) { plan(Reaction(after: soon(), deed: .beginsTask), for: process) }
        }
        guard !process.habits.forgets || random.chance(perMille: 300) else { return }
        let isLate = random.chance(perMille: 200)
        let after = isLate ? random.magnitude(.milliseconds(1), deadline + deadline) : soon()
        schedule(.process(process.instance, .endsTask(task)), after: after)
    }

    func endBackgroundTask(_ task: BackgroundTaskID, _ process: SimulatedProcess) {
        guard process.stage == .alive else { return }
        ask(.endBackgroundTask(process.instance, task), by: process)
    }

    /// The daemon's answer: it has its task, and works at it.
    func answered(_ request: RequestID, _ outcome: RequestOutcome) {
        if case .sleep(.ready(let sleep, _)) = outcome, login.hookRequest == request { hookSleep = sleep }
        guard let index = askers.firstIndex(where: { $0.request == request }) else { return }
        let asker = askers.remove(at: index).instance
        guard case .beginBackgroundTask(.begun(let task, _)) = outcome, let process = process(asker) else { return }
        process.tasks.append(task)
        guard let time = process.habits.work(&random) else { return }
        let isReportedStuck = process.habits.delegates && random.chance(perMille: 400)
        let act = isReportedStuck ? ProcessAct.namedProcessEnds(task) : .endsTask(task)
        if process.isFrozen, act.needsProcessor {
            process.heldUp.append((time, act))
        } else {
            schedule(.process(asker, act), after: time)
        }
    }

    /// The end of a task is asked for by a process of its own, which outlives its app.
    func endTaskLate(_ process: SimulatedProcess) {
        guard let task = process.tasks.last, taskRandom.chance(perMille: 50) else { return }
        plan(
            .asks(.endBackgroundTask(process.instance, task)),
            after: taskRandom.magnitude(.microseconds(1), .milliseconds(10)))
    }

    /// A board that is awake for long, with apps that keep it so, and an operator who saves power.
    func makeFrugal() {
        guard limits.storms, !plan.has(.headless), taskRandom.chance(perMille: 60) else { return }
        plan.insist(on: .lowPowerMode)
        for fault in [Fault.announcedSleep, .unannouncedSleep, .hookSleep, .logicalSleep, .longLids, .idlePeople] {
            plan.spare(fault)
        }
        for index in configuration.indices {
            configuration[index].keepsAwake = true
            configuration[index].taskBudget = taskRandom.pick([.seconds(60), .seconds(200), .seconds(600)])
        }
        for index in tempers.indices {
            tempers[index].habits.forgets = true
            tempers[index].habits.isIdle = false
        }
    }

    // MARK: Processes that are handed over

    /// curfew run, outside of any app.
    func adoptSomebody() {
        let known = random.chance(perMille: 100) ? configuration.first?.name : nil
        let wish = TaskParameters(
            name: "run", keepAwake: random.pick([nil, true, false]),
            timeAllowed: random.pick([nil, .seconds(1), .seconds(5), .seconds(20), .seconds(60), .seconds(300)]))
        let id = request(.adopt(app: known ?? "task-\(random.below(4))", wish))
        if plan.strikes(.abandonedRequests, &random) {
            schedule(.deliver(.client(.abandoned(id))), after: random.magnitude(.microseconds(10), .milliseconds(20)))
        }
    }
}
