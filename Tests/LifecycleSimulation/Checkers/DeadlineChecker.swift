internal import Lifecycle

/// Invariant 3: no app is ended by a watchdog before the whole deadline it was told, in runnable time.
///
/// Runnable time is the checkers' own. What had passed is noted when an instance is killed, and judged when its end is
/// reported: against the outstanding call's deadline, against the launch allowance where READY=1 was awaited, against
/// the liveness interval since the last ping, or against the time to exit since the app was asked to.
///
/// Nor is an app killed for a call whose reply came and lay unread while the event loop stalled.
///
/// The other way round, a watchdog must bite: a call that is not answered is not left alone for long after the latest
/// deadline that extensions allow.
final class DeadlineChecker: Checker {
    static let sees: [EffectKind]? = [.spawn, .call, .giveUp, .terminate, .freeze, .thaw, .kill, .report, .sleepNotice]

    private final class Watch {
        let instance: InstanceID
        let start: Nanoseconds
        var slackAtCall = Nanoseconds.zero
        var callAt = Nanoseconds.zero
        var exitAskedAt: Nanoseconds?
        var exitTold = Nanoseconds.zero
        /// What policies said when it counted; a reload may change them.
        var launchTold = Nanoseconds.zero
        var pingedAt: Nanoseconds
        /// MONOTONIC, of the same moments.
        var calledOn = Nanoseconds.zero
        var pingedOn: Nanoseconds
        let startedOn: Nanoseconds
        var exitAskedOn = Nanoseconds.zero
        /// Since then it could have given a sign of life, or the interval is another.
        var silentSince: Nanoseconds
        var creditedAtSilence = Nanoseconds.zero
        var killedAt: Nanoseconds?
        var callAtKill: InstanceRecord.Call?
        /// Its reply lay there unread.
        var hadAnswered = false
        /// The call whose command does not run yet, and its time.
        var starting: CallID?
        var callTold = Nanoseconds.zero
        /// What the core may have credited it with, since the call and since it was asked to exit.
        var creditedAtCall = Nanoseconds.zero
        var creditedAtExit = Nanoseconds.zero
        /// It was frozen since, or has asked for more time: nothing is claimed.
        var isCallVague = true
        var isExitVague = true

        init(_ instance: InstanceID, at reading: Nanoseconds, on now: Nanoseconds) {
            self.instance = instance
            start = reading
            pingedAt = reading
            pingedOn = now
            startedOn = now
            silentSince = reading
        }
    }

    private var watches: [Watch] = []
    /// Of its signs of life, as each was told with its launch.
    private var intervals: [InstanceID: Nanoseconds] = [:]
    private var stalledAt: Nanoseconds?
    private var lastStall: Nanoseconds?
    private var lastLook: Nanoseconds?
    private var lastAsleep: Nanoseconds?
    /// Another loop has begun, and reads for up to 2 s what the apps have said before it judges them.
    private var regainedAt: Nanoseconds?
    /// In all.
    private var credited = Nanoseconds.zero
    private var story = SleepStory()

    private func watch(_ instance: InstanceID) -> Watch? { watches.first { $0.instance == instance } }

    private func reading(_ watch: Watch, _ scene: Scene) -> Nanoseconds {
        scene.times.reading(watch.instance, scene) ?? scene.now
    }

    private func heardSign(_ watch: Watch, _ scene: Scene) {
        watch.silentSince = reading(watch, scene)
        watch.creditedAtSilence = credited
    }

    private func pinged(_ watch: Watch, _ scene: Scene) {
        heardSign(watch, scene)
        watch.pingedAt = reading(watch, scene)
        watch.pingedOn = scene.now
    }

