internal import CLinux
internal import SystemCalls

/// Users that apps have for themselves: a number each, which is in no file of users, and a folder that is theirs
/// alone. An app's folder says which number is its own, for as long as it is there.
public final class OwnUsers {
    /// None that Debian, systemd or subuid(5) gives away.
    static let first: UInt32 = 70_000
    static let count: UInt32 = 10_000

    private let directory: String
    private let root: String
    /// Owners of the folders that are there; nil: not read yet. Only this process adds one.
    private var taken: Set<UInt32>?
    private let records: UserRecords

    /// directory: of all folders, made when it is not there. root: the daemon's own, empty for the system's: apps of
    /// the same name below different ones are not to be the same user.
    public init(directory: String, root: String = "") {
        self.directory = directory
        self.root = root
        records = UserRecords(directory: root + "/run/userdb")
    }

    /// group: by name or number; nil: one of the same number as the user. Needs root.
    public func credentials(of app: String, group: String?) throws(CredentialsError) -> Credentials {
        let folder = directory + "/" + app
        let gid: UInt32? = if let group { try Credentials.number(ofGroup: group) } else { nil }
        let owner = try present(folder) { Self.isOwn($0) }
        let user = owner.flatMap { Self.isOwn($0) ? $0 : nil } ?? freeUser(for: app)
        if let owner, owner != user {
            throw .strangeFolder(folder, owner: owner, user: user, group: gid ?? user)
        }
        if owner == nil { try make(folder, user, user) }
        records.write(user, of: app, home: folder)
        return Credentials(user: user, group: gid ?? user, home: folder, stateDirectory: folder)
    }

    /// The folder of an app that runs as a user of the system's; made when it is not there. Needs root.
    public func folder(of app: String, for credentials: Credentials) throws(CredentialsError) -> Credentials {
        let folder = directory + "/" + app
        let (user, group) = (credentials.user, credentials.group)
        if let owner = try present(folder, isRight: { $0 == user }) {
            guard owner == user else { throw .strangeFolder(folder, owner: owner, user: user, group: group) }
        } else {
            try make(folder, user, group)
        }
        return credentials.with(stateDirectory: folder)
    }

    /// The owner of the folder. nil: there is none, or no more, as it was another's and empty.
    private func present(_ folder: String, isRight: (UInt32) -> Bool) throws(CredentialsError) -> UInt32? {
        do throws(SystemError) {
            guard let owner = try Self.owner(of: folder) else { return nil }
            if isRight(owner) { return owner }
            // Left by an app that was another user's and has kept nothing.
            return rmdir(folder) == 0 ? nil : owner
        } catch {
            throw .lookupFailed(error)
        }
    }

    /// Whether a user is one that an app has for itself.
    public static func isOwn(_ user: UInt32) -> Bool { user >= first && user < first + count }

    /// Those whose apps have a folder in this directory.
    public static func all(below directory: String) -> [UInt32] { owners(in: directory).filter(isOwn) }

    /// nil: there is no such folder.
    private static func owner(of folder: String) throws(SystemError) -> UInt32? {
        var status = stat()
        guard lstat(folder, &status) == 0 else {
            if Errno.current == .noEntry { return nil }
            throw SystemError("lstat", folder)
        }
        guard status.st_mode & 0o170000 == 0o040000 else { throw SystemError("lstat", folder, errno: .notDirectory) }
        return status.st_uid
    }

    /// The same for an app of that name on every board, unless another has it.
    private func freeUser(for app: String) -> UInt32 {
        let taken = taken ?? Self.owners(in: directory)
        self.taken = taken
        var hash: UInt32 = 2_166_136_261
        for byte in (root + app).utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        for step in 0..<Self.count {
            let user = Self.first + (hash % Self.count + step) % Self.count
            if !taken.contains(user), !Self.isKnown(user) { return user }
        }
        return Self.first
    }

    private static func owners(in directory: String) -> Set<UInt32> {
        var owners: Set<UInt32> = []
        for name in (try? Files.list(directory)) ?? [] {
            if case .some(.some(let owner)) = try? owner(of: directory + "/" + name) { owners.insert(owner) }
        }
        return owners
    }

    /// To the system, by another than us.
    private static func isKnown(_ user: UInt32) -> Bool {
        let isKnown = Errand.run(at: .users, within: Credentials.patience) {
            var entry = linux_user()
            defer { linux_user_free(&entry) }
            return linux_user_by_id(user, &entry) == 0 && !UserRecords.isOwn(String(cString: entry.name))
        }
        return isKnown ?? false
    }

    /// Under another name first: a folder that is there is its app's.
    private func make(_ folder: String, _ user: UInt32, _ group: UInt32) throws(CredentialsError) {
        do throws(SystemError) {
            try Files.createDirectories(directory, mode: 0o711)
            Files.setMode(0o711, of: directory)
            let new = directory + "/.new"
            _ = rmdir(new)
            if mkdir(new, 0o700) != 0 { throw SystemError("mkdir", folder) }
            if lchown(new, user, group) != 0 || rename(new, folder) != 0 {
                let errno = Errno.current
                _ = rmdir(new)
                throw SystemError("make the app's folder", folder, errno: errno)
            }
        } catch {
            throw .lookupFailed(error)
        }
        taken?.insert(user)
    }
}
