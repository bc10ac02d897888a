internal import Lifecycle

/// The kernel's part: processes and control groups.
extension SimulatedBoard {
    func process(_ instance: InstanceID) -> SimulatedProcess? { processes.first { $0.instance == instance } }

    private func after(_ delay: Nanoseconds, _ act: ProcessAct, _ process: SimulatedProcess) {
        schedule(.process(process.instance, act), after: delay)
    }

    private func short() -> Nanoseconds { random.magnitude(.microseconds(20), .milliseconds(8)) }

    // MARK: What the daemon does

    func carryOut(_ effect: Effect) {
        switch effect {
        case .process(let effect): carryOut(effect)
        case .app(.call(let instance, let id, let call, let deadline)): pass(call, id, to: instance, deadline: deadline)
        case .app(.giveUp(let instance, let call)): giveUp(call, of: instance)
        case .login(let effect): carryOut(effect)
        case .sleep(.setWakeAlarm(let moment)): setAlarm(moment)
        case .board(.poll): poll()
        case .memory(.read): readMemory()
        case .watchdog(.rest): restWatchdog()
        case .watchdog(.wake): wakeWatchdog()
        case .watchdog(.retry): retryWatchdog()
        case .client(.reply(let request, let outcome)):
            answered(request, outcome)
            answered(request)
        case .note(let notice): coincide(with: notice)
        case .stopDaemon:
            say("the daemon leaves")
            daemonHasLeft = true
        case .app(.inform), .sleep(.handled), .memory(.watchLimit), .watchdog(.feed), .watchdog(.restService),
            .watchdog(.wakeService), .client(.taskChanged), .client(.appChanged), .client(.deviceChanged), .report:
            break
        }
    }

    private func carryOut(_ effect: ProcessEffect) {
        switch effect {
        case .spawn(let app, let instance, _, _): spawn(instance, of: app)
        case .terminate(let instance): if let process = process(instance) { terminate(process) }
        case .kill(let instance):
            if let process = process(instance) { kill(process) }
            coincideWithKill()
        case .clear(let instance): if let process = process(instance) { clear(process) }
        case .freeze(let instance): if let process = process(instance) { freeze(process) }
        case .thaw(let instance): if let process = process(instance) { thaw(process) }
        case .reportStuck: break
        }
    }

    private func carryOut(_ effect: LoginEffect) {
        switch effect {
        case .takeLock(let kind): askForLock(kind)
        case .releaseLock(let kind): closeLock(kind)
        case .readPreparingForSleep: askPreparing()
        case .suspendDevice: suspend()
        case .powerOff:
            powerOff()
            coincideWithPowerOff()
        }
    }

    private func coincide(with notice: Notice) {
        switch notice {
        case .sleep(.preparing):
            truth.noteCounts()
            sleepNote = now.boottime - now.monotonic
            coincideWithPreparing()
        case .sleep(.released): coincideWithRelease()
        case .sleep(.ended):
            sleepNote = nil
            coincideWithWake()
        case .sleep(.darkWake): loseLoginInTheDark()
        case .app(.overrun(_, let instance, _)): coincideWithOverrun(of: instance)
        case .sleep(.unannounced), .app, .shutdown, .board, .fault: break
        }
    }

    private func spawn(_ instance: InstanceID, of app: AppID) {
        guard process(instance) == nil, let entry = directory.entry(app) else { return }
        directory.note(instance, of: app)
        let temper = plan.isOver ? Temper.blameless : tempers.first { $0.name == entry.policy.name }?.temper
        let habits = plan.isOver ? TaskHabits.none : tempers.first { $0.name == entry.policy.name }?.habits
        let process = SimulatedProcess(
            instance: instance, app: app, policy: entry.policy,
            temper: temper ?? Temper(ofCommand: plan, &random), habits: habits ?? TaskHabits(plan, &random))
        process.bytes = someBytes()
        processes.append(process)
        var delay =
            plan.strikes(.spawnSlow, &random) ? random.magnitude(.milliseconds(10), .seconds(4)) : short()
        if happensLate(perMille: 20) {
            process.comesLate = true
            delay = lateRandom.span(.seconds(20), .seconds(70))
        }
        after(delay, plan.strikes(.spawnFails, &random) ? .execFails : .execed, process)
        if isRough { furnish(process, entry.policy) }
    }

    private func terminate(_ process: SimulatedProcess) {
        guard process.stage != .exited else { return }
        if process.stage == .starting || process.isFrozen {
            process.terminationPending = true
        } else if let reaction = process.temper.reactionToTermination(&random) {
            plan(reaction, for: process)
        }
    }