    func heard(_ event: Event, _ scene: Scene) {
        noteStall(scene)
        noteSleep(event, scene)
        switch event {
        case .app(.extendTimeout(let instance, _)):
            watch(instance)?.isCallVague = true
            watch(instance)?.isExitVague = true
        case .process(.spawned(let instance)):
            guard watch(instance) == nil else { return }
            let watch = Watch(instance, at: scene.times.reading(instance, scene) ?? scene.now, on: scene.now)
            watch.launchTold = policy(of: instance, scene)?.allowances[.didFinishLaunching] ?? .zero
            watches.append(watch)
        case .app(.handlerStarting(let instance, let call)): watch(instance)?.starting = call
        case .app(.handlerStarted(let instance, _)): watch(instance)?.starting = nil
        case .app(.ping(let instance)):
            if let watch = watch(instance), watch.killedAt == nil { pinged(watch, scene) }
        case .app(.stopping(let instance)):
            // What it says while it is being frozen is not heeded.
            if scene.chronicle.record(instance)?.isFreezeAsked == false { askedToExit(instance, scene) }
        case .app(.ready(let instance)), .app(.handlerReturned(let instance, _)):
            if let watch = watch(instance) { heardSign(watch, scene) }
        case .process(.regained(let instances)):
            for instance in instances { if let watch = watch(instance) { heardSign(watch, scene) } }
            regainedAt = scene.now
        case .configured, .started, .freezing, .timePassed, .process(.spawnFailed), .process(.exited),
            .process(.leftBehind),
            .process(.groupEmptied), .process(.frozen), .login, .sleep, .board, .memory, .watchdog, .client,
            .stopRequested:
            break
        }
    }

    private func policy(of instance: InstanceID, _ scene: Scene) -> AppPolicy? {
        scene.board.directory.app(of: instance).flatMap { scene.board.directory.entry($0)?.policy }
    }

    /// The app is not told how long it has to exit: that is its policy's, or less in a shutdown.
    private func askedToExit(_ instance: InstanceID, _ scene: Scene) {
        guard let watch = watch(instance), watch.exitAskedAt == nil else { return }
        watch.exitAskedAt = reading(watch, scene)
        watch.exitAskedOn = scene.now
        watch.creditedAtExit = credited
        watch.isExitVague = false
        guard !scene.chronicle.isEnding else { return }
        watch.exitTold = policy(of: instance, scene)?.allowances[.willTerminate] ?? .zero
    }

    /// After a sleep of the kernel's each app has the whole interval again.
    private func noteSleep(_ event: Event, _ scene: Scene) {
        let asleep = scene.step.at.boottime - scene.now
        let hasSlept = lastAsleep.map { asleep - $0 > .milliseconds(500) } ?? false
        lastAsleep = asleep
        if hasSlept { for watch in watches { heardSign(watch, scene) } }
        if hasSlept, story.stage == .awake || story.stage == .asleep && !story.isLogical {
            for watch in watches where watch.killedAt == nil { pinged(watch, scene) }
        }
        story.hear(event, scene)
    }

