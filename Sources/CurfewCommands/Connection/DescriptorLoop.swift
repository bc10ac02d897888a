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

/// Notices when the reader of stdout is gone (`curfew monitor | head`), though nothing is written.
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

/// Signals as something to wait for, in place of what they do by themselves. They stay blocked for good.
final class SignalWatch {
    private let descriptor: FileDescriptor
    private var source: DescriptorLoop.Source?

    /// isFromKernel: a terminal's, which all of its foreground has got. nil when the kernel has no descriptor left.
    init?(
        _ loop: DescriptorLoop, _ signals: [Int32], _ handler: @escaping (_ signal: Int32, _ isFromKernel: Bool) -> Void
    ) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        let number = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        guard number >= 0 else { return nil }
        descriptor = FileDescriptor(owning: number)
        sigprocmask(SIG_BLOCK, &set, nil)
        source = loop.watch(readable: number) {
            var information = signalfd_siginfo()
            let size = MemoryLayout<signalfd_siginfo>.size
            guard read(number, &information, size) == size else { return }
            handler(Int32(information.ssi_signo), information.ssi_code > 0)
        }
    }

    deinit { source?.cancel() }
}

/// SIGINT, SIGTERM, SIGHUP and SIGQUIT as a wish to end.
final class Interruption {
    private(set) var isRequested = false
    private var signals: SignalWatch?

    /// nil when the kernel has no descriptor left for it.
    init?(_ loop: DescriptorLoop) {
        signals = SignalWatch(loop, [SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { [unowned self] _, _ in isRequested = true }
        if signals == nil { return nil }
    }
}
