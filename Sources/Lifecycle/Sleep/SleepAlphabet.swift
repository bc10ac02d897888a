/// What the kernel says of a sleep, and what a predecessor has noted of one. Edges are
/// `.login(.prepareForSleep)` and `.client(.requested(.sleep))`; see `Sleep` for what else begins and ends one.
public enum SleepEvent: Equatable, Sendable {
    /// Whether the kernel has slept since the present sleep was announced, or refused to
    /// (/sys/power/suspend_stats). Comes before the word that the board is awake, where the kernel counts.
    case kernelSlept(Bool)
    /// The daemon is started anew, and its predecessor left a note of a sleep that was announced: BOOTTIME less
    /// MONOTONIC then. Comes before logind's first word.
    case noted(timeAsleep: Nanoseconds)
}

/// What is asked for a sleep, beside logind.
public enum SleepEffect: Equatable, Sendable {
    /// true: the apps are ready for a sleep of the kernel, so that a service that announces sleeps beside logind need
    /// not announce this one; false: it must announce the next.
    case handled(Bool)
    /// Wake the board at a moment of BOOTTIME, and the core then; nil: not any more.
    case setWakeAlarm(Nanoseconds?)
}

/// What the journal is told of sleeps.
public enum SleepNotice: Equatable, Sendable {
    case preparing(sleep: Int, allowance: Nanoseconds)
    /// elapsed: from the announcement.
    case released(sleep: Int, elapsed: Nanoseconds, killed: Int)
    case ended(sleep: Int, SleepOutcome)
    /// Our alarm has woken the board: held background tasks run, for so long at most.
    case darkWake(sleep: Int, allowance: Nanoseconds)
    /// The board slept without a word to us.
    case unannounced(Nanoseconds)
}

/// What became of a sleep.
public enum SleepOutcome: UInt8, CaseIterable, Sendable {
    /// The board has slept, in the kernel or logically.
    case slept
    /// Called off before the kernel was asked, or never meant.
    case cancelled
    /// Announced, and every app ready: the kernel did not sleep.
    case failed
}

extension DeviceLifecycle {
    mutating func hear(_ event: SleepEvent) {
        switch event {
        case .kernelSlept(let hasSlept): sleep.kernelCountedSleep = hasSlept
        case .noted(let timeAsleep): login.note(timeAsleep)
        }
    }
}
