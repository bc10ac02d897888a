/// The time in which an app could run: MONOTONIC less what it spent frozen and less what the board did not give.
///
/// Deadlines are kept as readings of this clock, so that freezing an app or crediting a stall moves all of them at
/// once.
struct RunnableClock: Equatable {
    /// Time that does not count, before the present freeze.
    private(set) var lost = Nanoseconds.zero
    private(set) var stoppedAt: Nanoseconds?

    var isStopped: Bool { stoppedAt != nil }

    func reading(at now: Nanoseconds) -> Nanoseconds { (stoppedAt ?? now) - lost }

    /// When MONOTONIC will be at a reading; nil while the clock stands still.
    func moment(of reading: Nanoseconds) -> Nanoseconds? { stoppedAt == nil ? reading + lost : nil }

    mutating func stop(at now: Nanoseconds) {
        if stoppedAt == nil { stoppedAt = now }
    }

    mutating func resume(at now: Nanoseconds) {
        guard let stopped = stoppedAt else { return }
        lost += now - stopped
        stoppedAt = nil
    }

    /// The board gave no time for so long. While the clock stands still there is nothing to credit.
    mutating func credit(_ time: Nanoseconds) {
        if stoppedAt == nil { lost += time }
    }

    mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &lost)
        archive.optional(2, &stoppedAt, .zero) { $0.value(1, &$1) }
    }
}
