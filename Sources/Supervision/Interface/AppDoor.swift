internal import CLinux
internal import EventLoop
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls
internal import Varlink

/// An app's own socket of `io.curfew.Application`: the connections of one socket wait in one queue, in which those of a
/// stranger that connects without end would be before the app's.
final class AppDoor {
    private unowned(unsafe) let app: SupervisedApp
    private unowned(unsafe) let supervisor: Supervisor
    private let kept: KeptCopy?
    let path: String
    private let socket: FileDescriptor
    /// The file's at the path.
    private let inode: UInt64?
    private var member: IOGroupMember?
    /// Descriptors may be free again, or connections end (`resume`).
    private var waitsForRoom = false
    /// It has used its share of the loop's time.
    private var waitsForShare = false

    convenience init(_ app: SupervisedApp, _ supervisor: Supervisor) throws(SystemError) {
        let path = supervisor.paths.appSocket(app.name)
        // Of a daemon that was killed. It is closed to us too, who are root without all of root's rights.
        if Files.isSocket(path) { try Files.remove(path) }
        let socket = try Listener.listen(at: path, mode: 0o600)
        let kept = supervisor.keep(Self.keptName(app), socket.rawValue)
        try self.init(app, supervisor, socket, path, kept)
    }

    /// The next loop has the socket by this name.
    private static func keptName(_ app: SupervisedApp) -> String { "door/" + app.name }

    /// The one of an earlier loop; nil where that had none, or it is not found at its path.
    static func regain(_ app: SupervisedApp, _ supervisor: Supervisor) -> AppDoor? {
        let path = supervisor.paths.appSocket(app.name)
        let name = keptName(app)
        guard let socket = supervisor.keeper.takeKept(name) else { return nil }
        let kept = KeptCopy(takenFrom: supervisor.keeper, name)
        return Files.isSocket(path) ? try? AppDoor(app, supervisor, socket, path, kept) : nil
    }

    private init(
        _ app: SupervisedApp, _ supervisor: Supervisor, _ socket: consuming FileDescriptor, _ path: String,
        _ kept: KeptCopy?
    ) throws(SystemError) {
        self.app = app
        self.supervisor = supervisor
        self.kept = kept
        self.path = path
        let number = socket.rawValue
        self.socket = socket
        inode = Self.inode(at: path)
        member = try supervisor.connections.watch(number, .readable) { [unowned(unsafe) self] _ in accept() }
    }

    /// Whether it can be found at its path, and nothing else lies there.
    var isThere: Bool { inode != nil && Self.inode(at: path) == inode }

    private static func inode(at path: String) -> UInt64? {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    /// Of an instance that is about to start. What starts as root and becomes another user finds it closed (EACCES);
    /// the client libraries use the socket of all then.
    func admit(only user: UInt32) throws(SystemError) { try Files.admit(only: user, to: path) }

    private func accept() {
        let payer = ServiceShares.Payer.door(app.id)
        let begun = payer.clock
        let canGoOn = supervisor.interfaces?.accept(at: socket.rawValue) ?? false
        supervisor.shares.pay(payer, payer.clock - begun)
        if !canGoOn {
            waitsForRoom = true
            listen()
        } else if supervisor.shares.isSpent(payer) {
            let (supervisor, app) = (supervisor, app.id)
            // This one may be gone by then.
            if supervisor.shares.wait(payer, { supervisor.apps[app.rawValue]?.door?.shareIsPaid() }) {
                waitsForShare = true
                listen()
            }
        }
        supervisor.wakeIfDue()
    }

    func resume() {
        guard waitsForRoom else { return }
        waitsForRoom = false
        listen()
    }

    private func shareIsPaid() {
        waitsForShare = false
        listen()
    }

    private func listen() { try? member?.setInterest(waitsForRoom || waitsForShare ? [] : .readable) }

    deinit {
        member?.cancel()
        if isThere { try? Files.remove(path) }
    }
}
