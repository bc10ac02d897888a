internal import CLinux
internal import SystemCalls

/// Waits for several descriptors at once; poll(2) does for a tool that runs for a moment.
final class DescriptorLoop {
    final class Source {
        let descriptor: Int32
        fileprivate let interest: () -> Int32
        fileprivate let handler: (Int32) -> Void
        fileprivate(set) var isCancelled = false

        fileprivate init(_ descriptor: Int32, _ interest: @escaping () -> Int32, _ handler: @escaping (Int32) -> Void) {
            self.descriptor = descriptor
            self.interest = interest
            self.handler = handler
        }

        func cancel() { isCancelled = true }
    }

    private var sources: [Source] = []

    /// The handler gets poll(2)'s revents.
    @discardableResult
    func watch(_ descriptor: Int32, _ interest: @escaping () -> Int32, _ handler: @escaping (Int32) -> Void) -> Source {
        let source = Source(descriptor, interest, handler)
        sources.append(source)
        return source
    }

    @discardableResult
    func watch(readable descriptor: Int32, _ handler: @escaping () -> Void) -> Source {
        watch(descriptor, { POLLIN }, { _ in handler() })
    }

    /// Runs handlers until the condition holds (true) or CLOCK_MONOTONIC is past the deadline (false).
    func run(until deadline: Int64 = .max, _ condition: () -> Bool) -> Bool {
        while !condition() {
            let left = deadline == .max ? -1 : deadline - Clocks.monotonic
            if deadline != .max, left <= 0 { return false }
            turn(timeout: left)
        }
        return true
    }

    /// The same, with a bound that counts from now, in nanoseconds.
    func run(patience: Int64, _ condition: () -> Bool) -> Bool {
        run(until: Clocks.monotonic + patience, condition)
    }

    /// timeout: nanoseconds; negative: none.
    private func turn(timeout: Int64) {
        sources.removeAll { $0.isCancelled }
        let watched = sources
        var entries = watched.map { pollfd(fd: $0.descriptor, events: Int16($0.interest()), revents: 0) }
        let milliseconds = timeout < 0 ? -1 : Int32(clamping: (timeout + 999_999) / 1_000_000)
        guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return }
        for (source, entry) in zip(watched, entries) where entry.revents != 0 && !source.isCancelled {
            source.handler(Int32(entry.revents))
        }
    }
}

/// Notices when nobody reads stdout any more (`curfew monitor | head`), though nothing is written.
final class OutputWatch {
    private(set) var isGone = false
    private var source: DescriptorLoop.Source?

    init(_ loop: DescriptorLoop) {
        source = loop.watch(1, { 0 }) { [unowned self] _ in
            isGone = true
            source?.cancel()
        }
    }

    deinit { source?.cancel() }
}

/// SIGINT and SIGTERM as something to wait for, in place of the end of the process.
final class Interruption {
    private(set) var isRequested = false
    private let descriptor: FileDescriptor
    private var source: DescriptorLoop.Source?

    /// nil when the kernel has no descriptor left for it.
    init?(_ loop: DescriptorLoop) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGHUP)
        let number = signalfd(-1, &signals, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        guard number >= 0 else { return nil }
        descriptor = FileDescriptor(owning: number)
        sigprocmask(SIG_BLOCK, &signals, nil)
        source = loop.watch(readable: number) { [unowned self] in
            var information = signalfd_siginfo()
            _ = read(number, &information, MemoryLayout<signalfd_siginfo>.size)
            isRequested = true
        }
    }

    deinit { source?.cancel() }
}
