/// The board's wish to sleep, for as long as a condition asks for it: a lid that is closed, say, or a board that is
/// idle.
struct RestWish: Equatable {
    /// Between the first time that the board is asked to sleep and the next; then twice as long, up to `longestDelay`.
    static let firstDelay = Nanoseconds.seconds(30)
    static let longestDelay = Nanoseconds.seconds(1800)

    /// MONOTONIC: asked (again) then; nil: at once, if it is wished.
    private(set) var due: Nanoseconds?
    private var delay = Self.firstDelay

    /// Returns whether the board is asked to sleep now.
    mutating func ask(at now: Nanoseconds) -> Bool {
        guard due ?? .zero <= now else { return false }
        due = now + delay
        delay = delay.doubled(upTo: Self.longestDelay)
        return true
    }

    /// The board is awake again though the condition may still hold: it stays so for a while.
    mutating func postpone(at now: Nanoseconds) {
        self = RestWish()
        due = now + Self.firstDelay
    }

    /// What may have stood against a sleep is gone.
    mutating func hasten(at now: Nanoseconds) {
        if due != nil { due = now }
    }

    mutating func archive(_ archive: inout StateArchive) {
        archive.optional(1, &due, .zero) { $0.value(1, &$1) }
        archive.value(2, &delay)
    }
}

extension DeviceLifecycle {
    /// A condition is a level: what refused the sleep may be gone, and a wake that had nothing to do with it does not
    /// end it. logind gives no notice of either, so it is asked again, ever more rarely.
    mutating func settleRest() {
        guard conditions.asksForRest else {
            conditions.restWish = RestWish()
            // The person whose absence began it is back.
            if sleep.isForIdleness, sleep.isLogical { endSleep(cancelled: false, heardFromLogin: false) }
            return
        }
        guard conditions.stillAsksForRest, canAskForSleep, conditions.restWish.ask(at: now.monotonic) else { return }
        goToSleep(isForIdleness: !conditions.holding.contains(.lidClosed) || policy.responses[.lidClosed] != .sleep)
    }

    /// Until logind says too that the last sleep is over, it refuses the next one.
    var canAskForSleep: Bool {
        sleep.state == .awake && !shutdown.isRunning && (policy.sleepsLogically || sleep.echo != .end)
    }

    /// As the board can: in the kernel by logind's hand, or logically.
    mutating func goToSleep(isForIdleness: Bool = false) {
        guard canAskForSleep else { return }
        if policy.sleepsLogically {
            announceSleep(since: now.monotonic, logical: true, byLogin: false)
            sleep.isForIdleness = isForIdleness
        } else {
            emit(.login(.suspendDevice))
        }
    }
}
