internal import Lifecycle

/// A board in a box: kernel, logind, apps, operators and clocks around one core, all driven by one seed.
///
/// What is true here and what the core is told are different things: messages are late, lost or doubled, processes die
/// before the core hears of it. The checkers see both.
final class SimulatedBoard {
    var random: SeededGenerator
    /// For what has to do with dark wakes: boards without them live as they would if there were none.
    var darkRandom: SeededGenerator
    /// For the board's conditions, by the same reason.
    var stormRandom: SeededGenerator
    /// For hardships.
    var hardRandom: SeededGenerator
    /// For the daemon's deaths.
    var lifeRandom: SeededGenerator
    /// For what is drawn anew for each call of a handler.
    let commandSeed: UInt64
    /// For what comes later than anything that was asked for after it.
    var lateRandom: SeededGenerator
    /// For answers to questions from before logind went.
    var strayRandom: SeededGenerator
    /// For what happens around background tasks beside what apps do about them.
    var taskRandom: SeededGenerator
    /// For what comes just when something else happens.
    var coincidenceRandom: SeededGenerator
    /// Its loop is late each time.
    let isSluggish: Bool
    let isRough: Bool
    /// Its kernel has /sys/power/suspend_stats.
    let countsSleeps: Bool
    /// Every change that can be seen is followed here, which takes time.
    let watchesChanges: Bool
    var plan: FaultPlan
    let limits: SimulationLimits
    let interposer: (any CoreInterposer)?

    // Clocks. MONOTONIC stands still while the board sleeps, except where `monotonicRunsOn`.
    var monotonic: Nanoseconds
    var slept: Nanoseconds
    var now: Instant { Instant(monotonic: monotonic, boottime: monotonic + slept) }

    // The daemon.
    let recording: SimulationRecording?
    let core: WatchedCore
    var inbox: [Event] = []
    var stalledUntil: Nanoseconds?
    var timerMissed = false
    var timerGeneration = 0
    var armed: Nanoseconds?
    /// What the core asked for after the last step.
    var asked: Deadline?
    var daemonHasLeft = false
    /// It died, and has not been started again yet.
    var isDaemonDead = false
    /// What it would leave to a successor: BOOTTIME less MONOTONIC as a sleep was announced.
    var sleepNote: Nanoseconds?
    /// The daemon has begun from another's archive.
    var hasCarriedOn = false
    /// What it has written down of its state, for one that takes its place.
    var leftArchive: [UInt8]?
    /// The sleep that the answer to the hook's call was about.
    var hookSleep: Int?
    var steps = 0
    /// Events and effects.
    var storyLength = 0
    private var archiveOccasions: Int
    var denials = DenialRehearsal()

    // The rest of the board.
    var queue = HappeningQueue()
    var login = SimulatedLogin()
    var surroundings = Surroundings()
    var processes: [SimulatedProcess] = []
    var directory = AppDirectory()
    var devicePolicy = DevicePolicy()
    var configuration: [AppPolicy] = []
    var tempers: [(name: String, temper: Temper, habits: TaskHabits)] = []
    var freezingAvailable = true
    var staysUnfreezable = false
    var nextRequest: Int64 = 1
    var openRequests: [RequestID] = []
    /// Apps that wait for an answer.
    var askers: [(request: RequestID, instance: InstanceID)] = []
    var logicalSleep = false
    /// What really happened, for the checkers.
    var truth = Truth()
    /// Days of a board on which little happens; nil on others.
    var longLife: Nanoseconds?
    /// The app that wants more memory than there is.
    var hungryApp: String?
    /// What cannot be read now.
    var blanks = Blanks()
    var alarm: SetAlarm?
    var alarmGeneration = 0
    var isPoweredOff = false

    // The end of a run.
    var calmSince: Nanoseconds?
    var quietSince: Nanoseconds?

    var inspection: Inspection
    var trace: Trace

    let reduction: Reduction
    let recollection: Recollection?

