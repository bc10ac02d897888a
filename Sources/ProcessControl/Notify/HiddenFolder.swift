internal import CLinux
public import SystemCalls

/// A folder for one socket that is found by those who were told its path, and by root: it has a name that cannot be
/// guessed, in a folder that root alone can list. To all users /proc/net/unix shows where a socket was bound, not where
/// it was moved to.
///
/// As a link of its own name leads back to it, the path holds too where the folder is seen in the place of the one that
/// it is in (`Sandbox.Place.cover`).
public struct HiddenFolder {
    public let path: String
    private let link: String
    public var socket: String { path + "/s" }

    private init(_ parent: String, _ name: String) {
        path = parent + "/" + name
        link = path + "/" + name
    }

    /// parent: as `clear` has made it, or is made if it could not.
    public static func make(in parent: String) throws(SystemError) -> HiddenFolder {
        try Files.createDirectories(parent, mode: 0o711)
        var number: UInt64 = 0
        guard getrandom(&number, MemoryLayout.size(ofValue: number), 0) == MemoryLayout.size(ofValue: number) else {
            throw SystemError("getrandom")
        }
        let folder = HiddenFolder(parent, "x" + String(number, radix: 16))
        if mkdir(folder.path, 0o755) != 0 { throw SystemError("mkdir", folder.path) }
        if symlink(".", folder.link) != 0 {
            let errno = Errno.current
            folder.remove()
            throw SystemError("symlink", folder.link, errno: errno)
        }
        return folder
    }

    /// And what is in it.
    public func remove() {
        _ = unlink(socket)
        _ = unlink(link)
        _ = rmdir(path)
    }

    /// A parent with nothing in it: what a predecessor that was killed has left is removed.
    public static func clear(_ parent: String) throws(SystemError) {
        try Files.createDirectories(parent, mode: 0o711)
        // An earlier version let root alone into it.
        if chmod(parent, 0o711) != 0 { throw SystemError("chmod", parent) }
        for name in try Files.list(parent) { HiddenFolder(parent, name).remove() }
    }
}
