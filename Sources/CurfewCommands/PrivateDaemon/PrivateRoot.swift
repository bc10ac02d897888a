internal import CLinux
internal import SystemCalls

/// What a private curfewd gets to itself, and what is removed again: a folder under /tmp with a configuration, and a
/// place for control groups.
final class PrivateRoot {
    let path: String
    /// An absolute directory for --cgroup; nil where no cgroup2 file system is to be seen.
    let controlGroup: String?

    /// purpose: a part of its name, "demo".
    init(purpose: String) throws(SystemError) {
        var template = "/tmp/curfew-\(purpose)-XXXXXX".utf8CString.map { $0 }
        guard mkdtemp(&template) != nil else { throw SystemError("mkdtemp", "/tmp") }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.path = path
        controlGroup = Self.ownControlGroup.map { "\($0)/curfew-\(purpose)-\(getpid())" }
        do throws(SystemError) {
            try Files.createDirectories(path + "/etc/curfew/apps")
            // What a condition changed turns back at once, as far as there is such a thing.
            try write(
                "/etc/curfew/curfew.toml", "[watchdog]\ndevice = \"none\"\n[policy]\ndebounce = \"100ms\"\n")
        } catch {
            Self.removeTree(path)
            throw error
        }
    }

    deinit { remove() }

    /// Writes a file that only we may read.
    func write(_ name: String, _ text: String) throws(SystemError) {
        try Files.replace(path + name, with: Array(text.utf8), mode: 0o600, durable: false)
    }

    func writeApp(_ name: String, _ text: String) throws(SystemError) {
        try write("/etc/curfew/apps/\(name).toml", text)
    }

    /// A FIFO that never ends for its reader, which may write to it too.
    func makeFIFO(_ name: String) throws(SystemError) -> FileDescriptor {
        if mkfifo(path + name, 0o600) != 0 { throw SystemError("mkfifo", path + name) }
        return try FileDescriptor.open(path + name, O_RDWR | O_NONBLOCK)
    }

    /// The directory of the tool's own cgroup, as seen in the first cgroup2 mount.
    private static var ownControlGroup: String? {
        guard let mounts = try? Files.read("/proc/self/mountinfo"), let own = try? Files.read("/proc/self/cgroup")
        else { return nil }
        let group = String(decoding: own, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("0::") }
        guard let path = group?.dropFirst(3) else { return nil }
        for line in String(decoding: mounts, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard let dash = fields.firstIndex(of: "-"), dash >= 5, fields[dash + 1] == "cgroup2" else { continue }
            let shown = fields[3] == "/" ? "" : fields[3]
            guard path.hasPrefix(shown) else { return nil }
            let below = path.dropFirst(shown.count)
            return String(fields[4]) + (below == "/" ? "" : below)
        }
        return nil
    }

    // MARK: Removing

    /// Ends what is left in the control groups and removes all that is here.
    func remove() {
        if let controlGroup {
            try? Files.writeExisting(controlGroup + "/cgroup.kill", "1")
            Self.removeGroups(controlGroup, until: Clocks.monotonic + 1_000_000_000)
        }
        Self.removeTree(path)
    }

    /// Killed processes leave their group when the kernel gets to it.
    private static func removeGroups(_ path: String, until deadline: Int64) {
        for name in (try? Files.list(path)) ?? [] where Files.exists("\(path)/\(name)/cgroup.procs") {
            removeGroups(path + "/" + name, until: deadline)
        }
        while rmdir(path) != 0, Errno.current == .busy, Clocks.monotonic < deadline { poll(nil, 0, 5) }
    }

    private static func removeTree(_ path: String) {
        if unlink(path) == 0 { return }
        for name in (try? Files.list(path)) ?? [] { removeTree(path + "/" + name) }
        rmdir(path)
    }
}
