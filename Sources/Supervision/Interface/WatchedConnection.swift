internal import EventLoop
internal import Journal
internal import SystemCalls
internal import Varlink

/// A Varlink connection and its place in the event loop.
final class WatchedConnection {
    let connection: Connection
    private unowned(unsafe) let supervisor: Supervisor
    private let group: IOGroup
    /// nil: it waits for its payer's share, or is not watched any more.
    private var member: IOGroupMember?
    /// Whose time its requests use; nil: they have all that they need.
    let payer: ServiceShares.Payer?
    private var isStopped = false
    /// Its payer has asked for more than its share.
    private(set) var hasWaited = false
    /// What came has been read, and the connection is still there.
    var onServed: ((Connection) -> Void)?

    /// isStranger: it has no right to hold up anything else.
    init(
        _ connection: Connection, _ supervisor: Supervisor, isStranger: Bool = false,
        payer: ServiceShares.Payer? = nil
    ) throws(SystemError) {
        self.connection = connection
        self.supervisor = supervisor
        self.payer = payer
        group = isStranger ? supervisor.strangers : supervisor.connections
        try watch()
        connection.onInterestChanged = { [unowned(unsafe) self] connection in
            try? member?.setInterest(Self.interest(connection))
        }
    }

    // Before the connection goes, and its socket with it.
    deinit { stopWatching() }

    private func watch() throws(SystemError) {
        member = try group.watch(connection.descriptor, Self.interest(connection)) {
            [unowned(unsafe) self] readiness in
            isReady(readiness)
        }
    }

    /// To be called before the connection's socket is closed.
    func stopWatching() {
        isStopped = true
        member?.cancel()
        member = nil
        connection.onInterestChanged = nil
    }

    private func isReady(_ readiness: IOReadiness) {
        guard let payer else { return serve(readiness) }
        let shares = supervisor.shares
        if shares.isSpent(payer) { return waitForShare(of: payer) }
        var begun = payer.clock
        connection.mayGoOn = {
            let now = payer.clock
            shares.pay(payer, now - begun)
            begun = now
            return !shares.isSpent(payer)
        }
        serve(readiness)
        shares.pay(payer, payer.clock - begun)
    }

    /// Not even its end is heard meanwhile. What a client that is gone has left is not looked at: it would hold its
    /// place, and be served, for as long as its calls last.
    private func waitForShare(of payer: ServiceShares.Payer) {
        hasWaited = true
        if endIfGone() { return }
        guard supervisor.shares.wait(payer, { [self] in goOn() }) else { return }
        member?.cancel()
        member = nil
    }

    private func endIfGone() -> Bool {
        // This is gone with it.
        let connection = connection
        guard connection.hasHungUp else { return false }
        connection.close()
        return true
    }

    private func goOn() {
        guard !isStopped else { return }
        if endIfGone() { return }
        do throws(SystemError) {
            try watch()
        } catch {
            supervisor.log.daemon(.warning, error.text)
            connection.close()
        }
    }

    private func serve(_ readiness: IOReadiness) {
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
