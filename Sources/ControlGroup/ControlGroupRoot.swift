internal import CLinux
public import SystemCalls

/// The directory in which every app instance has its cgroup, "NAME.N". One daemon at a time owns it, by a lock
/// on a file that no other user may open; it dies with that daemon.
///
///     <base>/supervisor     the daemon, where it was alone in <base> (a systemd unit with Delegate=yes)
///     <base>/apps/NAME.N    one instance of an app
///
/// Nothing above an instance is ever killed by cgroup.kill: on Linux 6.18 whatever is later cloned into a group below
/// one that has seen a kill dies at birth.
public final class ControlGroupRoot {
    /// The directory of the instances' groups.
    public let path: String
    /// The same as /proc/PID/cgroup has it.
    public let controlGroup: String
    /// What can be limited and measured in the instances' groups.
    public let controllers: ControllerSet
    private let lock: FileDescriptor

    /// Of the open file that has the lock, for one after this.
    public var lockDescriptor: Int32 { lock.rawValue }

    /// Another program made the base, systemd for a unit say, and has put limits on it.
    private let keepsBase: Bool
    private var nextNumber = 1

    init(
        path: String, controlGroup: String, controllers: ControllerSet, lock: consuming FileDescriptor, keepsBase: Bool
    ) {
        self.keepsBase = keepsBase
        self.path = path
        self.controlGroup = controlGroup
        self.controllers = controllers
        self.lock = lock
    }

    /// A fresh group for one instance of an app. EINVAL for a name that cannot be that of a directory.
    public func create(_ app: String) throws(SystemError) -> ControlGroup {
        guard Self.isUsable(app) else { throw SystemError("mkdir", app, errno: .invalid) }
        while true {
            let name = "\(app).\(nextNumber)"
            nextNumber += 1
            let directory = path + "/" + name
            do throws(SystemError) {
                try GroupWord.make(directory)
                Self.keepForRoot(directory)
                return ControlGroup(name: name, path: directory, controllers: controllers)
            } catch {
                // A group of a predecessor that could not be ended.
                if error.errno != .exists { throw error }
            }
        }
    }

    /// No other user lists them: who may read a directory can hold its lock, in the midst of that, for as long as it
    /// likes (getdents(2) to memory that is slow to come), and have the kernel send signals without end for each of our
    /// own reads and writes (F_NOTIFY). Files below are found by their names all the same.
    static let mode: UInt32 = 0o711

    /// The files that the daemon opens again and again: who may read one may put locks on it without end, and each of
    /// our own close(2) would walk through them. What tells a program its limits stays readable.
    private static func keepForRoot(_ directory: String) {
        for name in ["cgroup.freeze", "cgroup.events", "cgroup.procs", "cpu.stat", "memory.current", "memory.events"] {
            _ = chmod(directory + "/" + name, 0o600)
        }
    }

    /// The group of an instance that is there already.
    public func open(_ name: String) -> ControlGroup? {
        let directory = path + "/" + name
        guard Self.isUsable(name), Files.exists(directory + "/cgroup.procs") else { return nil }
        Files.setMode(Self.mode, of: directory)
        return ControlGroup(name: name, path: directory, controllers: controllers)
    }

    /// Which instance, "NAME.N", a process belongs to whose /proc/PID/cgroup names this group; nil for none of ours.
    public func instance(ofControlGroup group: String) -> String? {
        guard let below = ControlGroupMount.path(group, below: controlGroup) else { return nil }
        return below.utf8.split(separator: UInt8(ascii: "/")).first.flatMap { String($0) }
    }

    /// The instances whose groups are there, dead or alive, sorted.
    public func instances() throws(SystemError) -> [String] {
        try ControlGroup.children(of: path)
    }

    /// Removes what is empty of the directories made here, at the end of a daemon that leaves no apps behind.
    public func removeIfEmpty() {
        if rmdir(path) == 0, !keepsBase { _ = rmdir(Files.directoryName(of: path)) }
    }

    private static func isUsable(_ name: String) -> Bool {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.starts(with: "cgroup.".utf8) else { return false }
        return name.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "/") && $0 != 0x7F }
    }
}
