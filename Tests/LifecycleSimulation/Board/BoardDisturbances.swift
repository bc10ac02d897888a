internal import Lifecycle

/// What keeps coming until the board is left in peace.
enum Disturbance: CaseIterable {
    case operates, announcesSleep, sleepsUnannounced, stallsLoop, stallsBoard, setsClock, losesLogin, reloads
    case announcesShutdown, togglesFreezing, sleepsLogically, wakesLogically, asksStrangely, crashes, stops
    case adopts, warnsOfMemory

    /// How often, at most.
    var interval: Nanoseconds {
        switch self {
        case .operates: .seconds(6)
        case .announcesSleep: .seconds(40)
        case .sleepsUnannounced, .reloads, .losesLogin: .seconds(60)
        case .stallsLoop, .stallsBoard: .seconds(20)
        case .setsClock, .sleepsLogically, .wakesLogically, .asksStrangely, .crashes, .adopts, .warnsOfMemory:
            .seconds(45)
        case .announcesShutdown, .togglesFreezing: .seconds(150)
        case .stops: .seconds(900)
        }
    }

    var fault: Fault {
        switch self {
        case .operates: .requests
        case .announcesSleep: .announcedSleep
        case .sleepsUnannounced: .unannouncedSleep
        case .stallsLoop: .loopStall
        case .stallsBoard: .boardStall
        case .setsClock: .clockSet
        case .losesLogin: .loginOutage
        case .reloads: .reload
        case .announcesShutdown: .shutdown
        case .togglesFreezing: .freezingComesAndGoes
        case .sleepsLogically, .wakesLogically: .logicalSleep
        case .asksStrangely: .strangeRequests
        case .crashes: .appCrashes
        case .stops: .stop
        case .adopts: .adoptions
        case .warnsOfMemory: .memoryWarnings
        }
    }
}

extension SimulatedBoard {
    func scheduleDisturbances() {
        for disturbance in Disturbance.allCases where plan.has(disturbance.fault) { again(disturbance) }
        for storm in Storm.allCases where plan.has(storm.fault) { again(storm) }
        for hardship in Hardship.allCases where plan.has(hardship.fault) { again(hardship) }
    }

    func again(_ disturbance: Disturbance) {
        guard !plan.isOver else { return }
        schedule(
            .disturbance(disturbance),
            after: spread(random.magnitude(disturbance.interval / 200, disturbance.interval + disturbance.interval)))
    }

    func happen(_ disturbance: Disturbance) {
        guard !plan.isOver else { return }
        again(disturbance)
        switch disturbance {
        case .operates: operate()
        case .announcesSleep: announceSleep()
        case .sleepsUnannounced:
            if login.sleep == .idle {
                say("a program writes to /sys/power/state")
                sleep()
            }
        case .stallsLoop: stallLoop()
        case .stallsBoard:
            let time = random.magnitude(.milliseconds(300), .seconds(20))
            say("the board gives no time for \(time.text)")
            stopBoard(for: time)
        case .setsClock: hear(.timePassed)
        case .losesLogin: plan(.outage, after: .zero)
        case .reloads: reload()
        case .announcesShutdown: announceShutdown()
        case .togglesFreezing: toggleFreezing()
        case .sleepsLogically:
            if isDaemonDead { return }
            logicalSleep = true
            request(.sleep(start: true, logical: true))
        case .wakesLogically:
            if isDaemonDead { return }
            logicalSleep = false
            request(.sleep(start: false, logical: true))
        case .asksStrangely: askStrangely()
        case .crashes: crashSomebody()
        case .stops:
            say("SIGTERM to the daemon")
            hear(.stopRequested)
        case .adopts: adoptSomebody()
        case .warnsOfMemory: warnOfMemory()
        }
    }

    private func stallLoop() {
        guard stalledUntil == nil, !isDaemonDead else { return }
        let time = random.magnitude(.milliseconds(300), .seconds(20))
        say("the event loop stalls for \(time.text)")
        stalledUntil = monotonic + time
        schedule(.loopResumes, after: time)
    }

    private func toggleFreezing() {
        guard !processes.contains(where: { $0.freezeAsked }) else { return }
        freezingAvailable.toggle()
        say("processes can\(freezingAvailable ? "" : "not") be frozen from now on")
        hear(.freezing(available: freezingAvailable))
    }

    private func crashSomebody() {
        let alive = processes.filter { $0.stage == .alive }
        guard !alive.isEmpty else { return }
        let process = random.pick(alive)
        let status = random.pick([ExitStatus.signalled(9), .signalled(11), .exited(0), .exited(3), .unknown])
        if process.isFrozen, status != .signalled(9) { return }
        plan(Reaction(after: .microseconds(1), deed: .exits(status)), for: process)
    }

    // MARK: Operators

    @discardableResult
    func request(_ request: ClientRequest) -> RequestID {
        let id = RequestID(rawValue: nextRequest)
        nextRequest += 1
        hear(.client(.requested(id, request)))
        return id
    }

    private func operate() {
        let known = directory.entries.filter { $0.isConfigured || $0.isAdopted && core.view(of: $0.id) != nil }
        guard !known.isEmpty else { return }
        for _ in 0..<random.pick([1, 1, 1, 2, 3]) {
            let app = random.pick(known).id
            let wish: ClientRequest =
                switch random.below(10) {
                case 0, 1: .launch(app, background: random.chance(perMille: 400))
                case 2, 3, 4: .activate(app)
                case 5, 6, 7: .background(app)
                default: .terminate(app, force: random.chance(perMille: 300))
                }
            let id = request(wish)
            if plan.strikes(.abandonedRequests, &random) {
                schedule(.deliver(.client(.abandoned(id))), after: random.magnitude(.microseconds(100), .seconds(5)))
            }
        }
    }

    private func warnOfMemory() {
        guard let app = directory.entries.isEmpty ? nil : random.pick(directory.entries) else { return }
        for _ in 0..<random.pick([1, 1, 2]) { request(.warnOfMemory(app.id, random.pick(MemoryLevel.allCases))) }
    }

    private func askStrangely() {
        switch random.below(3) {
        case 0: hear(.client(.abandoned(RequestID(rawValue: nextRequest + 1000))))
        case 1: request(.activate(AppID(rawValue: 977)))
        default:
            let gone = directory.entries.filter { !$0.isConfigured }
            if !gone.isEmpty { request(.terminate(random.pick(gone).id, force: false)) }
        }
    }

    func answered(_ request: RequestID) {
        openRequests.removeAll { $0 == request }
        hookAnswered(request)
    }

    // MARK: The end of a run

    /// The faults stop; what is stuck comes loose; the board is woken.
    func calmDown() {
        say("from here on everything is well")
        calmSince = monotonic
        quietSince = nil
        schedule(.deliver(.timePassed), after: .seconds(1))
        plan.isOver = true
        hastenReturn()
        calmLogin()
        healProcesses()
        calmHardships()
        calmConditions()
        let wakesInTheDark = devicePolicy.darkWakeInterval != nil || core.device.sleepState == .darkWake
        if wakesInTheDark { leaveTheDark() }
        // An order to sleep may lie there unread.
        if logicalSleep || wakesInTheDark || surroundings.hasSleptLogically || plan.had(.logicalSleep) {
            request(.sleep(start: false, logical: true))
        }
        if !freezingAvailable, !staysUnfreezable {
            freezingAvailable = true
            hear(.freezing(available: true))
        }
    }
}
