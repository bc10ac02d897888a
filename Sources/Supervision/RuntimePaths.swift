internal import SystemCalls

/// Where the daemon keeps what it makes. `root` comes before every path.
struct RuntimePaths {
    let root: String
    /// Sockets and the lock; gone with a reboot.
    let runtime: String
    /// Reports; kept.
    let state: String

    init(root: String?) {
        var prefix = root ?? ""
        while prefix.utf8.last == UInt8(ascii: "/") { prefix = String(prefix.dropLast()) }
        self.root = prefix
        runtime = prefix + "/run/curfew"
        state = prefix + "/var/lib/curfew"
    }

    var controlSocket: String { runtime + "/io.curfew.Control" }
    var applicationSocket: String { runtime + "/io.curfew.Application" }
    var lock: String { runtime + "/curfewd.lock" }

    /// An app's own notify socket: one that floods it cannot hold up the messages of others.
    func notifySocket(_ app: String) -> String { runtime + "/notify/" + app }
}
