internal import CLinux
internal import SystemCalls

/// A command as it runs: signals are passed on to it, and its end is waited for.
final class CommandRun {
    private static let passedOn = [SIGTERM, SIGINT, SIGHUP, SIGQUIT]

    let child: HeldChild
    private let loop: DescriptorLoop
    private let command: TaskCommand
    private var signals: SignalWatch?
    private var source: DescriptorLoop.Source?
    /// It has ended; it is reaped by `finish`.
    private(set) var hasEnded = false

    /// Forks the command's process, which waits for `go`. It stays in our process group where that is the terminal's
    /// own, so that keys go on to mean what they mean; elsewhere it may head a group.
    init(_ command: TaskCommand, mayHeadGroup: Bool, _ loop: DescriptorLoop) throws(CommandFailure) {
        self.loop = loop
        self.command = command
        var mask = sigset_t()
        sigprocmask(SIG_BLOCK, nil, &mask)
        // The tool may have been started with them blocked: it has to be possible to end the command.
        for signal in Self.passedOn { sigdelset(&mask, signal) }
        let headsGroup = mayHeadGroup && !Terminal.isOurs
        let target = Reference<HeldChild?>(nil)
        // A terminal's signal has come to all of our group already.
        signals = SignalWatch(loop, Self.passedOn) { signal, isFromKernel in
            if headsGroup || !isFromKernel { target.value?.signal(signal) }
        }
        do throws(SystemError) {
            child = try HeldChild(command.path, command.arguments, headsGroup: headsGroup, mask: mask)
        } catch {
            throw .failed("\(command.name) could not be started: \(error.text)")
        }
        target.value = child
        source = loop.watch(readable: child.descriptor) { [unowned self] in
            hasEnded = true
            source?.cancel()
        }
    }

    deinit { source?.cancel() }

    /// Has the command's program take its place.
    func go() throws(CommandFailure) {
        do throws(SystemError) {
            try child.release()
        } catch {
            _ = child.reap(waiting: true)
            let isMissing = error.errno == .noEntry
            let reason = isMissing ? "the interpreter in its first line is missing" : error.errno.text
            throw CommandFailure(
                code: isMissing ? .commandNotFound : .cannotExecute,
                text: "\(command.path) cannot be executed: \(reason)".printable)
        }
    }

    /// Waits until it has ended or the condition holds, but not beyond a time of CLOCK_MONOTONIC.
    func wait(until deadline: Int64 = .max, or condition: () -> Bool = { false }) {
        _ = loop.run(until: deadline) { hasEnded || condition() }
    }

    /// Its end, which is waited for.
    func finish() -> HeldChild.End {
        child.reap(waiting: true) ?? HeldChild.End(isSignal: true, number: SIGKILL)
    }
}
