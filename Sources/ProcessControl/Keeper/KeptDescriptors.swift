internal import CLinux
public import SystemCalls

/// Descriptors that outlive the loop, by the paths that they are of: the daemon's sockets, in whose queues clients wait
/// for the next loop, and its lock, so that no other daemon begins between two loops. The keeper has them, and each
/// loop that it forks a copy.
public struct KeptDescriptors {
    /// More than a loop has.
    private static let limit = 16

    private var all: [(path: String, descriptor: Int32)] = []

    public init() {}

    /// Keeps a copy, in place of what was kept of this path before; where there is no room for it, nothing.
    public mutating func keep(_ path: String, _ descriptor: Int32) {
        if let before = take(path) { before.close() }
        guard all.count < Self.limit else { return }
        let copy = linux_dup_cloexec(descriptor)
        if copy >= 0 { all.append((path, copy)) }
    }

    /// Gives it away.
    public mutating func take(_ path: String) -> FileDescriptor? {
        guard let place = all.firstIndex(where: { $0.path == path }) else { return nil }
        return FileDescriptor(owning: all.remove(at: place).descriptor)
    }

    /// What was not taken.
    public mutating func closeAll() {
        for one in all { close(one.descriptor) }
        all = []
    }
}
