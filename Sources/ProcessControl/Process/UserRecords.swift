internal import CLinux
internal import SystemCalls

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
        do throws(SystemError) {
            try Files.createDirectories(directory)
            try write(
                name, user, "user",
                "{\"userName\":\"\(name)\",\"uid\":\(user),\"gid\":\(user),\"realName\":\"The app \(app)\","
                    + "\"homeDirectory\":\"\(home)\",\"shell\":\"/usr/sbin/nologin\",\"locked\":true," + common)
            try write(name, user, "group", "{\"groupName\":\"\(name)\",\"gid\":\(user)," + common)
        } catch {
            written.remove(user)
        }
    }

    /// By name, and by number.
    private func write(_ name: String, _ user: UInt32, _ kind: String, _ text: String) throws(SystemError) {
        let file = directory + "/\(name).\(kind)"
        try Files.replace(file, with: Array(text.utf8), durable: false)
        let number = directory + "/\(user).\(kind)"
        _ = unlink(number)
        if symlink("\(name).\(kind)", number) != 0 { throw SystemError("symlink", number) }
    }
}
