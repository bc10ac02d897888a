internal import Lifecycle

/// When the budgets of apps that are never in front are filled: after a day, after a sleep of 30 min and more, and when
/// external power comes (once an hour at most).
struct FillMoments {
    enum Fill { case none, possible, certain }

    private static let day = Nanoseconds.seconds(86_400)
    private static let sleep = Nanoseconds.seconds(1800)
    private static let hour = Nanoseconds.seconds(3600)

    /// By time alone: before the event at hand was heard.
    private(set) var byTime = Fill.none
    private var inFront: [AppID] = []
    /// They are not configured any more: what they were in front counts only until they are again.
    private var removed: [AppID] = []
    /// As was said last where it was known.
    private var wasExternal: Bool?
    /// BOOTTIME, when external power did it last.
    private var powered: Nanoseconds?
    private var isStarted = false
    /// BOOTTIME of the last time: surely not before the first, nor after the second.
    private var filled: (first: Nanoseconds, last: Nanoseconds)?
    /// BOOTTIME less MONOTONIC.
    private var asleep: Nanoseconds?
    private var grown = Nanoseconds.zero
    private var story = SleepStory()

    func hasBeenInFront(_ app: AppID) -> Bool { inFront.contains(app) }

    mutating func hear(_ event: Event, _ scene: Scene) {
        let now = scene.step.at.boottime
        byTime = .none
        let wasAsleep = story.stage == .asleep
        story.hear(event, scene)
        if case .configured = event { noteConfiguration(scene) }
        let asleepNow = now - scene.now
        grown = asleep.map { asleepNow - $0 } ?? .zero
        asleep = asleepNow
        if grown >= Self.sleep {
            byTime = .certain
        } else if wasAsleep, scene.saysRealSleep, now - story.released.boottime >= Self.sleep {
            // Until now it was a logical one.
            byTime = .possible
        }
        note(byTime, now)
        guard isStarted || filled != nil else {
            if event == .started { isStarted = true }
            return
        }
        let day = judgeDay(now)
        note(day, now)
        if byTime == .none || day == .certain { byTime = day }
        if event == .started { isStarted = true }
    }

    private mutating func judgeDay(_ now: Nanoseconds) -> Fill {
        guard isStarted else { return .none }
        guard let filled else {
            self.filled = (now, now)
            return .none
        }
        if now - filled.last >= Self.day { return .certain }
        return now - filled.first >= Self.day ? .possible : .none
    }

    private mutating func note(_ fill: Fill, _ now: Nanoseconds) {
        switch fill {
        case .none: break
        case .possible: filled = (filled?.first ?? now, now)
        case .certain: filled = (now, now)
        }
    }

    private mutating func noteConfiguration(_ scene: Scene) {
        for app in inFront {
            let isConfigured = scene.board.directory.entry(app)?.isConfigured == true
            if !isConfigured, !removed.contains(app) {
                removed.append(app)
            } else if isConfigured, removed.contains(app) {
                removed.removeAll { $0 == app }
                inFront.removeAll { $0 == app }
            }
        }
    }

    /// What the effect says of it.
    mutating func see(_ effect: Effect, _ scene: Scene) -> Fill {
        guard case .note(let notice) = effect else { return .none }
        let now = scene.step.at.boottime
        let wasAsleep = story.stage == .asleep
        let released = story.released.boottime
        story.see(effect, scene)
        var fill = Fill.none
        switch notice {
        case .app(.phaseChanged(let app, .active)): if !inFront.contains(app) { inFront.append(app) }
        case .board(.externalPower(let isExternal, _)):
            if isExternal, wasExternal != true { fill = powerCame(now) }
            wasExternal = isExternal
        case .sleep(.ended), .sleep(.darkWake):
            if wasAsleep, now - released >= Self.sleep, grown < Self.sleep { fill = .possible }
        default: break
        }
        note(fill, now)
        return fill
    }

    private mutating func powerCame(_ now: Nanoseconds) -> Fill {
        if let powered, now - powered < Self.hour { return .none }
        powered = now
        return .certain
    }
}
