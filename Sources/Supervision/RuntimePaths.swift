internal import CLinux
internal import SystemCalls

/// Where the daemon keeps what it makes. `root` comes before every path.
struct RuntimePaths {
    let root: String
    /// Sockets and the lock; gone with a reboot.
    let runtime: String
    /// Reports; kept.
    let state: String
    /// The folders of apps that have users of their own; kept.
    var appFolders: String { root + "/var/lib/curfew-apps" }

    /// Those in which the loop opens files by their paths.
    var folders: [String] {
        [runtime, runtime + "/notify", runtime + "/apps", state, appFolders, root + "/etc/curfew/apps"]
    }

    init(root: String?) {
        var prefix = root ?? ""
        while prefix.utf8.last == UInt8(ascii: "/") { prefix = String(decoding: prefix.utf8.dropLast(), as: UTF8.self) }
        self.root = prefix
        runtime = prefix + "/run/curfew"
        state = prefix + "/var/lib/curfew"
    }

    /// The control group of a daemon that shares its own with others. Daemons with roots of their own have groups of
    /// their own: two trials do not get in each other's way, and a restart finds what its predecessor left.
    var controlGroupName: String {
        if root.isEmpty { return "curfew" }
        var hash: UInt32 = 2_166_136_261
        for byte in root.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return "curfew-" + String(hash, radix: 16)
    }

    var controlSocket: String { runtime + "/io.curfew.Control" }
    /// Root's own: operators that flood theirs are not in its way.
    var rootSocket: String { controlSocket + ".root" }
    var applicationSocket: String { runtime + "/io.curfew.Application" }
    var lock: String { runtime + "/curfewd.lock" }
    var lockOfState: String { state + "/curfewd.lock" }
    /// There while the board is asleep, or may be at any moment, and the apps have been walked for it.
    var sleepMark: String { runtime + "/asleep" }
    /// How many seconds the sleep hook waits, where that is longer than it would by itself.
    var hookLimit: String { runtime + "/hook-limit" }
    /// There from the announcement of a sleep to its end, for a daemon that is started in between.
    var sleepNote: String { runtime + "/announced" }

    /// The same interface as `applicationSocket`, for one app: strangers that flood that one are not in its way.
    func appSocket(_ app: String) -> String { runtime + "/apps/" + app }

    /// An app's own notify socket: one that floods it cannot hold up the messages of others.
    func notifySocket(_ app: String) -> String { runtime + "/notify/" + app }
    /// Only we list them, as those of the control groups (`ControlGroupRoot.mode`).
    func makeFolders() throws(SystemError) {
        for folder in [runtime, runtime + "/notify", runtime + "/apps"] {
            try Files.createDirectories(folder, mode: 0o711)
            Files.setMode(0o711, of: folder)
        }
        Files.setMode(0o711, of: appFolders)
    }

    /// Those that are open to all users (`HiddenFolder`).
    var hiddenNotifySockets: String { runtime + "/notify/.hidden" }
}
