internal import Lifecycle

/// What comes so late that it is about something else by then. With a generator of its own, so that everything else
/// stays where it is.
extension SimulatedBoard {
    /// On rough boards only.
    func happensLate(perMille: Int) -> Bool {
        let isRolled = lateRandom.chance(perMille: perMille)
        return isRolled && isRough && !plan.isOver
    }

    /// Nothing of it is there yet that could be killed.
    func isToCome(_ process: SimulatedProcess) -> Bool { process.comesLate && process.stage == .starting }

    /// The end of the sleep before, as the next one is announced.
    func sendLateEnd(after delay: Nanoseconds) {
        guard happensLate(perMille: 60) else { return }
        let time = delay + lateRandom.magnitude(.microseconds(10), .seconds(2))
        say("a late word: the sleep before is over")
        schedule(.deliver(.login(.prepareForSleep(false, delayMax: nil, signalled: monotonic + time))), after: time)
    }

    /// A hook that tells of the end of a sleep when the next one has begun.
    func tellLateOfWake() {
        guard happensLate(perMille: 150) else { return }
        let time = lateRandom.magnitude(.milliseconds(100), .seconds(20))
        plan(.announcesSleep, after: time)
        let more = lateRandom.magnitude(.microseconds(100), .seconds(8))
        plan(.asks(.sleep(start: false, logical: false)), after: time + more)
    }

    /// Whether the answer to the question for PreparingForSleep does not come as usual.
    func answersPreparingLate(_ answer: Bool?) -> Bool {
        // A late "no" says nothing new; a late "yes" would be another sleep.
        if answer == false, happensLate(perMille: 60) {
            let time = lateRandom.magnitude(.milliseconds(1), .seconds(8))
            schedule(.deliver(.login(.preparingForSleep(answer))), after: time)
            return true
        }
        guard core.device.sleepState == .asleep, happensLate(perMille: 100) else { return false }
        // It takes the answer with it.
        plan(.outage, after: .zero)
        return true
    }

    /// How long logind is away.
    func absence(_ usual: Nanoseconds) -> Nanoseconds {
        happensLate(perMille: 300) ? lateRandom.span(.seconds(60), .seconds(300)) : usual
    }

    /// A question that outlives its logind, where the bus keeps it for the next one. With a generator of its own, too.
    func keepQuestions() {
        login.strays = []
        guard isRough, !plan.isOver else { return }
        login.strays = LockKind.allCases.filter {
            login.asked[Int($0.rawValue)] && strayRandom.chance(perMille: 400)
        }
    }

    /// The next logind grants it, before the daemon has heard that there is one.
    func grantStrays() {
        for kind in login.strays where login.isHeard && !login.isPreparing(kind) {
            say("a question for a \(kind) lock from before logind went is granted")
            login.grant(kind)
            login.answers[Int(kind.rawValue)].append(login.connection)
            sendFromLogin(.login(.lockTaken(kind)), after: transport(&strayRandom))
        }
        login.strays = []
    }

    func loseLoginInTheDark() {
        if happensLate(perMille: 100) { plan(.outage, after: lateRandom.magnitude(.milliseconds(1), .seconds(4))) }
    }

    /// A reload in the middle of a shutdown.
    func reloadLate() {
        if happensLate(perMille: 600) { plan(.reloads, after: lateRandom.magnitude(.milliseconds(1), .seconds(5))) }
    }

    /// The generator for everything else does not hear of it.
    func reloadBesides() {
        let kept = random
        random = lateRandom
        if random.chance(perMille: 500), let first = configuration.first?.name {
            // All of them come after one by now.
            for index in configuration.indices.dropFirst() { configuration[index].after = [first] }
            hear(.configured(configuration, devicePolicy))
        } else {
            reload()
        }
        lateRandom = random
        random = kept
    }

    /// Where one app is in front at a time, another is wanted there just before the board is to sleep.
    func claimFront() {
        guard devicePolicy.front == .one, !plan.isOver, core.device.sleepState == .awake,
            lateRandom.chance(perMille: 500)
        else { return }
        let others = processes.filter { $0.stage == .alive && core.view(of: $0.app)?.phase == .background }
        if !others.isEmpty { request(.activate(lateRandom.pick(others).app)) }
    }

    /// External power comes when the board is about to be switched off for want of it.
    func plugInLate() {
        guard happensLate(perMille: 300) else { return }
        plan(.charger(true), after: lateRandom.magnitude(.milliseconds(10), .seconds(3)))
    }
}
