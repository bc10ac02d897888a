internal import CLinux
internal import SystemCalls

/// What the demo makes and removes again: a root of its own under /tmp, with configuration for four apps, a FIFO they
/// tell their story to, and a place for control groups.
final class DemoStage {
    let root: String
    /// Reading end of the FIFO; it never ends, since this side may write too.
    let story: FileDescriptor
    /// An absolute directory for --cgroup; nil where no cgroup2 file system is to be seen.
    let controlGroup: String?

    /// program: the tool itself, which is also the apps' program.
    init(program: String) throws(SystemError) {
        var template = "/tmp/curfew-demo-XXXXXX".utf8CString.map { $0 }
        guard mkdtemp(&template) != nil else { throw SystemError("mkdtemp", "/tmp") }
        let root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.root = root
        controlGroup = Self.ownControlGroup.map { "\($0)/curfew-demo-\(getpid())" }
        do throws(SystemError) {
            if mkfifo(root + "/story", 0o600) != 0 { throw SystemError("mkfifo", root) }
            story = try FileDescriptor.open(root + "/story", O_RDWR | O_NONBLOCK)
            try Files.createDirectories(root + "/etc/curfew/apps")
            try Self.write(root + "/etc/curfew/curfew.toml", "[watchdog]\ndevice = \"none\"\n")
            for kind in DemoApp.Kind.allCases {
                try Self.write(
                    "\(root)/etc/curfew/apps/\(kind.rawValue).toml", Self.configuration(kind, program, root))
            }
        } catch {
            Self.removeTree(root)
            throw error
        }
    }

    private static func write(_ path: String, _ text: String) throws(SystemError) {
        try Files.replace(path, with: Array(text.utf8), durable: false)
    }

    static func configuration(_ kind: DemoApp.Kind, _ program: String, _ root: String) -> String {
        let common = """
            exec = [\(quoted(program)), "demo-app", "\(kind.rawValue)"]
            description = \(quoted("The app that " + kind.role))
            environment = { \(DemoApp.storyVariable) = \(quoted(root + "/story")), SWIFT_BACKTRACE = "enable=no" }
            launch = "boot"
            delegate = "varlink"
            restart-delay = "200ms"

            """
        switch kind {
        case .prompt, .slow: return common
        case .hang: return common + "\n[allowances]\ndid-enter-background = \"2s\"\n"
        case .crash: return common + "restart-limit = 3\n"
        }
    }

    /// A TOML basic string.
    static func quoted(_ text: String) -> String {
        var quoted = ""
        for character in text {
            if character == "\"" || character == "\\" { quoted += "\\" }
            quoted.append(character)
        }
        return "\"" + quoted + "\""
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

    /// Ends what is left in the control groups and removes all that the stage made.
    func remove() {
        if let controlGroup {
            try? Files.writeExisting(controlGroup + "/cgroup.kill", "1")
            Self.removeGroups(controlGroup, until: Clocks.monotonic + 1_000_000_000)
        }
        Self.removeTree(root)
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
