internal import CLinux
internal import SystemCalls

extension ControlGroupRoot {
    /// Finds the cgroup v2 hierarchy and our place in it, and makes the directories apps need there:
    ///
    /// - at the root of the hierarchy: below /curfew, so that the root stays as it is;
    /// - alone in our group, as in a systemd unit with Delegate=yes: in that group, the daemon itself moving to its
    ///   "supervisor" (controllers can only be handed down by a group without processes). With
    ///   DelegateSubgroup=supervisor it is there already;
    /// - in a group with others, a login session say: below its "curfew", where there are no controllers.
    ///
    /// `override`: the group to use instead, a directory or a path below the mount; made when missing, and left where
    /// it was not. `name`: in place of "curfew", for a daemon that is not the board's own.
    /// `others`: the daemon's processes beside this one. `kept`: the lock that one before this had
    /// (`lockDescriptor`); it counts where it is of the same group.
    public static func discover(
        override: String? = nil, name: String = "curfew", alongWith others: [Int32] = [],
        kept: Int32 = -1
    ) throws(ControlGroupUnavailable) -> ControlGroupRoot {
        guard let mounts = try? Files.read("/proc/self/mountinfo"),
            let mount = ControlGroupMount.find(inMountInfo: mounts)
        else { throw ControlGroupUnavailable("no cgroup2 file system is mounted") }
        guard let text = try? Files.read("/proc/self/cgroup"), let own = ownControlGroup(in: text) else {
            throw ControlGroupUnavailable("/proc/self/cgroup names no cgroup v2")
        }
        let ownDirectory = mount.directory(of: own)
        let family = [getpid()] + others
        let base = try chooseBase(override, name, mount, ownDirectory, family)
        guard let group = mount.controlGroup(of: base + "/apps") else {
            throw ControlGroupUnavailable("\(base) is not in \(mount.point)")
        }
        let keepsBase = override != nil && Files.exists(base)
        let apps = base + "/apps"
        let lock = try prepare(base, kept)
        // Who had the lock before this has made all that is to be made; a change would wait for the kernel's lock of
        // all groups.
        if !FileLock.isOfSameFile(kept, lock) {
            if base == ownDirectory, base != mount.point { try move(family, toSupervisorOf: base) }
            // systemd-oomd looks for groups without any below them; where that is ours, it is to look elsewhere.
            _ = "1".withCString { setxattr(base + "/supervisor", "user.oomd_omit", $0, 1, 0) }
            try checkEntry(from: ownDirectory ?? mount.point, to: base, mount: mount)
            enableControllers(base: base, apps: apps, ownsParent: Files.directoryName(of: base) == mount.point)
        }
        return ControlGroupRoot(
            path: apps, controlGroup: group, controllers: enabledControllers(apps), lock: lock, keepsBase: keepsBase)
    }

