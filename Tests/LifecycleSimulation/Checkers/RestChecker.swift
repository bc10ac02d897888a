internal import Lifecycle

/// A condition by which the board is to sleep lasts: as long as it does, a sleep is asked for again after each one that
/// does not come about or is over, after 30 s at first, and 30 min at the most. And a sleep without the kernel that
/// began for want of people ends when they are there.
final class RestChecker: Checker {
    static let sees: [EffectKind]? = [.sleepNotice, .suspendDevice, .readPreparingForSleep]

    private var story = SleepStory()
    /// MONOTONIC: since when the condition has lasted, with the board awake and nothing known against a sleep.
    private var stolenBefore = Nanoseconds.zero
    private var since: Nanoseconds?
    /// How often logind was asked since then whether it prepares a sleep, and has not said.
    private var unknowns = Int64(0)
    /// How often it was asked since the condition began.
    private var asks = 0
    private var isForIdleness = false
    private var movedSince: Nanoseconds?

    func heard(_ event: Event, _ scene: Scene) {
        story.hear()
        if case .configured = event { isForIdleness = false }
        if case .client(.requested(_, .sleep)) = event { isForIdleness = false }
        if case .login(.preparingForSleep(.some)) = event { unknowns = max(unknowns - 1, 0) }
        if scene.announcesRealSleep { isForIdleness = false }
        if case .board(.keyPressed(.power)) = event { isForIdleness = false }
        if case .board(.lid) = event { isForIdleness = false }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        story.see(effect, scene)
        switch effect {
        case .login(.suspendDevice):
            if story.former != .dark, story.stage != .dark, scene.step.event != .board(.keyPressed(.power)),
                !scene.conditions.wantsSleep
            {
                violate("the board is asked to sleep, and nothing wishes it any more", scene)
            }
            asked(scene)
        case .login(.readPreparingForSleep): unknowns += 1
        case .note(.sleep(.preparing)):
            asked(scene)
            // After a dark wake the same sleep goes on.
            if story.former != .dark { isForIdleness = isOfIdleness(scene) }
        default: break
        }
    }

    private func asked(_ scene: Scene) {
        asks += 1
        since = nil
    }

    /// Nothing else than the absence of people asks for it.
    private func isOfIdleness(_ scene: Scene) -> Bool {
        let surroundings = scene.board.surroundings
        guard scene.conditions.policy.sleepsLogically, scene.conditions.policy.responses[.idle] == .sleep,
            surroundings.session.isIdle, surroundings.session.users > 0, !surroundings.isLidClosed
        else { return false }
        switch scene.step.event {
        case .board(.session), .timePassed: return true
        default: return false
        }
    }

    /// On the board, whatever the daemon has heard of it by now.
    private func isWanted(_ scene: Scene) -> Bool {
        let policy = scene.conditions.policy
        let surroundings = scene.board.surroundings
        return surroundings.isLidClosed && scene.conditions.isLidClosed && policy.responses[.lidClosed] == .sleep
    }

    private func isPossible(_ scene: Scene) -> Bool {
        let login = scene.board.login
        return scene.conditions.policy.sleepsLogically
            || login.isPresent && login.isConnected && login.sleep == .idle && login.shutdown == .idle
                // It is the only sign that the last sleep is over where logind's word on that is lost.
                && login.holds(.sleep)
    }

    func stepped(_ step: Step, _ scene: Scene) {
        judgeIdleness(scene)
        guard isWanted(scene) else {
            since = nil
            if !scene.conditions.wantsSleep { asks = 0 }
            return
        }
        guard story.stage == .awake, isPossible(scene), !scene.chronicle.isEnding,
            scene.board.stalledUntil == nil
        else {
            since = nil
            return
        }
        if since == nil {
            stolenBefore = scene.board.truth.stolen
            unknowns = 0
        }
        let begun = since ?? scene.now
        since = begun
        let waited = scene.now - begun - (scene.board.truth.stolen - stolenBefore)
        var patience = Nanoseconds.seconds(30)
        for _ in 0..<min(asks, 8) { patience = patience.doubled(upTo: .seconds(1800)) }
        // A little for the debounce and for logind's last word on the sleep before.
        let slack = Nanoseconds.seconds(35 + 31 * unknowns)
        guard waited > patience + scene.conditions.policy.debounce + slack else { return }
        violate("the lid has been closed for \(waited.text), and no sleep is asked for", scene)
    }

    private func judgeIdleness(_ scene: Scene) {
        // A loop that stood still saw neither their coming nor their going.
        if scene.times.excess > .zero { movedSince = nil }
        guard isForIdleness, story.stage == .asleep, !scene.board.surroundings.session.isIdle,
            scene.board.stalledUntil == nil
        else {
            movedSince = nil
            return
        }
        let moved = movedSince ?? scene.now
        movedSince = moved
        guard scene.now - moved > scene.conditions.policy.debounce + .seconds(3) else { return }
        violate("the board sleeps for want of people, and they are there", scene)
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.rest, message) }
}
