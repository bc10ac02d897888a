internal import CLinux
public import SystemCalls

/// A folder for one socket that is found by those who were told its path, and by root: it has a name that cannot be
/// guessed, in a folder that root alone can list. To all users /proc/net/unix shows where a socket was bound, not where
/// it was moved to.
///
/// A sandbox shows one app its own and no other: its view is seen in the place of the folder that all are in, and has
/// the socket at the same path. /proc/PID/mountinfo tells all users where that view lies; root alone can enter it.
public struct HiddenFolder {
    /// As the app is told it.
    public let socket: String
    /// FOLDER/X/NAME, for `Sandbox.Place.cover`.
    public let view: String
    private let secret: String
    private var viewOfSecret: String { view + "/" + secret }
    private var path: String { Files.directoryName(of: socket) }

    private static let views = "/.own"
    /// What a path in struct sockaddr_un may have.
    private static let longestPath = 107

    private init(_ parent: String, _ secret: String, app: String) {
        socket = parent + "/" + secret + "/s"
        view = parent + Self.views + "/" + app
        self.secret = secret
    }

    /// The one that holds an app's socket at this path, which an earlier loop has made; nil where none lies there.
    public init?(holding socket: String, in parent: String, for app: String) {
        let folder = Files.directoryName(of: socket)
        guard Files.directoryName(of: folder) == parent, Files.isSocket(socket) else { return nil }
        self.init(parent, String(decoding: folder.utf8.dropFirst(parent.utf8.count + 1), as: UTF8.self), app: app)
    }

    /// Both folders; the socket is to be moved there, and shown.
    public static func make(in parent: String, for app: String) throws(SystemError) -> HiddenFolder {
        var number: UInt64 = 0
        guard getrandom(&number, MemoryLayout.size(ofValue: number), 0) == MemoryLayout.size(ofValue: number) else {
            throw SystemError("getrandom")
        }
        let folder = HiddenFolder(parent, "x" + String(number, radix: 16), app: app)
        guard folder.socket.utf8.count <= longestPath else {
            throw SystemError("the path of a socket has at most \(longestPath) bytes:", folder.socket, errno: .invalid)
        }
        try prepare(parent)
        do throws(SystemError) {
            for each in [folder.path, folder.view, folder.viewOfSecret] {
                if mkdir(each, 0o755) != 0, Errno.current != .exists { throw SystemError("mkdir", each) }
            }
        } catch {
            folder.remove()
            throw error
        }
        return folder
    }

    /// The socket has been moved to its place.
    public func show() throws(SystemError) {
        let shown = viewOfSecret + "/s"
        if link(socket, shown) != 0, Errno.current != .exists { throw SystemError("link", shown) }
    }

    /// And what is in it.
    public func remove() {
        for name in [viewOfSecret + "/s", socket] { _ = unlink(name) }
        for folder in [viewOfSecret, view, path] { _ = rmdir(folder) }
    }

    private static func prepare(_ parent: String) throws(SystemError) {
        try Files.createDirectories(parent, mode: 0o711)
        try Files.createDirectories(parent + views, mode: 0o700)
    }

    /// A parent with nothing in it but the folders of these sockets: what a predecessor that was killed has left is
    /// removed.
    public static func clear(_ parent: String, keeping sockets: [String] = []) throws(SystemError) {
        try prepare(parent)
        for app in try Files.list(parent + views) {
            for secret in (try? Files.list(parent + views + "/" + app)) ?? [] {
                let folder = HiddenFolder(parent, secret, app: app)
                if !sockets.contains(folder.socket) { folder.remove() }
            }
            _ = rmdir(parent + views + "/" + app)
        }
        for name in try Files.list(parent) where parent + "/" + name != parent + views {
            let folder = HiddenFolder(parent, name, app: "")
            if !sockets.contains(folder.socket) { folder.remove() }
        }
    }
}