    private func kill(_ process: SimulatedProcess) {
        guard !process.killAsked, !isToCome(process) else { return }
        process.killAsked = true
        var delay = random.magnitude(.microseconds(50), .milliseconds(3))
        if plan.strikes(.killSlow, &random) { delay = random.magnitude(.milliseconds(10), .seconds(20)) }
        if plan.strikes(.killNever, &random) {
            say("\(directory.name(process.instance)) is in uninterruptible sleep and does not die")
            return
        }
        after(delay, .killDone, process)
    }

    private func clear(_ process: SimulatedProcess) {
        guard !process.clearAsked else { return }
        if isToCome(process) {
            return schedule(.deliver(.process(.groupEmptied(process.instance))), after: .milliseconds(1))
        }
        process.clearAsked = true
        // Its start was given up: what there is of it goes at once.
        if process.stage == .starting { process.stage = .exited }
        var delay = process.hasLeftovers ? random.magnitude(.milliseconds(1), .milliseconds(30)) : short()
        if plan.strikes(.clearSlow, &random) { delay = random.magnitude(.milliseconds(10), .seconds(20)) }
        after(delay, .groupEmpty, process)
    }

    private func freeze(_ process: SimulatedProcess) {
        guard !process.freezeAsked, process.stage != .exited else { return }
        if plan.strikes(.freezeIgnored, &hardRandom) {
            return say("\(directory.name(process.instance)): the order to freeze is lost")
        }
        process.freezeAsked = true
        process.freezeGeneration += 1
        var delay = random.magnitude(.microseconds(100), .milliseconds(20))
        if plan.strikes(.freezeSlow, &random) { delay = random.magnitude(.milliseconds(50), .seconds(15)) }
        if plan.strikes(.freezeNever, &random) {
            say("\(directory.name(process.instance)) is in uninterruptible sleep and does not freeze")
            return
        }
        after(delay, .freezeDone(generation: process.freezeGeneration), process)
    }

    private func thaw(_ process: SimulatedProcess) {
        process.freezeAsked = false
        process.freezeGeneration += 1
        guard let since = process.frozenSince else { return }
        process.lost += monotonic - since
        process.frozenSince = nil
        for held in process.heldUp {
            // Some count the whole interval anew, as the core does.
            let isAnew = held.act == .ping && process.instance.rawValue % 2 == 1
            let interval = process.policy.liveness ?? held.after
            let wait = isAnew ? interval - interval / 10 : held.after
            after(wait, held.act, process)
        }
        process.heldUp = []
        guard process.terminationPending else { return }
        process.terminationPending = false
        terminate(process)
    }

    /// The call goes out to the app, whether or not it is ever read.
    private func pass(_ call: HandlerCall, _ id: CallID, to instance: InstanceID, deadline: Nanoseconds) {
        guard let process = process(instance), process.stage == .alive else { return }
        let strangers = processes.map(\.instance).filter { $0 != instance }
        var reactions = process.temper.reactions(
            to: call, id, of: instance, deadline: deadline, strangers: strangers, &random)
        if plan.has(.commandHeld) { startCommand(for: id, of: process, deadline: deadline, &reactions) }
        for reaction in reactions { plan(reaction, for: process) }
        planTasks(on: call, deadline: deadline, of: process)
    }

    /// Its command is killed: it says nothing any more.
    private func giveUp(_ call: CallID, of instance: InstanceID) {
        guard let process = process(instance) else { return }
        for place in process.deeds.indices {
            switch process.deeds[place] {
            case .returns(call), .says(.app(.handlerStarted(_, call))): process.deeds[place] = .ceased
            case .returns, .says, .exits, .beginsTask, .ceased: break
            }
        }
    }

    func commandRandom(for call: CallID) -> SeededGenerator {
        SeededGenerator(seed: commandSeed ^ UInt64(bitPattern: call.rawValue) &* 0x9E37_79B9_7F4A_7C15)
    }

    /// The handler is a command, which gets to run at once, late or never.
    private func startCommand(
        for call: CallID, of process: SimulatedProcess, deadline: Nanoseconds, _ reactions: inout [Reaction]
    ) {
        var random = commandRandom(for: call)
        hear(.app(.handlerStarting(process.instance, call)))
        if random.chance(perMille: 200) {
            reactions.removeAll { if case .returns = $0.deed { true } else { false } }
            if random.chance(perMille: 500) { return }
        }
        let most = random.chance(perMille: 100) ? deadline + deadline : .milliseconds(5)
        let delay = random.magnitude(.microseconds(50), most)
        for place in reactions.indices { reactions[place].after += delay }
        reactions.append(Reaction(after: delay, deed: .says(.app(.handlerStarted(process.instance, call)))))
    }

    func plan(_ reaction: Reaction, for process: SimulatedProcess) {
        process.deeds.append(reaction.deed)
        let act = ProcessAct.deed(process.deeds.count - 1)
        if process.isFrozen {
            process.heldUp.append((reaction.after, act))
        } else {
            after(reaction.after, act, process)
        }
    }

    // MARK: What happens to processes

