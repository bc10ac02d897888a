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
    private var member: IOGroupMember?
    /// No connection can be taken now, or it has used its share.
    private var isHeld = false

    init(_ app: SupervisedApp, _ supervisor: Supervisor) throws(SystemError) {
        self.app = app
        self.supervisor = supervisor
        path = supervisor.paths.appSocket(app.name)
        socket = try Listener.listen(at: path, mode: 0o600)
        member = try supervisor.connections.watch(socket.rawValue, .readable) { [unowned(unsafe) self] _ in accept() }
    }

    /// Of an instance that is about to start. One that is started as root may become other users.
    func admit(only user: UInt32) throws(SystemError) { try Files.admit(only: user == 0 ? nil : user, to: path) }

    private func accept() {
        let payer = ServiceShares.Payer.door(app.id)
        let begun = payer.clock
        let canGoOn = supervisor.interfaces?.accept(at: socket.rawValue) ?? false
        supervisor.shares.pay(payer, payer.clock - begun)
        if !canGoOn {
            hold()
        } else if supervisor.shares.isSpent(payer) {
            let (supervisor, app) = (supervisor, app.id)
            // This one may be gone by then.
            if supervisor.shares.wait(payer, { supervisor.apps[app.rawValue]?.door?.resume() }) { hold() }
        }
        supervisor.wakeIfDue()
    }

    private func hold() {
        isHeld = true
        try? member?.setInterest([])
    }

    func resume() {
        guard isHeld else { return }
        isHeld = false
        try? member?.setInterest(.readable)
    }

    deinit {
        member?.cancel()
        try? Files.remove(path)
    }
}