    init(
        seed: UInt64, limits: SimulationLimits, interposer: (any CoreInterposer)?, only: Set<CheckerName>?,
        reduction: Reduction = Reduction(), recollection: Recollection? = nil
    ) {
        self.reduction = reduction
        self.recollection = recollection
        recording = limits.records ? SimulationRecording() : nil
        core = WatchedCore(recording)
        random = SeededGenerator(seed: seed)
        darkRandom = SeededGenerator(seed: ~seed)
        commandSeed = seed
        stormRandom = SeededGenerator(seed: seed ^ 0x5354_4f52_4d53)
        hardRandom = SeededGenerator(seed: seed ^ 0x4841_5244_5348_4950)
        lifeRandom = SeededGenerator(seed: seed ^ 0x5245_4249_5254_48)
        let isRolled = hardRandom.chance(perMille: 500)
        isRough = limits.hardships && isRolled
        lateRandom = SeededGenerator(seed: seed ^ 0x4c41_5445_4e45_5353)
        coincidenceRandom = SeededGenerator(seed: seed ^ 0x434f_494e_4349_4445)
        strayRandom = SeededGenerator(seed: seed ^ 0x5354_5241_5953)
        taskRandom = SeededGenerator(seed: seed ^ 0x5441_534b_53)
        isSluggish = lateRandom.chance(perMille: 40) && limits.hardships && isRolled
        countsSleeps = isRough && seed % 4 != 0
        plan = FaultPlan(
            &random, dark: &darkRandom, storm: &stormRandom, storms: limits.storms, hard: &hardRandom,
            isRough: isRough, isDense: limits.isDense, without: reduction.faults)
        self.limits = limits
        self.interposer = interposer
        monotonic = random.magnitude(.seconds(1), .seconds(1_000_000))
        slept = random.chance(perMille: 500) ? .zero : random.magnitude(.seconds(1), .seconds(1_000_000))
        inspection = Inspection(only: only, tellsAll: limits.tellsAll, isRough: isRough)
        watchesChanges = hardRandom.chance(perMille: 250)
        archiveOccasions = Int(seed % UInt64(limits.archiveShare))
        trace = Trace(keepsAll: limits.keepsTrace)
        rollLives()
        furnish()
        spare()
        recollection?.begin()
    }

    func run() {
        scheduleStart()
        while inspection.violation == nil, !isOver {
            let next = queue.popFirst()
            if let next {
                if next.at > monotonic { monotonic = next.at }
                if isOver { break }
                if let recollection { recall(next.what, recollection) } else { happen(next.what) }
            } else if calmSince != nil {
                break
            }
            let most = longLife == nil ? limits.steps : limits.steps * 12
            let isEnough = next == nil || steps >= reduction.steps ?? most || monotonic >= disturbedUntil
            if calmSince == nil, isEnough, inspection.violation == nil { calmDown() }
        }
        if inspection.violation == nil { finish() }
    }

    lazy var disturbedUntil = monotonic + (longLife ?? limits.duration)

    private var isOver: Bool {
        if daemonHasLeft || isPoweredOff { return true }
        guard let calmSince else { return false }
        if let quietSince, monotonic - quietSince > .seconds(40) { return true }
        return monotonic - calmSince > limits.settling
    }

    func say(_ line: @autoclosure () -> String) { trace.add(board: line(), at: monotonic) }

    func schedule(_ what: Happening, after delay: Nanoseconds) { queue.add(what, at: monotonic + delay) }

    func happen(_ what: Happening) {
        switch what {
        case .deliver(let event): hear(event)
        case .answer(let event): pass(event)
        case .hardship(let hardship): happen(hardship)
        case .daemonReturns: daemonReturns()
        case .timer(let generation):
            guard generation == timerGeneration else { return }
            armed = nil
            if stalledUntil == nil { step(.timePassed) } else { timerMissed = true }
        case .alarm(let generation): ring(generation)
        case .loopResumes: resumeLoop()
        case .process(let instance, let act): happen(act, to: instance)
        case .login(let act): happen(act)
        case .disturbance(let disturbance): happen(disturbance)
        case .storm(let storm): happen(storm)
        case .board(let move): happen(move)
        }
    }

    // MARK: The daemon's event loop

    /// Something is to be told to the daemon.
    func hear(_ event: Event) {
        if isDaemonDead { return keep(event) }
        if !isWithheld(event) { pass(event) }
    }

    /// An event reaches the daemon, now or when its loop runs again.
    private func pass(_ event: Event) {
        if isDaemonDead { return keep(event) }
        if stalledUntil == nil { step(event) } else { inbox.append(event) }
    }

    private func resumeLoop() {
        guard let until = stalledUntil, monotonic >= until else { return }
        stalledUntil = nil
        let timerFirst = timerMissed && random.chance(perMille: 200)
        if timerFirst { step(.timePassed) }
        while !inbox.isEmpty, stalledUntil == nil, inspection.violation == nil, !daemonHasLeft, !isDaemonDead {
            monotonic += .microseconds(Int64(1 + random.below(40)))
            step(inbox.removeFirst())
        }
        if timerMissed, !timerFirst { step(.timePassed) }
        timerMissed = false
    }

