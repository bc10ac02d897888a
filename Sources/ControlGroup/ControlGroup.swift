internal import CLinux
public import SystemCalls

/// The cgroup v2 of one instance of an app: all of its processes, however they fork and whatever sessions they open.
/// Made by `ControlGroupRoot.create`; it stays in the kernel until `remove`.
public final class ControlGroup {
    /// "NAME.N".
    public let name: String
    /// Its directory.
    public let path: String
    public let controllers: ControllerSet
    /// By which the kernel names it; 0: not known.
    let id: UInt64

    init(name: String, path: String, controllers: ControllerSet) {
        var status = stat()
        id = linux_stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
        self.name = name
        self.path = path
        self.controllers = controllers
    }

    /// The directory, for a process to be born in (`SpawnRequest.controlGroupDescriptor`); to be closed after that.
    public func openDirectory() throws(SystemError) -> FileDescriptor {
        try FileDescriptor.open(path, linux_directory_flags)
    }

    /// No groups can be made below it. For an app that is to have none: one of root's finds a way to make them that is
    /// read-only nowhere, and to remove thousands takes its time.
    public func forbidChildren() throws(SystemError) {
        try GroupWord.write(path + "/cgroup.max.descendants", "0")
    }

    /// Moves a process here, with all its threads; its children stay where they are. ESRCH when it is gone. One that is
    /// not here in a second comes later.
    public func add(_ pid: Int32) throws(SystemError) { try GroupWord.writeForStart(path + "/cgroup.procs", "\(pid)") }

    /// Asks the kernel to stop every process, by cgroup.freeze. Done when `state().frozen`, which `openEvents`
    /// announces.
    public func freeze() throws(SystemError) { try GroupWord.write(path + "/cgroup.freeze", "1") }

    /// EAGAIN, as of all words to a group: another is still under way.
    public func thaw() throws(SystemError) { try GroupWord.write(path + "/cgroup.freeze", "0") }

    /// One read of cgroup.events.
    public func state() throws(SystemError) -> ControlGroupState {
        ControlGroupState(parsing: try Files.read(path + "/cgroup.events"))
    }

    /// A watch on cgroup.events, for an event loop.
    public func openEvents() throws(SystemError) -> ControlGroupEvents {
        ControlGroupEvents(try WatchedFile(path + "/cgroup.events"))
    }

    /// SIGKILL to every process here and below, frozen or not (cgroup.kill, Linux 5.14; before that one by one). They
    /// are gone when the group is no longer populated. The next instance gets a group of its own.
    public func kill() throws(SystemError) {
        do throws(SystemError) {
            try GroupWord.write(path + "/cgroup.kill", "1")
        } catch {
            guard error.errno == .noEntry, Files.exists(path + "/cgroup.procs") else { throw error }
            killOneByOne()
        }
    }

    /// Removes the group, with groups that the app has made below it. EBUSY while there are processes.
    public func remove() throws(SystemError) {
        try Self.removeTree(path)
    }

    /// The pids of all processes here and below, those that are not visible from our pid namespace left out.
    public func processes() -> [Int32] { Self.processesBelow(path) }

    /// Without cgroup.kill: freezing keeps the group from forking ahead of us, and fatal signals reach frozen
    /// processes.
    package func killOneByOne() {
        try? freeze()
        var killed: Set<Int32> = []
        // Each round sees what was forked before the freeze took hold.
        for _ in 0..<64 {
            let found = processes().filter { !killed.contains($0) }
            if found.isEmpty { return }
            for pid in found where killMember(pid) { killed.insert(pid) }
        }
    }

    /// Whether there is nothing more to do about this pid.
    private func killMember(_ pid: Int32) -> Bool {
        let pidfd = linux_pidfd_open(pid)
        guard pidfd >= 0 else { return Errno.current == .noProcess }
        let handle = FileDescriptor(owning: pidfd)
        // Still one of ours? The pid may have changed hands between the list and the pidfd.
        guard processes().contains(pid) else { return true }
        return linux_pidfd_send_signal(handle.rawValue, SIGKILL) == 0
    }

    private static func removeTree(_ path: String) throws(SystemError) {
        do throws(SystemError) {
            try GroupWord.remove(path)
        } catch {
            switch error.errno {
            case .noEntry: return
            case .busy, .notEmpty:
                for child in try children(of: path) { try removeTree(path + "/" + child) }
                do throws(SystemError) {
                    try GroupWord.remove(path)
                } catch {
                    if error.errno != .noEntry { throw error }
                }
            default: throw error
            }
        }
    }

    /// The names of the groups right below a directory, sorted.
    static func children(of path: String) throws(SystemError) -> [String] {
        // Its files are many; how many directories there are is said by its links, where a file system counts them.
        var status = stat()
        if linux_stat(path, &status) == 0, status.st_nlink == 2 { return [] }
        return try Files.list(path).filter { Files.exists(path + "/" + $0 + "/cgroup.procs") }
    }

    static func processes(in directory: String) -> [Int32] {
        guard let text = try? Files.read(directory + "/cgroup.procs") else { return [] }
        return text.split(separator: UInt8(ascii: "\n")).compactMap {
            // 0 stands for a process outside of our pid namespace.
            Int32(String(decoding: $0, as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
        }
    }

    private static func processesBelow(_ directory: String) -> [Int32] {
        var pids = processes(in: directory)
        for child in (try? children(of: directory)) ?? [] { pids += processesBelow(directory + "/" + child) }
        return pids
    }
}
