internal import Lifecycle

/// Every question to the shell has a deadline: what is not answered is asked again, or given up, within a bound.
///
/// Counted in the time that the board really gave: neither while it slept nor while nothing ran on it.
final class QuestionChecker: Checker {
    static let sees: [EffectKind]? = [
        .spawn, .report, .kill, .readMemory, .readPreparingForSleep, .takeLock, .sleepNotice,
    ]

    private var story = SleepStory()
    private var spawns: [(instance: InstanceID, at: Nanoseconds)] = []
    private var memoryAskedAt: Nanoseconds?
    /// MONOTONIC: since when a delay lock is wanted, neither held nor asked for.
    private var lacking: [Nanoseconds?] = [nil, nil]
    private var sleepAskedAt: Nanoseconds?
    /// The sleep is a logical one: logind is not asked about it.
    private var isOwn = false
    /// How often a lock was asked for in vain.
    private var tries = [0, 0]
    /// When the core had a say last, before the step at hand.
    private var before = Nanoseconds.zero
    private var last = Nanoseconds.zero
    private var lateness = Nanoseconds.zero

    /// What the board has kept to itself is no app's time.
    private func now(_ scene: Scene) -> Nanoseconds { scene.now - scene.board.truth.stolen }

    func heard(_ event: Event, _ scene: Scene) {
        story.hear()
        if scene.announcesRealSleep { isOwn = false }
        before = last
        // A late loop is credited for, and not only once.
        let excess = scene.step.excess(since: last + scene.board.truth.stolen)
        lateness += excess + excess + excess
        last = now(scene)
        switch event {
        case .process(.spawned(let instance)), .process(.spawnFailed(let instance, _, _)):
            spawns.removeAll { $0.instance == instance }
        case .memory(.read): memoryAskedAt = nil
        case .login(.preparingForSleep): sleepAskedAt = nil
        // It is meant anew: what was asked before is of no interest.
        case .login(.prepareForSleep(true, _, _)), .client(.requested(_, .sleep(true, false, _))): sleepAskedAt = nil
        case .login(.lockTaken(let kind)):
            guard kind != .keepAwake else { return }
            lacking[Int(kind.rawValue)] = nil
            // One that comes too late to be of use is no sign that the next will be answered sooner.
            if !scene.step.effects.contains(.login(.releaseLock(kind))) { tries[Int(kind.rawValue)] = 0 }
        case .login(.available), .login(.unavailable):
            // Another logind is asked anew.
            sleepAskedAt = sleepAskedAt == nil || isOwn ? nil : now(scene) + .seconds(30)
            lacking = [nil, nil]
            tries = [0, 0]
        default: break
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        story.see(effect, scene)
        switch effect {
        case .process(.spawn(_, let instance, _, _)): spawns.append((instance, now(scene)))
        case .report(let end): spawns.removeAll { $0.instance == end.instance }
        case .process(.kill(let instance)): spawns.removeAll { $0.instance == instance }
        case .note(.sleep(.preparing)):
            isOwn = !scene.saysRealSleep
            // It was about another one.
            sleepAskedAt = nil
        case .memory(.read): memoryAskedAt = now(scene)
        case .login(.readPreparingForSleep): sleepAskedAt = now(scene)
        case .login(.takeLock(let kind)):
            guard kind != .keepAwake else { return }
            lacking[Int(kind.rawValue)] = now(scene)
            tries[Int(kind.rawValue)] += 1
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        let now = now(scene)
        for (instance, at) in spawns where now - at > .seconds(60) + lateness && before - at > .seconds(50) {
            violate("\(scene.name(instance)) has been spawned \((now - at).text) ago, and nothing came of it", scene)
        }
        if case .memory(.pressure) = step.event, let at = memoryAskedAt, before - at > .seconds(11) {
            violate("memory is short, and the question for it is \((now - at).text) old", scene)
        }
        if story.stage == .asleep, let at = sleepAskedAt, now - at > .seconds(45) {
            violate("the board is asleep, and logind has not answered for \((now - at).text)", scene)
        }
        if story.stage != .asleep { sleepAskedAt = nil }
        lookAtLocks(now, scene)
    }

    private func lookAtLocks(_ now: Nanoseconds, _ scene: Scene) {
        let login = scene.board.login
        let isQuiet =
            story.stage == .awake && login.isPresent && login.isConnected && login.sleep == .idle
            && login.shutdown == .idle && !scene.chronicle.isEnding && scene.board.stalledUntil == nil
        for kind in [LockKind.sleep, .shutdown] {
            let index = Int(kind.rawValue)
            guard isQuiet, !login.holds(kind) else {
                lacking[index] = nil
                continue
            }
            let since = lacking[index] ?? now
            lacking[index] = since
            // 30 s for the answer, twice as long after a late one; then longer and longer: up to 2 min each.
            if now - since > .seconds(tries[index] < 2 ? 95 : tries[index] < 3 ? 185 : 245) + lateness {
                violate("the \(kind) lock is not held, and was not asked for in \((now - since).text)", scene)
            }
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.questions, message) }
}