    /// One transition: the core hears an event, the checkers look, the effects are carried out.
    func step(_ event: Event) {
        guard !daemonHasLeft, inspection.violation == nil, isStillTrue(event) else { return }
        tellIfKernelSlept(before: event)
        let given = stamped(event)
        steps += 1
        let at = now
        rehearseArchive(for: given, at: at)
        if inspection.wants(.denials) { denials.begin(given, core) }
        let effects = ask(given, at: at)
        if let problem = denials.follow(given, at: at, effects, core) { inspection.violate(.denials, problem) }
        directory.learn(from: given, effects, core)
        if case .client(.requested(let id, _)) = given { openRequests.append(id) }
        if case .client(.abandoned(let id)) = given { openRequests.removeAll { $0 == id } }
        noteConnection(given)
        noteReadiness(given)
        let before = asked
        asked = core.nextDeadline
        let step = Step(number: steps, event: given, effects: effects, at: at, askedBefore: before, asksNow: asked)
        trace.add(step)
        storyLength += 1 + effects.count
        inspection.inspect(step, on: self)
        for effect in effects where inspection.violation == nil { carryOut(effect) }
        armTimer()
        lookForRest(after: given)
    }

    private func ask(_ event: Event, at instant: Instant) -> [Effect] {
        guard let interposer else { return core.handle(event, at: instant) }
        guard let altered = interposer.event(event, at: instant) else { return [] }
        return interposer.effects(core.handle(altered, at: instant), after: event, at: instant, core.state)
    }

    /// The shell stamps logind's edges when it reads them.
    private func stamped(_ event: Event) -> Event {
        guard case .login(.prepareForSleep(let edge, let delayMax, let signalled)) = event, signalled > monotonic else {
            return event
        }
        return .login(.prepareForSleep(edge, delayMax: delayMax, signalled: monotonic))
    }

    /// The shell reads the state of a control group when it hears of it, and drops answers to
    /// calls that went with a connection: news that is not true any more is not passed on.
    private func isStillTrue(_ event: Event) -> Bool {
        if case .login(.lockTaken(let kind)) = event { return isAwaited(kind, granted: true) }
        if case .login(.lockRefused(let kind)) = event { return isAwaited(kind, granted: false) }
        guard case .process(.frozen(let instance)) = event, let process = process(instance) else { return true }
        return process.isFrozen
    }

    private func noteConnection(_ event: Event) {
        if case .login(.available) = event { login.isConnected = true }
        guard event == .login(.unavailable) else { return }
        login.isConnected = false
        login.connection += 1
        login.isInHand = [false, false, false]
    }

    private func noteReadiness(_ event: Event) {
        if case .process(.spawned(let instance)) = event, let process = process(instance), !process.isKnown {
            process.isKnown = true
            process.awaitsReady = directory.entry(process.app)?.policy.readiness == .notify
        }
        if case .app(.ready(let instance)) = event { process(instance)?.awaitsReady = false }
    }

    private func armTimer() {
        guard let wanted = asked?.at else {
            armed = nil
            timerGeneration += 1
            return
        }
        guard armed != wanted else { return }
        armed = wanted
        timerGeneration += 1
        var lateness = Nanoseconds.microseconds(Int64(1 + random.below(100)))
        if plan.strikes(.timerLate, &random) { lateness = random.magnitude(.milliseconds(1), .seconds(3)) }
        if isSluggish, !plan.isOver { lateness = lateRandom.magnitude(.milliseconds(260), .milliseconds(1500)) }
        queue.add(.timer(generation: timerGeneration), at: Swift.max(wanted, monotonic) + lateness)
    }

    /// Writes the state down and reads it back at random steps: the copy must do the same with the event, and
    /// carries on. It is dear, so that one occasion in some is taken; the others leave the same story.
    private func rehearseArchive(for event: Event, at instant: Instant) {
        guard random.chance(perMille: limits.archivePerMille) else { return }
        let damage = random.chance(perMille: 100) ? ArchiveChecker.Damage(&random) : nil
        archiveOccasions += 1
        guard inspection.wants(.archive) else { return }
        if archiveOccasions % limits.archiveShare == 0 {
            let state = core.state
            let copy = interposer.map { $0.reread(state) } ?? core.readBack()
            let problem = ArchiveChecker.compare(state, with: copy, on: event, at: instant)
            if let problem { return inspection.violate(.archive, problem) }
            if let copy { core.state = copy }
            if archiveOccasions / limits.archiveShare % 2 == 0 { core.beginWriting() }
        }
        guard let damage else { return }
        let whole = core.archived()
        let problem = ArchiveChecker.revive(damage.done(to: whole), of: whole, at: instant)
        if let problem { inspection.violate(.archive, problem) }
    }
}
