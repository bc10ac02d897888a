internal import CLinux

/// Names of apps' own users for the rest of the system: JSON records that nss-systemd(8) reads (Debian:
/// libnss-systemd). dbus-daemon(1) turns away a user that has no name.
final class UserRecords {
    /// Longer names are no names of users.
    private static let longestName = 31
    private static let prefix = "curfew-"

    private let directory: String
    private var written: Set<UInt32> = []

    /// directory: of the records, /run/userdb; made when it is not there.
    init(directory: String) { self.directory = directory }

    /// Whether a user's name is one of these.
    static func isOwn(_ name: String) -> Bool { name.utf8.starts(with: prefix.utf8) }

    /// Says what a user is called, once. An app whose user has no name starts all the same.
    func write(_ user: UInt32, of app: String, home: String) {
        guard written.insert(user).inserted else { return }
        let long = Self.prefix + app
        let name = long.utf8.count <= Self.longestName ? long : Self.prefix + "\(user)"
        let common = "\"disposition\":\"dynamic\",\"service\":\"io.curfew.Control\"}\n"
        let isWritten = linux_write_user_records(
            directory, name, user,
            "{\"userName\":\"\(name)\",\"uid\":\(user),\"gid\":\(user),\"realName\":\"The app \(app)\","
                + "\"homeDirectory\":\"\(home)\",\"shell\":\"/usr/sbin/nologin\",\"locked\":true," + common,
            "{\"groupName\":\"\(name)\",\"gid\":\(user)," + common)
        if !isWritten { written.remove(user) }
    }
}