    private func noteStall(_ scene: Scene) {
        if scene.times.excess > .zero, let asked = scene.step.askedBefore?.at, let lastLook {
            // It may have begun soon after the last look, but a quarter of a second always counts.
            let late = scene.times.excess + .milliseconds(250)
            credited += late + min(late, max(asked - lastLook - .milliseconds(250), .zero))
        }
        lastLook = scene.now
        guard scene.times.excess > .zero else { return }
        // Only the first of several in a row is forgiven so.
        let began = scene.step.askedBefore?.at ?? scene.now
        stalledAt = lastStall.map { began - $0 < .seconds(40) } ?? false ? nil : scene.now
        lastStall = scene.now
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .app(.call(let instance, _, let call, let deadline)):
            guard let watch = watch(instance) else { return }
            watch.callAt = reading(watch, scene)
            watch.calledOn = scene.now
            watch.creditedAtCall = credited
            watch.isCallVague = false
            watch.callTold = deadline
            watch.starting = nil
            watch.slackAtCall = scene.times.slack(instance)
            if call.handler == .willTerminate {
                watch.exitAskedAt = watch.callAt
                watch.exitAskedOn = scene.now
                watch.exitTold = deadline
                watch.creditedAtExit = credited
                watch.isExitVague = false
            }
        case .app(.giveUp(let instance, let call)):
            if let watch = watch(instance) { judgeGivingUp(call, watch, scene) }
        case .process(.terminate(let instance)):
            if !scene.chronicle.isWarning(instance, scene.step) { askedToExit(instance, scene) }
        case .process(.thaw(let instance)):
            if let watch = watch(instance) { pinged(watch, scene) }
            // The clocks come first: what it says is heeded now.
            if scene.step.event == .app(.stopping(instance)) { askedToExit(instance, scene) }
        case .process(.freeze(let instance)):
            watch(instance)?.isCallVague = true
            watch(instance)?.isExitVague = true
        case .note(let notice):
            story.see(effect, scene)
            switch notice {
            case .sleep(.ended), .sleep(.darkWake), .sleep(.unannounced):
                for watch in watches { heardSign(watch, scene) }
            default: break
            }
        case .process(.kill(let instance)):
            guard let watch = watch(instance), watch.killedAt == nil else { return }
            watch.killedAt = reading(watch, scene)
            watch.callAtKill = scene.chronicle.record(instance)?.call
            let isResuming = stalledAt.map { scene.now - $0 < .milliseconds(200) } ?? false
            watch.hadAnswered =
                watch.callAtKill.map {
                    isResuming && scene.board.inbox.contains(.app(.handlerReturned(instance, $0.id)))
                } ?? false
        case .report(let end):
            if end.reason.namespace == .watchdog || isOverrunOfExpiration(end) { judge(end, scene) }
            watches.removeAll { $0.instance == end.instance }
            intervals[end.instance] = nil
        case .process(.spawn(let app, let instance, _, _)):
            intervals[instance] = scene.board.directory.entry(app)?.policy.liveness
        case .process(.clear), .process(.reportStuck), .login, .sleep, .client, .app(.inform),
            .board, .memory, .watchdog, .stopDaemon:
            break
        }
    }

    private func judgeGivingUp(_ call: CallID, _ watch: Watch, _ scene: Scene) {
        if watch.starting != call { violate("\(scene.name(watch.instance)): what runs is given up", scene) }
        watch.starting = nil
        watch.isExitVague = true
        let passed = reading(watch, scene) - watch.callAt
        if passed + scene.times.hidden(watch.instance, since: watch.calledOn, of: .seconds(1), scene) < watch.callTold {
            violate("\(scene.name(watch.instance)): a command is given up after \(passed.text)", scene)
        }
    }

    /// The handler itself did not return in the time it was told.
    private func isOverrunOfExpiration(_ end: Termination) -> Bool {
        if case .handlerOverrun(.backgroundTaskWillExpire, _) = end.reason { true } else { false }
    }

    private func judge(_ end: Termination, _ scene: Scene) {
        // Not for want of an answer: see StuckAgainChecker and HeldLockChecker.
        if [.unfreezable, .sleepLockHeld, .lockTableFilled].contains(end.reason) { return }
        guard let watch = watch(end.instance), let killedAt = watch.killedAt else {
            return violate("\(scene.name(end.instance)): a watchdog's end without a kill", scene)
        }
        if let handler = end.handler {
            if let call = watch.callAtKill, call.call.handler == handler {
                if end.allowance != call.deadline { violate("the report names another allowance than told", scene) }
                if watch.starting == call.id {
                    violate("\(scene.name(end.instance)) was killed for a command that never ran", scene)
                }
                if watch.hadAnswered { violate("\(scene.name(end.instance)) was killed with its reply unread", scene) }
                demand(killedAt - watch.callAt, call.deadline, since: watch.calledOn, handler.method, end, scene)
            } else if handler == .didFinishLaunching {
                demand(killedAt - watch.start, watch.launchTold, since: watch.startedOn, "READY=1", end, scene)
            } else {
                violate("\(scene.name(end.instance)) ended for a \(handler.method) that was not outstanding", scene)
            }
        } else if case .livenessMissed = end.reason {
            demand(
                killedAt - watch.pingedAt, intervals[end.instance] ?? .zero, since: watch.pingedOn, "WATCHDOG=1", end,
                scene)
        } else if let asked = watch.exitAskedAt {
            demand(killedAt - asked, watch.exitTold, since: watch.exitAskedOn, "exit", end, scene)
        } else {
            violate("\(scene.name(end.instance)) ended by a watchdog that it was never told of", scene)
        }
    }

    private func demand(
        _ passed: Nanoseconds, _ told: Nanoseconds, since: Nanoseconds, _ what: String, _ end: Termination,
        _ scene: Scene
    ) {
        // Handlers are looked after each second.
        let span = what == "WATCHDOG=1" ? told : .seconds(1)
        guard passed + scene.times.hidden(end.instance, since: since, of: span, scene) < told else { return }
        violate("\(scene.name(end.instance)) was killed for \(what) after \(passed.text) of \(told.text)", scene)
    }

    /// A time that is over, less what stalls may be credited for, is judged; after a stall 2 s later at the most.
    private func isOverdue(
        _ since: Nanoseconds, _ told: Nanoseconds, credited at: Nanoseconds, _ watch: Watch, _ scene: Scene
    ) -> Bool {
        if let regainedAt, scene.now - regainedAt < .milliseconds(2300) { return false }
        let patience = credited > at ? Nanoseconds.milliseconds(2300) : .milliseconds(300)
        return reading(watch, scene) - since - (credited - at) > told + patience
    }

    /// What is expected of one that is up and has nothing else to do; nil: nothing.
    private func liveness(of record: InstanceRecord, _ scene: Scene) -> Nanoseconds? {
        guard scene.isWell(record), scene.isLaunched(record), record.call == nil,
            scene.board.core.device.sleepState == .awake
        else { return nil }
        return intervals[record.instance]
    }

    private func judgeOverdue(_ scene: Scene) {
        for watch in watches where watch.killedAt == nil {
            guard let record = scene.chronicle.record(watch.instance), record.isAlive, !record.isFreezeAsked else {
                continue
            }
            if let interval = liveness(of: record, scene),
                isOverdue(watch.silentSince, interval, credited: watch.creditedAtSilence, watch, scene)
            {
                violate(
                    "\(scene.name(watch.instance)) has been silent for more than \(interval.text), and lives", scene)
            }
            if !watch.isExitVague, let asked = watch.exitAskedAt, watch.exitTold > .zero,
                isOverdue(asked, watch.exitTold, credited: watch.creditedAtExit, watch, scene)
            {
                violate("\(scene.name(watch.instance)) was to exit within \(watch.exitTold.text), and lives", scene)
            }
            if !watch.isCallVague, let call = record.call,
                watch.exitAskedAt == nil || call.call.handler == .willTerminate,
                isOverdue(watch.callAt, call.deadline, credited: watch.creditedAtCall, watch, scene)
            {
                violate("\(scene.name(watch.instance)): \(call.call.handler.method) is overdue, and it lives", scene)
            }
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        judgeOverdue(scene)
        for watch in watches where watch.killedAt == nil {
            guard let record = scene.chronicle.record(watch.instance), !record.isFreezeAsked, let call = record.call,
                watch.exitAskedAt == nil || call.call.handler == .willTerminate
            else { continue }
            // On a board that stalls after every look at the clock, three quarters of each second may be credited too.
            let most =
                call.deadline + call.deadline + call.deadline + call.deadline + .seconds(10)
                + (scene.times.slack(watch.instance) - watch.slackAtCall)
            guard reading(watch, scene) - watch.callAt > most else { continue }
            violate("\(scene.name(watch.instance)): \(call.call.handler.method) overran, and nothing happened", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.deadlineKept, message) }
}
