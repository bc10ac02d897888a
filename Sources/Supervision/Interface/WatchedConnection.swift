internal import EventLoop
internal import SystemCalls
internal import Varlink

/// A Varlink connection and its place in the event loop.
final class WatchedConnection {
    let connection: Connection
    private unowned(unsafe) let supervisor: Supervisor
    private var member: IOGroupMember?

    init(_ connection: Connection, _ supervisor: Supervisor) throws(SystemError) {
        self.connection = connection
        self.supervisor = supervisor
        member = try supervisor.connections.watch(connection.descriptor, Self.interest(connection)) {
            [unowned(unsafe) self] readiness in
            isReady(readiness)
        }
        connection.onInterestChanged = { [unowned(unsafe) self] connection in
            try? member?.setInterest(Self.interest(connection))
        }
    }

    // Before the connection goes, and its socket with it.
    deinit { member?.cancel() }

    /// To be called before the connection's socket is closed.
    func stopWatching() {
        member = nil
        connection.onInterestChanged = nil
    }

    private func isReady(_ readiness: IOReadiness) {
        let connection = connection
        let supervisor = supervisor
        if readiness.contains(.readable) { connection.onReadable() }
        if readiness.contains(.writable) { connection.onWritable() }
        if !readiness.intersection([.hangup, .error]).isEmpty { connection.onHangup() }
        supervisor.wakeIfDue()
    }

    private static func interest(_ connection: Connection) -> Interest {
        var interest: Interest = []
        if connection.wantsRead { interest.insert(.readable) }
        if connection.wantsWrite { interest.insert(.writable) }
        return interest
    }
}
