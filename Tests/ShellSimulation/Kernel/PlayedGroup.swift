internal import CLinux
internal import PlayedKernel

/// A control group of one instance.
final class PlayedGroup {
    let name: String
    /// The path as the daemon has it.
    let path: String
    private(set) var members: [PlayedProcess] = []
    private(set) var wantsFrozen = false
    var isFrozen = false
    private(set) var isRemoved = false
    var isKillAsked = false
    /// A daemon that is dead has made it.
    var isLeftOver = false
    /// Open cgroup.events.
    var watchers: [KernelFile] = []

    init(name: String, path: String) {
        self.name = name
        self.path = path
    }

    var living: [PlayedProcess] { members.filter { $0.state == .running } }
    var isPopulated: Bool { members.contains { $0.state == .running } }

    func add(_ process: PlayedProcess) {
        let wasPopulated = isPopulated
        members.append(process)
        process.group = self
        if !wasPopulated { changed() }
    }

    func remove(_ process: PlayedProcess) { members.removeAll { $0 === process } }

    func freeze(_ wanted: Bool) {
        wantsFrozen = wanted
        if !wanted, isFrozen {
            isFrozen = false
            changed()
        }
    }

    func didFreeze() {
        guard wantsFrozen, !isFrozen else { return }
        isFrozen = true
        changed()
    }

    func changed() { for watcher in watchers { watcher.hasChanged = true } }

    func didRemove() {
        isRemoved = true
        changed()
    }
}

/// The tree of control groups: directories that are there, with what the kernel says in their files.
final class GroupTree {
    /// In place of "/".
    private let root: String
    static let mount = "/sys/fs/cgroup"
    static let base = "/sys/fs/cgroup/board"
    private(set) var groups: [String: PlayedGroup] = [:]
    private static let files = [
        "cgroup.procs", "cgroup.events", "cgroup.freeze", "cgroup.kill", "cgroup.controllers",
        "cgroup.subtree_control", "memory.high", "memory.max", "memory.current", "memory.stat", "memory.events",
        "pids.max", "cpu.stat", "memory.oom.group",
    ]

    init(_ root: String) { self.root = root }

    static func contains(_ path: String) -> Bool { path.utf8.starts(with: mount.utf8) }

    /// All that are there, by name.
    var present: [PlayedGroup] { groups.values.sorted { $0.name < $1.name } }

    /// What mkdir(2) does in a cgroup file system. path: as the daemon has it.
    func make(_ path: String) -> Int32 {
        guard __real_mkdir(root + path, 0o755) == 0 else { return -1 }
        for file in Self.files where file != "memory.oom.group" {
            let descriptor = played_real_open(root + path + "/" + file, O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
            if descriptor >= 0 { _ = __real_close(descriptor) }
        }
        let parts = path.split(separator: "/")
        if parts.count >= 2, parts[parts.count - 2] == "apps" {
            groups[path] = PlayedGroup(name: String(parts[parts.count - 1]), path: path)
        }
        return 0
    }

    /// What rmdir(2) does there. The errno, or 0.
    func remove(_ path: String) -> Int32 {
        if groups[path]?.isPopulated == true { return EBUSY }
        var status = stat()
        guard __real_stat(root + path, &status) == 0 else { return ENOENT }
        if status.st_nlink > 2 { return EBUSY }
        for file in Self.files { _ = unlink(root + path + "/" + file) }
        guard __real_rmdir(root + path) == 0 else { return EBUSY }
        groups.removeValue(forKey: path)?.didRemove()
        return 0
    }

    /// The group a file of the tree belongs to.
    func group(ofFile path: String) -> PlayedGroup? {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return groups[String(path[..<slash])]
    }
}
