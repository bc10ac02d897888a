internal import Lifecycle

/// One transition of the core, as seen from outside. A class: it is kept, and handed to all checkers.
final class Step: Sendable {
    let number: Int
    let event: Event
    let effects: [Effect]
    let at: Instant
    /// What the core had asked for before this event.
    let askedBefore: Deadline?
    let asksNow: Deadline?

    init(number: Int, event: Event, effects: [Effect], at: Instant, askedBefore: Deadline?, asksNow: Deadline?) {
        self.number = number
        self.event = event
        self.effects = effects
        self.at = at
        self.askedBefore = askedBefore
        self.asksNow = asksNow
    }

    /// All apps begin to end.
    var beginsEnd: Bool { effects.contains { if case .note(.shutdown(.preparing)) = $0 { true } else { false } } }

    /// By how much more than 250 ms the loop woke later than it had been asked to: time the board did not give.
    func excess(since previous: Nanoseconds) -> Nanoseconds {
        guard let askedBefore else { return .zero }
        let lateness = at.monotonic - Swift.max(askedBefore.at, previous)
        return Swift.max(lateness - .milliseconds(250), .zero)
    }
}
