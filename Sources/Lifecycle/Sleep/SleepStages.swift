// What is only so in one stage of a sleep.

/// Where a sleep stands.
enum SleepStage: Equatable {
    case awake
    case preparing(Preparation)
    case asleep(Asleep)
    case darkWake(DarkWake)

    // What is changed is taken out first: else its arrays would be copied.

    mutating func change(_ change: (inout Preparation) -> Void) {
        guard case .preparing(var preparation) = self else { return }
        self = .awake
        change(&preparation)
        self = .preparing(preparation)
    }

    mutating func change(_ change: (inout Asleep) -> Void) {
        guard case .asleep(var asleep) = self else { return }
        change(&asleep)
        self = .asleep(asleep)
    }
}

/// A client that waits until all apps are ready for sleep.
struct WaitingClient: Equatable {
    var id: RequestID
    /// It waits until nothing holds the board up any more, and needs the sleep's number, whatever comes of it.
    var isHook: Bool
}

/// The lock is released: the board sleeps, is about to, or does so logically.
struct Asleep: Equatable {
    /// When the lock was released.
    var released: Instant
    var overtime = Preparation.Overtime()
    /// How long the board gave no time since then though MONOTONIC ran on.
    var timeStopped = Nanoseconds.zero
    /// BOOTTIME at which our alarm wakes the board; nil: none is set.
    var alarm: Nanoseconds?
    /// Whether the sleep is still meant.
    var question = Question.none

    /// What logind is asked where no sign of a sleep comes.
    enum Question: Equatable {
        case none
        /// MONOTONIC.
        case due(Nanoseconds)
        case asked

        var due: Nanoseconds? { if case .due(let at) = self { at } else { nil } }
    }
}

extension Sleep {
    var state: SleepState {
        switch stage {
        case .awake: .awake
        case .preparing: .preparing
        case .asleep: .asleep
        case .darkWake: .darkWake
        }
    }

    /// Up, for persons or in the dark: no app is on its way to sleep.
    var isUp: Bool {
        switch stage {
        case .awake, .darkWake: true
        case .preparing, .asleep: false
        }
    }

    /// Prepared, or released to a kernel that has not slept since, as far as the clocks tell: while logind waits for
    /// others, apps still run.
    var isYetToCome: Bool {
        switch stage {
        case .preparing: true
        case .asleep(let asleep): !isLogical && !clocksShowSleep && asleep.timeStopped == .zero
        case .awake, .darkWake: false
        }
    }

    var preparation: Preparation? {
        switch stage {
        case .preparing(let preparation): preparation
        case .awake, .asleep, .darkWake: nil
        }
    }

    var asleep: Asleep? {
        switch stage {
        case .asleep(let asleep): asleep
        case .awake, .preparing, .darkWake: nil
        }
    }

    var darkWake: DarkWake? {
        switch stage {
        case .darkWake(let darkWake): darkWake
        case .awake, .preparing, .asleep: nil
        }
    }

    /// Until logind says too that the last sleep is over, it refuses the next one.
    var mayReturn: Bool { isLogical || echo != .end }

    /// How long logind's word on the end of the last sleep is waited for, over the allowance: hooks of others may
    /// hold it.
    static let longestDarkness = Nanoseconds.seconds(300)

    /// When something is done about a dark wake that lasts too long; nil: there is none.
    var darkWakeDue: Nanoseconds? {
        darkWake.map { mayReturn ? $0.end : $0.end + Self.longestDarkness }
    }

    var nextDeadline: Deadline? {
        switch stage {
        case .preparing(let preparation): return preparation.deadline
        case .asleep(let asleep): return asleep.question.due.map { Deadline(at: $0, reason: .sleepCancellation) }
        case .awake, .darkWake:
            var next = Deadline.never
            next.consider(echoDue, .sleepCancellation)
            next.consider(darkWakeDue, .darkWake)
            return next
        }
    }

    /// What is over of the time to get ready.
    var overtime: Preparation.Overtime {
        switch stage {
        case .preparing(let preparation): preparation.overtime
        case .asleep(let asleep): asleep.overtime
        case .awake, .darkWake: Preparation.Overtime()
        }
    }
}
