/// An order to end an instance. Moments are readings of its clock, but for `waveEnd`.
struct StopOrder: Equatable {
    private(set) var reason: TerminationReason
    /// MONOTONIC: the end of a shutdown's wave.
    var waveEnd: Nanoseconds?
    /// SIGTERM has been sent (or the app said STOPPING=1): the deadline for its exit.
    private(set) var exitDue: Nanoseconds?
    private(set) var exitAllowance = Nanoseconds.zero
    /// The latest that EXTEND_TIMEOUT_USEC may move it to.
    private(set) var extensionLimit = Nanoseconds.zero
    /// What it was moved to.
    private(set) var extendedDue = Nanoseconds.zero
    var isExtended: Bool { extendedDue > .zero }
    /// The main process has ended as it was to: the time is that of what it has left behind.
    private(set) var isMainGone = false
    /// The app began to end by itself: the way it exits is the reason.
    private(set) var isOwnWish = false

    /// It is carried out from now on. isAsked: SIGTERM is sent at once.
    mutating func begin(_ allowance: Nanoseconds, isAsked: Bool, at reading: Nanoseconds) {
        exitAllowance = allowance
        extensionLimit = reading + Allowances.longest(of: allowance)
        if isAsked { exitDue = reading + allowance }
    }

    /// willTerminate has returned: what is left of its time is for the exit.
    mutating func didAnswer() {
        exitDue = max(extensionLimit - Allowances.longest(of: exitAllowance) + exitAllowance, extendedDue)
    }

    mutating func mainIsGone() {
        isMainGone = true
        if exitDue == nil { didAnswer() }
    }

    /// A second order: the earlier end of a wave counts, an operator's outlives a shutdown's, and an app that was
    /// ending by its own wish is now asked to. Returns whether it is.
    mutating func tighten(_ reason: TerminationReason, waveEnd other: Nanoseconds?) -> Bool {
        if let other { waveEnd = min(other, waveEnd ?? .max) }
        if isOwnWish || reason.namespace == .user { self.reason = reason }
        let wasOwnWish = isOwnWish
        isOwnWish = false
        return wasOwnWish
    }

    /// What is left behind is no app's word.
    mutating func extend(to wanted: Nanoseconds) {
        if isMainGone { return }
        let extended = min(wanted, extensionLimit)
        extendedDue = max(extendedDue, extended)
        if let due = exitDue { exitDue = max(due, extended) }
    }

    mutating func archive(_ archive: inout StateArchive) {
        archive.group(1) { reason.archive(&$0) }
        archive.optional(2, &waveEnd, .zero) { $0.value(1, &$1) }
        archive.optional(3, &exitDue, .zero) { $0.value(1, &$1) }
        archive.value(4, &exitAllowance)
        archive.value(5, &extensionLimit)
        archive.value(6, &extendedDue)
        archive.value(7, &isMainGone)
        archive.value(8, &isOwnWish)
    }
}

/// Why an instance was killed, with the handler that was running then.
struct Cause: Equatable {
    var reason: TerminationReason
    var handler: Handler?
    var allowance: Nanoseconds?
    var taken: Nanoseconds?

    mutating func archive(_ archive: inout StateArchive) {
        archive.group(1) { reason.archive(&$0) }
        archive.optional(2, &handler, .didFinishLaunching) { $0.raw(1, &$1) }
        archive.optional(3, &allowance, .zero) { $0.value(1, &$1) }
        archive.optional(4, &taken, .zero) { $0.value(1, &$1) }
    }
}
