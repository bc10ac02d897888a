internal import CLinux
public import SystemCalls

/// The user a process runs as, looked up before it is started.
public struct Credentials: Equatable, Sendable {
    public let user: UInt32
    public let group: UInt32
    public let supplementaryGroups: [UInt32]
    /// For USER, HOME and SHELL; empty where the user has no entry.
    public let name: String
    public let home: String
    public let shell: String
    /// For STATE_DIRECTORY: a folder that is this user's alone; empty where there is none.
    public let stateDirectory: String

    public init(
        user: UInt32, group: UInt32, supplementaryGroups: [UInt32] = [], name: String = "", home: String = "",
        shell: String = "", stateDirectory: String = ""
    ) {
        self.user = user
        self.group = group
        self.supplementaryGroups = supplementaryGroups
        self.name = name
        self.home = home
        self.shell = shell
        self.stateDirectory = stateDirectory
    }

    func with(stateDirectory: String) -> Credentials {
        Credentials(
            user: user, group: group, supplementaryGroups: supplementaryGroups, name: name, home: home, shell: shell,
            stateDirectory: stateDirectory)
    }

    /// Names or numbers as a configuration has them. Without a user, it is the daemon's; without a group, the user's
    /// primary one. Reads the users data base (getpwnam_r, getgrnam_r, getgrouplist), which may ask a name service and
    /// block: to be called when a configuration is read, not when a deadline runs.
    ///
    /// By a thread, for which two seconds are waited: any user can hold the directories that such a service reads.
    public static func resolve(user: String?, group: String?) throws(CredentialsError) -> Credentials {
        try ask(user) { () throws(CredentialsError) in try lookUp(user: user, group: group) }
    }

    /// The number of a group, in the same way.
    static func number(ofGroup group: String) throws(CredentialsError) -> UInt32 {
        try ask(group) { () throws(CredentialsError) in try resolve(group: group) }
    }

    private static func ask<Value>(
        _ name: String?, _ question: @escaping () throws(CredentialsError) -> Value
    ) throws(CredentialsError) -> Value {
        let found = Errand.run(at: .users, within: patience) { () -> Result<Value, CredentialsError> in
            do throws(CredentialsError) {
                return .success(try question())
            } catch {
                return .failure(error)
            }
        }
        switch found {
        case .success(let value): return value
        case .failure(let error): throw error
        case nil: throw .lookupFailed(SystemError("ask a name service", name ?? "", errno: .timedOut))
        }
    }

    /// Milliseconds.
    static let patience: Int32 = 2000

    private static func lookUp(user: String?, group: String?) throws(CredentialsError) -> Credentials {
        var entry = linux_user()
        defer { linux_user_free(&entry) }
        let uid: UInt32
        let lookup: Int32
        if let user, number(user) == nil {
            lookup = linux_user_by_name(user, &entry)
            if lookup == ENOENT { throw .noSuchUser(user) }
            uid = entry.uid
        } else {
            uid = user.flatMap(number) ?? geteuid()
            lookup = linux_user_by_id(uid, &entry)
        }
        guard lookup == 0 || lookup == ENOENT else {
            throw .lookupFailed(SystemError("getpwnam", user ?? "\(uid)", errno: Errno(rawValue: lookup)))
        }
        guard lookup == 0 else {
            guard let group else { throw .noPrimaryGroup(uid) }
            return Credentials(user: uid, group: try resolve(group: group))
        }
        let gid = if let group { try resolve(group: group) } else { entry.gid }
        return Credentials(
            user: uid, group: gid, supplementaryGroups: try supplementaryGroups(of: entry, gid),
            name: String(cString: entry.name), home: String(cString: entry.home), shell: String(cString: entry.shell))
    }

    private static func resolve(group: String) throws(CredentialsError) -> UInt32 {
        if let gid = number(group) { return gid }
        var gid: gid_t = 0
        switch linux_group_by_name(group, &gid) {
        case 0: return gid
        case ENOENT: throw .noSuchGroup(group)
        case let error: throw .lookupFailed(SystemError("getgrnam", group, errno: Errno(rawValue: error)))
        }
    }

    private static func supplementaryGroups(of entry: linux_user, _ gid: UInt32) throws(CredentialsError) -> [UInt32] {
        var list: UnsafeMutablePointer<gid_t>?
        let count = linux_user_groups(entry.name, gid, &list)
        guard count >= 0, let list else {
            throw .lookupFailed(SystemError("getgrouplist", String(cString: entry.name), errno: .noMemory))
        }
        defer { free(list) }
        return (0..<Int(count)).map { list[$0] }
    }

    /// An id; not 2^32 - 1, which means "unchanged" to the kernel.
    private static func number(_ text: String) -> UInt32? {
        guard let first = text.utf8.first, first >= UInt8(ascii: "0"), first <= UInt8(ascii: "9") else { return nil }
        guard let value = UInt32(text), value != .max else { return nil }
        return value
    }
}

/// Why a user or group of the configuration cannot be used.
public enum CredentialsError: Error, Equatable, Sendable {
    case noSuchUser(String)
    case noSuchGroup(String)
    /// A number without an entry in the users data base, and no group given beside it.
    case noPrimaryGroup(UInt32)
    case lookupFailed(SystemError)
    /// The app's folder, with something in it, belongs to another than the user and group that the app has now.
    case strangeFolder(String, owner: UInt32, user: UInt32, group: UInt32)

    /// "user nosuch does not exist".
    public var text: String {
        switch self {
        case .noSuchUser(let name): "user \(name) does not exist"
        case .noSuchGroup(let name): "group \(name) does not exist"
        case .noPrimaryGroup(let uid): "user \(uid) has no entry in the users data base: a group has to be given"
        case .lookupFailed(let error): error.text
        case .strangeFolder(let path, let owner, let user, let group):
            "\(path) belongs to user \(owner), but the app runs as user \(user): run "
                + "'chown -hR \(user):\(group) \(path)', or move it away"
        }
    }
}
