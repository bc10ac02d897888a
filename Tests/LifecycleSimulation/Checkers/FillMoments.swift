internal import Lifecycle

/// When the budgets of apps that are never in front may have been filled: after a day, after a sleep of 30 min, and
/// when external power comes (once an hour at most). More often than that is not claimed to be wrong here.
struct FillMoments {
    /// In the step at hand.
    private(set) var mayHaveCome = false
    private var inFront: [AppID] = []
    /// As was said last where it was known.
    private var wasExternal: Bool?
    /// BOOTTIME, when external power did it last.
    private var powered: Nanoseconds?
    private var last: Nanoseconds?
    private var filled: Nanoseconds?
    private var released = Nanoseconds.zero

    func hasBeenInFront(_ app: AppID) -> Bool { inFront.contains(app) }

    mutating func hear(_ event: Event, _ scene: Scene) {
        let now = scene.step.at.boottime
        mayHaveCome = false
        if case .configured = event { inFront = [] }
        if let last, now - last >= .seconds(1700) { mayHaveCome = true }
        if released > .zero, now - released >= .seconds(1700) { mayHaveCome = true }
        if now - (filled ?? now) >= .seconds(80_000) { mayHaveCome = true }
        for case .note(.externalPower(let isExternal, _)) in scene.step.effects {
            if isExternal, wasExternal != true { powerCame(now) }
            wasExternal = isExternal
        }
        last = now
        if filled == nil { filled = now }
    }

    private mutating func powerCame(_ now: Nanoseconds) {
        if let powered, now - powered < .seconds(3600) { return }
        powered = now
        mayHaveCome = true
    }

    mutating func see(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .note(.phaseChanged(let app, .active)): if !inFront.contains(app) { inFront.append(app) }
        case .note(.sleepReleased): released = scene.step.at.boottime
        case .note(.sleepPreparing): released = .zero
        default: break
        }
    }
}
