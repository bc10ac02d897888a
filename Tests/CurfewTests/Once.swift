import Synchronization

/// So many times true, then false.
final class Once: Sendable {
    private let left: Mutex<Int>

    init(_ times: Int = 1) { left = Mutex(times) }

    func take() -> Bool {
        left.withLock { left in
            left -= 1
            return left >= 0
        }
    }
}
