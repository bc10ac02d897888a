internal import CLinux
internal import SystemCalls

/// Who may have written a file: what another user can write would run as root, with that user's words.
///
/// Trusted are root and one user: who reads it, or root again where it is read to say what a daemon of root's will
/// refuse. Group and others may not have the right to write, but for root's group
/// and, where that user is not root, its own. A sticky folder may be open to all users: what they put there
/// is theirs, and refused.
struct Ownership {
    private let user: UInt32
    private let group: UInt32

    static let ofReader = Ownership(user: geteuid(), group: getegid())
    static let ofRoot = Ownership(user: 0, group: 0)

    /// What is wrong with a file's folder, or the one above, or with those of what it is a link to; nil: nothing.
    func objection(toFoldersOf path: String) -> String? {
        var folders = Self.above(path)
        if let target = realpath(path, nil) {
            folders += Self.above(String(cString: target))
            free(target)
        }
        for place in folders {
            var status = stat()
            guard linux_stat(place, &status) == 0, let why = objection(to: status) else { continue }
            return "lies in \(readable(place, limit: 255)), which \(why)"
        }
        return nil
    }

    private static func above(_ path: String) -> [String] {
        let folder = Files.directoryName(of: path)
        return [folder, Files.directoryName(of: folder)]
    }

    /// The same of a file, or of a folder by itself.
    func objection(to status: stat) -> String? {
        guard status.st_uid == 0 || status.st_uid == user else {
            return "belongs to user \(status.st_uid); expected root's" + (user == 0 ? "" : ", or user \(user)'s")
        }
        let mode = Int32(bitPattern: status.st_mode)
        if FileKind(status) == .directory, mode & S_ISVTX != 0 { return nil }
        if mode & 0o002 != 0 { return "can be written by every user; expected by its owner alone (chmod go-w)" }
        let isOwnGroup = status.st_gid == 0 || (user != 0 && status.st_gid == group)
        if mode & 0o020 != 0, !isOwnGroup {
            return "can be written by group \(status.st_gid); expected by its owner alone (chmod go-w)"
        }
        return nil
    }
}
