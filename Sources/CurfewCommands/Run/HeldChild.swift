internal import CLinux
internal import SystemCalls

/// A command that waits until it is let go: a child of the tool with all that the tool has, its terminal included.
final class HeldChild {
    /// How it ended.
    struct End: Equatable {
        let isSignal: Bool
        /// Exit status or signal.
        let number: Int32

        /// As shells report it.
        var exitCode: Int32 { isSignal ? 128 + number : number }
    }

    let pid: Int32
    private let pidfd: FileDescriptor
    private let headsGroup: Bool
    private var child: linux_held_child
    private var end: End?

    /// path: the program; arguments: from its name on. headsGroup: signals go to all of its family. mask: the signals
    /// that are blocked in the program.
    init(_ path: String, _ arguments: [String], headsGroup: Bool, mask: sigset_t) throws(SystemError) {
        var child = linux_held_child()
        var mask = mask
        let strings = ProcessArguments.block(arguments)
        guard linux_hold_child(path, strings, arguments.count, headsGroup, &mask, &child) == 0 else {
            throw SystemError("fork")
        }
        self.child = child
        self.headsGroup = headsGroup
        pid = child.pid
        pidfd = FileDescriptor(owning: child.pidfd)
    }

    deinit {
        if child.gate >= 0 { close(child.gate) }
        if end == nil {
            signal(SIGKILL)
            _ = reap(waiting: true)
        }
    }

    var descriptor: Int32 { pidfd.rawValue }

    /// Lets it go; throws why exec failed.
    func release() throws(SystemError) {
        let number = linux_release_child(&child)
        if number != 0 { throw SystemError("exec", errno: Errno(rawValue: number)) }
    }

    /// Until it is reaped its pid, and so its group's number, is its own.
    func signal(_ number: Int32) {
        guard end == nil else { return }
        if headsGroup { kill(-pid, number) } else { _ = linux_pidfd_send_signal(pidfd.rawValue, number) }
    }

    /// Its end, once it has come.
    func reap(waiting: Bool = false) -> End? {
        if let end { return end }
        var exit = linux_exit()
        var result = linux_reap(pidfd.rawValue, waiting, &exit)
        while result < 0, Errno.current == .interrupted { result = linux_reap(pidfd.rawValue, waiting, &exit) }
        if result == 0 { return nil }
        end =
            result > 0
            ? End(isSignal: exit.code != linux_code_exited, number: exit.status) : End(isSignal: true, number: SIGKILL)
        return end
    }
}
