internal import CLinux
public import SystemCalls

/// Descriptors that outlive the loop, by names that the loop gives them: the daemon's sockets, in whose queues clients
/// wait for the next loop, its lock, so that no other daemon begins between two loops, and what it shares with its
/// apps. The keeper has them, and each loop that it forks a copy.
public struct KeptDescriptors {
    /// Of the state that the next loop goes on from.
    public static let state = "state"

    private var all: [String: Int32] = [:]
    /// Half of what a process may have open: the rest is for starts.
    private let limit = Int(clamping: linux_descriptor_room() / 2)

    public init() {}

    /// What another program has left, which this process was, or a keeper before it: the numbers stay as they are.
    public init(_ open: [(name: String, descriptor: Int32)]) {
        for (name, descriptor) in open {
            _ = linux_keep_over_exec(descriptor, false)
            if let other = all.updateValue(descriptor, forKey: name) { close(other) }
        }
    }

    /// All of them, which stay its own.
    public var list: [(name: String, descriptor: Int32)] { all.map { ($0.key, $0.value) } }

    /// Keeps a copy, in place of what was kept of this name before; where there is no room for it, nothing.
    public mutating func keep(_ name: String, _ descriptor: Int32) {
        drop(name)
        guard all.count < limit else { return }
        let copy = linux_dup_cloexec(descriptor)
        if copy >= 0 { all[name] = copy }
    }

    /// Apps may have put descriptors into it: to close those may take as long as they like.
    public mutating func drop(_ name: String) {
        guard let descriptor = all.removeValue(forKey: name) else { return }
        if linux_takes_descriptors(descriptor), !linux_drain(descriptor), linux_close_aside(descriptor) { return }
        close(descriptor)
    }

    /// Locks of logind's are given back: out of the sockets, which a program on its way to exec may have too.
    public mutating func dropLocks() {
        for name in names(beginning: LockBox.names) {
            if let box = all[name] { LockBox.empty(box) }
            drop(name)
        }
    }

    /// Gives it away.
    public mutating func take(_ name: String) -> FileDescriptor? {
        guard let descriptor = all.removeValue(forKey: name) else { return nil }
        return FileDescriptor(owning: descriptor)
    }

    public func has(_ name: String) -> Bool { all[name] != nil }

    /// The names that begin so.
    public func names(beginning prefix: String) -> [String] {
        all.keys.filter { $0.utf8.starts(with: prefix.utf8) }
    }

    /// What was not taken: these copies are not the last.
    public mutating func closeAll() {
        for descriptor in all.values { close(descriptor) }
        all = [:]
    }
}
