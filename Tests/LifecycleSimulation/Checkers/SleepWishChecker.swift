internal import Lifecycle

/// When the board itself wishes to sleep: at the power key, or for a condition that lasts.
///
/// - A key asks for it at once where the policy has it so, but not within 2 s of a wake.
/// - A condition asks for it at once, 30 s after a wake, and again after 30 s, 1 min, 2 min and so on to 30 min; at
///   once when our own lock, or a logind that has gone, cannot be what stood against it any more.
/// - A board that cannot sleep sleeps logically, any other one is put to sleep by logind; none that is to be switched
///   off is.
final class SleepWishChecker: Checker {
    static let sees: [EffectKind]? = [.sleepNotice, .suspendDevice, .releaseLock]

    private static let first = Nanoseconds.seconds(30)

    private var story = SleepStory()
    /// MONOTONIC; nil: at once.
    private var due: Nanoseconds?
    private var delay = first
    /// It cannot be told when it is asked for again.
    private var isVague = false
    /// logind has nothing left to say of a sleep before.
    private var isClear: Bool?
    private var wasPossible = false
    /// BOOTTIME.
    private var wokeAt: Nanoseconds?
    private var asleep: Nanoseconds?
    // In this step.
    private var hasAsked = false
    private var wasClear = false
    private var isHastened = false

    func heard(_ event: Event, _ scene: Scene) {
        if isClear == nil { begin(scene) }
        story.hear()
        hasAsked = false
        isHastened = false
        wasClear = isClear ?? false
        let asleepNow = scene.step.at.boottime - scene.step.at.monotonic
        if asleepNow != asleep ?? asleepNow { isClear = false }
        asleep = asleepNow
        switch event {
        case .login(.prepareForSleep(false, _, _)): isClear = true
        case .login(.available(_, let isPreparing, _)):
            if isPreparing { isClear = false }
            hasten(scene)
        case .login(.unavailable): hasten(scene)
        default: break
        }
        guard !scene.conditions.isRestInForce else { return }
        due = nil
        delay = Self.first
        isVague = false
    }

    /// One that carries on knows nothing of what its predecessor has asked.
    private func begin(_ scene: Scene) {
        isClear = !scene.board.hasCarriedOn
        isVague = scene.board.hasCarriedOn
        wokeAt = scene.board.hasCarriedOn ? scene.step.at.boottime : nil
    }

    private func hasten(_ scene: Scene) {
        isHastened = true
        if let due { self.due = min(due, scene.now) }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        let isDark = story.stage == .dark || story.former == .dark
        story.see(effect, scene)
        switch effect {
        case .login(.suspendDevice): if !isDark { asked(isLogical: false, scene) }
        case .note(.sleep(.preparing)):
            if !isTold(scene.step.event), !isDark { asked(isLogical: true, scene) }
        case .note(.sleep(.ended)):
            // Whether what wished it, or stood against it, went before or after the sleep in this step cannot be told.
            isVague = !scene.conditions.isRestInForce || isHastened
            due = isVague ? nil : scene.now + Self.first
            delay = Self.first
            wokeAt = scene.step.at.boottime
        case .login(.releaseLock(.keepAwake)):
            hasten(scene)
            // One that comes too late is given back.
            if scene.step.event == .login(.lockTaken(.keepAwake)) { isVague = true }
        default: break
        }
    }

    private func asked(isLogical: Bool, _ scene: Scene) {
        if scene.chronicle.isEnding { violate("it is asked to, and all apps are to end", scene) }
        if isLogical != scene.conditions.policy.sleepsLogically { violate("it is not put to sleep as it can", scene) }
        if isKey(scene), !isKeyTooSoon(scene), !hasAsked {
            hasAsked = true
            return
        }
        hasAsked = true
        if !scene.conditions.isRestInForce { violate("it is asked to, and nothing wishes it", scene) }
        if let due, scene.now < due { violate("it is asked to \((due - scene.now).text) too soon", scene) }
        due = scene.now + delay
        delay = delay.doubled(upTo: .seconds(1800))
    }

    /// It is begun by logind, a hook or an operator.
    private func isTold(_ event: Event) -> Bool {
        if case .client(.requested(_, .sleep)) = event { return true }
        return event.saysRealSleep
    }

    private func isKey(_ scene: Scene) -> Bool {
        scene.step.event == .board(.keyPressed(.power)) && story.former == .awake
            && scene.conditions.policy.responses[.powerKey] == .sleep
    }

    /// It is the one that woke the board.
    private func isKeyTooSoon(_ scene: Scene) -> Bool {
        wokeAt.map { scene.step.at.boottime - $0 <= .seconds(2) } ?? false
    }

    func stepped(_ step: Step, _ scene: Scene) {
        settleClearness(step.event)
        let isPossible =
            story.stage == .awake && !scene.chronicle.isEnding
            && (scene.conditions.policy.sleepsLogically || isClear == true)
        defer { wasPossible = isPossible }
        let mayKey = wasPossible && (scene.conditions.policy.sleepsLogically || wasClear)
        if isKey(scene), mayKey, isPossible || story.hasBegun, !isKeyTooSoon(scene), !hasAsked {
            violate("it is not asked to, and the key was pressed", scene)
        }
        guard isPossible, !isVague, !hasAsked, scene.conditions.isRestInForce, scene.conditions.wantsSleep else {
            return
        }
        if wasPossible, scene.now >= due ?? .zero { violate("it is not asked to", scene) }
        if let due, step.asksNow?.at ?? .max > max(due, scene.now) { violate("nothing is due to ask it again", scene) }
    }

    private func settleClearness(_ event: Event) {
        if story.stage != .awake {
            isClear = false
            return
        }
        switch event {
        case .login(.prepareForSleep(false, _, _)): isClear = true
        case .login(.preparingForSleep(false)): if story.former != .preparing { isClear = true }
        case .login(.available(_, false, _)): if story.former == .awake { isClear = true }
        default: break
        }
    }

    private func violate(_ message: String, _ scene: Scene) {
        scene.inspection.violate(.sleepWishes, "the board's sleep: \(message)")
    }
}
