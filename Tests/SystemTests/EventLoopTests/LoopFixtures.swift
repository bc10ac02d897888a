import CLinux
import EventLoop
import SystemCalls

/// Counts the tokens that are alive: what a closure captured and has not been freed.
final class Lifetimes {
    private(set) var count = 0

    final class Token {
        private let lifetimes: Lifetimes
        fileprivate init(_ lifetimes: Lifetimes) {
            self.lifetimes = lifetimes
            lifetimes.count += 1
        }
        deinit { lifetimes.count -= 1 }
    }

    func token() -> Token { Token(self) }
}

final class PipePair {
    let reader: FileDescriptor
    private(set) var writer: FileDescriptor

    init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else { throw SystemError("pipe2") }
        reader = FileDescriptor(owning: ends[0])
        writer = FileDescriptor(owning: ends[1])
    }

    /// Leaves a duplicate of the reading end in the writer's place.
    func closeWriter() throws(SystemError) { writer = try reader.duplicate() }
}

struct TimedOut: Error {}

extension EventLoop {
    /// Runs everything that is ready now.
    func turn() throws { while try runOnce(timeoutMicroseconds: 0) {} }

    /// Runs the loop until the condition holds; throws when it does not within so many seconds.
    func run(seconds: Int64 = 20, until condition: () throws -> Bool) throws {
        let end = Clocks.monotonic + seconds * 1_000_000_000
        while try !condition() {
            let left = end - Clocks.monotonic
            guard left > 0 else { throw TimedOut() }
            try runOnce(timeoutMicroseconds: UInt64(min(left / 1000, 20_000)))
        }
    }
}