    static func ownControlGroup(in text: [UInt8]) -> String? {
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: [0x30, 0x3A, 0x3A]) {
            return String(decoding: line.dropFirst(3), as: UTF8.self)
        }
        return nil
    }

    private static func chooseBase(
        _ override: String?, _ name: String, _ mount: ControlGroupMount, _ ownDirectory: String?, _ family: [Int32]
    ) throws(ControlGroupUnavailable) -> String {
        if let override { return try overridden(override, mount) }
        guard let ownDirectory else {
            throw ControlGroupUnavailable("our own cgroup does not show in \(mount.point)")
        }
        if ownDirectory == mount.point { return mount.point + "/" + name }
        if ownDirectory.utf8.reversed().starts(with: "/supervisor".utf8.reversed()) {
            return Files.directoryName(of: ownDirectory)
        }
        let isAlone = ControlGroup.processes(in: ownDirectory).allSatisfy { family.contains($0) }
        return isAlone ? ownDirectory : ownDirectory + "/" + name
    }

    private static func overridden(_ path: String, _ mount: ControlGroupMount) throws(ControlGroupUnavailable) -> String
    {
        let parts = path.utf8.split(separator: UInt8(ascii: "/")).compactMap { String($0) }
        guard !parts.isEmpty, !parts.contains("."), !parts.contains("..") else {
            throw ControlGroupUnavailable("\"\(path)\" is no path of a cgroup")
        }
        let clean = parts.joined(separator: "/")
        if path.utf8.first != UInt8(ascii: "/") { return mount.point + "/" + clean }
        guard ControlGroupMount.path("/" + clean, below: mount.point) != nil else {
            throw ControlGroupUnavailable("/\(clean) is not in \(mount.point), where cgroup2 is mounted")
        }
        if "/" + clean == mount.point { return mount.point + "/curfew" }
        return "/" + clean
    }

    /// Makes base and apps, and holds the lock on the former.
    private static func prepare(
        _ base: String, _ kept: Int32
    ) throws(ControlGroupUnavailable) -> FileDescriptor {
        do throws(SystemError) {
            try Files.createDirectories(base + "/apps", mode: ControlGroupRoot.mode)
            Files.setMode(ControlGroupRoot.mode, of: base + "/apps")
        } catch {
            throw ControlGroupUnavailable(writing: base, error)
        }
        guard linux_is_cgroup2(base) else { throw ControlGroupUnavailable("\(base) is no cgroup v2") }
        if access(base + "/apps", W_OK) != 0 {
            throw ControlGroupUnavailable(writing: base + "/apps", SystemError("access"))
        }
        do throws(SystemError) {
            let opened = try openLock(base + "/apps")
            // One that had it may be dead, and still hang in the kernel with its files open.
            let lock = FileLock.isOfSameFile(kept, opened) ? try FileDescriptor.duplicate(of: kept) : opened
            if try FileLock.take(lock) { return lock }
        } catch {
            throw ControlGroupUnavailable(error.text)
        }
        throw ControlGroupUnavailable("\(base) is in use by another curfewd", takenPlace: base)
    }

    /// The one file that the kernel makes in every group and lets no other user open, not even to read; before Linux
    /// 5.14 one that others may read.
    private static func openLock(_ apps: String) throws(SystemError) -> FileDescriptor {
        do throws(SystemError) {
            return try FileDescriptor.open(apps + "/cgroup.kill", O_WRONLY)
        } catch {
            guard error.errno == .noEntry else { throw error }
            return try FileDescriptor.open(apps + "/cgroup.procs", O_RDWR)
        }
    }

    private static func move(_ family: [Int32], toSupervisorOf base: String) throws(ControlGroupUnavailable) {
        let supervisor = base + "/supervisor"
        do throws(SystemError) {
            try Files.createDirectories(supervisor)
            for pid in family { try GroupWord.writeForStart(supervisor + "/cgroup.procs", "\(pid)") }
        } catch {
            throw ControlGroupUnavailable(writing: supervisor, error)
        }
    }

    /// Moving a process needs the right to write to cgroup.procs of the nearest common ancestor too.
    private static func checkEntry(from own: String, to base: String, mount: ControlGroupMount)
        throws(ControlGroupUnavailable)
    {
        var ancestor = base
        while ControlGroupMount.path(own, below: ancestor) == nil, ancestor != mount.point {
            ancestor = Files.directoryName(of: ancestor)
        }
        let file = ancestor + "/cgroup.procs"
        if access(file, W_OK) != 0 { throw ControlGroupUnavailable(writing: file, SystemError("access")) }
    }

    private static let delegation = "/cgroup.subtree_control"

    /// Hands down what there is of the controllers, each by itself, so that one that is missing takes no other along.
    /// Of our own groups, root alone reads which: who else may could hold up each use of that file.
    private static func enableControllers(base: String, apps: String, ownsParent: Bool) {
        for directory in [base, apps] { Files.setMode(0o600, of: directory + delegation) }
        let parent = ownsParent ? [Files.directoryName(of: base)] : []
        for directory in parent + [base, apps] {
            let there = enabledControllers(directory)
            for (name, controller) in ControllerSet.named where !there.contains(controller) {
                try? GroupWord.writeForStart(directory + delegation, "+" + name)
            }
        }
    }

    private static func enabledControllers(_ directory: String) -> ControllerSet {
        ControllerSet(parsing: (try? Files.readShared(directory + delegation, limit: 256)) ?? [])
    }
}
