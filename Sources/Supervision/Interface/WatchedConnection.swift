internal import EventLoop
internal import SystemCalls
internal import Varlink

/// A Varlink connection and its place in the event loop.
final class WatchedConnection {
    let connection: Connection
    private unowned(unsafe) let supervisor: Supervisor
    private var member: IOGroupMember?
    /// What came has been read, and the connection is still there.
    var onServed: ((Connection) -> Void)?

    /// isStranger: it has no right to hold up anything else.
    init(_ connection: Connection, _ supervisor: Supervisor, isStranger: Bool = false) throws(SystemError) {
        self.connection = connection
        self.supervisor = supervisor
        let group = isStranger ? supervisor.strangers : supervisor.connections
        member = try group.watch(connection.descriptor, Self.interest(connection)) {
            [unowned(unsafe) self] readiness in
            isReady(readiness)
        }
        connection.onInterestChanged = { [unowned(unsafe) self] connection in
            try? member?.setInterest(Self.interest(connection))
        }
    }

    // Before the connection goes, and its socket with it.
    deinit { stopWatching() }

    /// To be called before the connection's socket is closed.
    func stopWatching() {
        member?.cancel()
        member = nil
        connection.onInterestChanged = nil
    }

    private func isReady(_ readiness: IOReadiness) {
        // What is read may be the end of the connection, and of this.
        let connection = connection
        let supervisor = supervisor
        let onServed = onServed
        if readiness.contains(.readable) { connection.onReadable() }
        if readiness.contains(.writable) { connection.onWritable() }
        if !readiness.intersection([.hangup, .error]).isEmpty { connection.onHangup() }
        if connection.isOpen { onServed?(connection) }
        supervisor.wakeIfDue()
    }

    private static func interest(_ connection: Connection) -> Interest {
        var interest: Interest = []
        if connection.wantsRead { interest.insert(.readable) }
        if connection.wantsWrite { interest.insert(.writable) }
        return interest
    }
}
