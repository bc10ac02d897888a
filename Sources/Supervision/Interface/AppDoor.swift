internal import CLinux
internal import EventLoop
internal import Lifecycle
internal import SystemCalls
internal import Varlink

/// An app's own socket of `io.curfew.Application`: the connections of one socket wait in one queue, in which those of a
/// stranger that connects without end would be before the app's.
final class AppDoor {
    private unowned(unsafe) let app: SupervisedApp
    private unowned(unsafe) let supervisor: Supervisor
    let path: String
    private let socket: FileDescriptor
    /// The file's at the path.
    private let inode: UInt64?
    private var member: IOGroupMember?
    /// Descriptors may be free again, or connections end (`resume`).
    private var waitsForRoom = false
    /// It has used its share of the loop's time.
    private var waitsForShare = false

    init(_ app: SupervisedApp, _ supervisor: Supervisor) throws(SystemError) {
        self.app = app
        self.supervisor = supervisor
        path = supervisor.paths.appSocket(app.name)
        // Of a loop that was killed. It is closed to us too, who are root without all of root's rights.
        if Files.isSocket(path) { try Files.remove(path) }
        socket = try Listener.listen(at: path, mode: 0o600)
        inode = Self.inode(at: path)
        member = try supervisor.connections.watch(socket.rawValue, .readable) { [unowned(unsafe) self] _ in accept() }
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
