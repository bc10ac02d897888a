internal import Synchronization

/// A background task that a closure holds: what its expiration has to reach.
final class Hold: Sendable {
    private struct State {
        var isExpired = false
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    /// Opens when the task has been ended, or when its caller has stopped waiting for that.
    let isReleased = Latch()

    var isExpired: Bool { state.withLock { $0.isExpired } }

    /// How the closure is cancelled. The expiration may have come before.
    func onExpiration(_ cancel: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.cancel = cancel
            return state.isExpired
        }
        if isLate { cancel() }
    }

    func expire() {
        let cancel = state.withLock { state in
            state.isExpired = true
            return state.cancel
        }
        cancel?()
    }
}
