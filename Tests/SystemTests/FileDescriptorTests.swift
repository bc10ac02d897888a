import CLinux
import Foundation
import SystemCalls
import Testing

/// Transfers that a signal's handler interrupts in the middle.
@Suite struct FileDescriptorTests {
    /// A real-time signal that nothing else here uses.
    private static let number: Int32 = 42

    init() {
        // SA_RESTART is not set, as signal(2) would.
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        sigaction(Self.number, &action, nil)
    }

    /// Runs `body` on a thread of its own, and interrupts it once it waits in the kernel.
    private func interrupted<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value, then finish: () -> Void
    ) throws -> Value {
        let worker = Worker(Self.number, body)
        worker.start()
        for _ in 0..<3 where worker.waitsInKernel() { pthread_kill(try #require(worker.thread), Self.number) }
        finish()
        return try #require(worker.result())
    }

    @Test func reading_goesOnAfterASignal() throws {
        let pipe = try Pipe()
        let reading = pipe.reading.rawValue
        let bytes = try interrupted {
            Result { try FileDescriptor.duplicate(of: reading).readAll(limit: 3) }
        } then: {
            try? pipe.writing.writeAll(Array("abc".utf8))
        }
        #expect(try bytes.get() == Array("abc".utf8))
    }

    /// What the socket had taken by then is a short transfer, and no error.
    @Test func writing_goesOnWhereASignalCutItShort() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let reading = FileDescriptor(owning: ends[0])
        let writing = FileDescriptor(owning: ends[1])
        let number = writing.rawValue
        let sent = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 / 256) }
        var received: [UInt8] = []
        let result = try interrupted {
            let result = Result { try FileDescriptor.writeAll(sent, to: number) }
            _ = shutdown(number, Int32(SHUT_WR))
            return result
        } then: {
            received = (try? reading.readAll()) ?? []
        }
        try result.get()
        writing.close()
        #expect(received.count == sent.count)
        // Not as one expectation: it would look for the difference of two megabytes.
        let isSame = received == sent
        #expect(isSame)
    }
}

/// A thread that can be looked at from outside, and takes signals.
private final class Worker<Value: Sendable>: @unchecked Sendable {
    private let lock = NSCondition()
    private let left = DispatchSemaphore(value: 0)
    private let signal: Int32
    private let body: @Sendable () -> Value
    private var value: Value?
    private var place: String?
    private(set) var thread: pthread_t?

    init(_ signal: Int32, _ body: @escaping @Sendable () -> Value) {
        self.signal = signal
        self.body = body
    }

    func start() {
        Thread.detachNewThread { [self] in
            // The threads of a dispatch queue have all blocked, and leave that to those that they start.
            var set = sigset_t()
            sigemptyset(&set)
            sigaddset(&set, signal)
            pthread_sigmask(SIG_UNBLOCK, &set, nil)
            lock.withLock {
                place = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
                thread = pthread_self()
            }
            let value = body()
            lock.withLock { self.value = value }
            lock.broadcast()
            // A signal to a thread that has ended may go anywhere.
            left.wait()
        }
    }

    /// Within a bound.
    func waitsInKernel() -> Bool {
        let end = Clocks.monotonic + 10_000_000_000
        while Clocks.monotonic < end {
            let (place, hasEnded) = lock.withLock { (self.place, value != nil) }
            if hasEnded { return false }
            if let place, let text = try? Files.read("/proc/\(place)/stat"),
                String(decoding: text, as: UTF8.self).split(separator: ")").last?.hasPrefix(" S") == true
            {
                return true
            }
            sched_yield()
        }
        return false
    }

    func result() -> Value? {
        defer { left.signal() }
        return awaited()
    }

    private func awaited() -> Value? {
        lock.withLock {
            let end = Date(timeIntervalSinceNow: 10)
            while value == nil, lock.wait(until: end) {}
            return value
        }
    }
}