    func happen(_ act: ProcessAct, to instance: InstanceID) {
        guard let process = process(instance) else { return }
        if act.needsProcessor, process.isFrozen {
            process.heldUp.append((.microseconds(10), act))
            return
        }
        switch act {
        case .execed:
            guard process.stage == .starting else { return }
            process.stage = .alive
            process.aliveSince = monotonic
            process.hasLeftovers = process.temper.forks
            begin(process)
            hear(.process(.spawned(instance)))
        case .execFails:
            guard process.stage == .starting else { return }
            processes.removeAll { $0 === process }
            hear(.process(.spawnFailed(instance, code: 2, explanation: "exec: No such file or directory")))
        case .freezeDone(let generation):
            guard generation == process.freezeGeneration, process.freezeAsked, process.stage != .exited else { return }
            process.frozenSince = monotonic
            holdUp(process)
            hear(.process(.frozen(instance)))
        case .killDone:
            process.hasLeftovers = false
            end(process, .signalled(9))
        case .groupEmpty:
            guard process.stage == .exited else { return }
            processes.removeAll { $0 === process }
            hear(.process(.groupEmptied(instance)))
        case .ping:
            guard process.stage == .alive, let interval = process.policy.liveness else { return }
            if process.temper.ceasesPinging, random.chance(perMille: 100) { return }
            after(random.span(interval / 5, interval / 2), .ping, process)
            process.lastPing = process.ran(at: monotonic)
            hear(.app(.ping(instance)))
        case .urge: follow(process)
        case .endsTask(let task), .namedProcessEnds(let task): endBackgroundTask(task, process)
        case .deed(let index): does(process.deeds[index], process)
        }
    }

    private func does(_ deed: AppDeed, _ process: SimulatedProcess) {
        guard process.stage == .alive else { return }
        switch deed {
        case .returns(let call): hear(.app(.handlerReturned(process.instance, call)))
        case .says(let event): hear(event)
        case .exits(let status): end(process, status)
        case .beginsTask: beginBackgroundTask(process)
        case .ceased: break
        }
    }

    private func end(_ process: SimulatedProcess, _ status: ExitStatus) {
        guard process.stage != .exited else { return }
        process.stage = .exited
        if let since = process.frozenSince { process.lost += monotonic - since }
        process.frozenSince = nil
        process.heldUp = []
        hear(.process(.exited(process.instance, status)))
        endTaskLate(process)
        if process.clearAsked { after(short(), .groupEmpty, process) }
    }

    /// What the app was about to do waits, with the time it still needs.
    private func holdUp(_ process: SimulatedProcess) {
        let taken = queue.remove { happening in
            if case .process(process.instance, let act) = happening { return act.needsProcessor }
            return false
        }
        for entry in taken {
            guard case .process(_, let act) = entry.what else { continue }
            process.heldUp.append((Swift.max(entry.at - monotonic, .zero), act))
        }
    }

    /// exec has succeeded: the app begins to live.
    private func begin(_ process: SimulatedProcess) {
        let instance = process.instance
        if process.policy.readiness == .notify, !process.temper.neverReady {
            let most = process.policy.allowances[.didFinishLaunching] - .milliseconds(50)
            let time =
                process.temper.isSlow
                ? random.span(.milliseconds(1), Swift.max(most, .milliseconds(2)))
                : random.magnitude(.milliseconds(1), .milliseconds(300))
            plan(Reaction(after: time, deed: .says(.app(.ready(instance)))), for: process)
        }
        if let interval = process.policy.liveness { after(random.span(interval / 10, interval / 2), .ping, process) }
        if process.temper.extends {
            plan(
                Reaction(after: .milliseconds(100), deed: .says(.app(.extendTimeout(instance, .seconds(60))))),
                for: process)
        }
        if process.temper.stops {
            let when = random.magnitude(.milliseconds(100), .seconds(300))
            plan(Reaction(after: when, deed: .says(.app(.stopping(instance)))), for: process)
            if random.chance(perMille: 600) {
                plan(Reaction(after: when + .milliseconds(300), deed: .exits(.exited(0))), for: process)
            }
        }
        if process.temper.crashes == .all {
            let when = random.magnitude(.milliseconds(10), .seconds(600))
            plan(Reaction(after: when, deed: .exits(.signalled(11))), for: process)
        }
        beginHabits(process)
        guard process.terminationPending else { return }
        process.terminationPending = false
        terminate(process)
    }

    /// The end of a run: what was stuck comes loose.
    func healProcesses() {
        for process in processes {
            if process.killAsked { after(short(), .killDone, process) }
            if process.clearAsked, process.stage == .exited { after(short(), .groupEmpty, process) }
            if process.freezeAsked, !process.isFrozen {
                after(short(), .freezeDone(generation: process.freezeGeneration), process)
            }
        }
    }
}
