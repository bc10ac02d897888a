public import SystemCalls

/// Accepts connections at a socket and serves them. Its owner has the event loop: it watches `descriptor` for reading
/// as long as `wantsAccept`, and every connection from `onConnected` to `onDisconnected`.
public final class Server {
    /// Connections taken in one wake.
    private static let acceptsPerWake = 16

    public let service: Service
    /// Whether this peer may come in; how many may is for the owner to count.
    public var admit: (Peer) -> Bool
    /// Asked first: whether this user's connections at this socket are looked at at all. Of one that floods it they are
    /// closed at little cost.
    public var admitUser: (UInt32, _ descriptor: Int32) -> Bool = { _, _ in true }
    /// A connection to be watched. Its `onInterestChanged` is the owner's, the other closures are the server's.
    public var onConnected: ((Connection) -> Void)?
    /// Before the connection's descriptor is closed: stop watching it.
    public var onDisconnected: ((Connection, CloseReason) -> Void)?
    /// `wantsAccept` has changed.
    public var onAcceptChanged: ((Server) -> Void)?
    /// Clients were turned away because descriptors ran out, or accept(2) failed: for the log.
    public var onAcceptFailed: ((SystemError) -> Void)?

    /// False while there are no descriptors left; true again once a connection has ended or after `resumeAccepting`.
    public private(set) var wantsAccept = true
    private let listener: Listener
    private let closer: Connection.Closer?
    private var open: [Connection] = []
    private var isStopped = false

    /// closer: of sockets that hold descriptors, where clients may send some.
    public init(
        _ listener: Listener, _ service: Service, closer: Connection.Closer? = nil,
        admit: @escaping (Peer) -> Bool = { _ in true }
    ) {
        self.listener = listener
        self.service = service
        self.closer = closer
        self.admit = admit
    }

    public var descriptor: Int32 { listener.descriptor }
    public var path: String { listener.path }
    public var connectionCount: Int { open.count }

    /// The listening socket is readable. door: another one, of the owner's, for the same service; it is one user's
    /// alone, and `admitUser` is not asked.
    public func onAcceptable(at door: Int32? = nil) {
        for _ in 0..<Self.acceptsPerWake where wantsAccept {
            switch listener.accept(closer, at: door) {
            case .socket(let socket): takeIn(socket, door == nil ? descriptor : nil)
            case .none: return
            case .turnedAway: onAcceptFailed?(SystemError("accept", path, errno: .tooManyFiles))
            case .exhausted:
                onAcceptFailed?(SystemError("accept", path, errno: .tooManyFiles))
                setAccepting(false)
            case .failed(let error):
                onAcceptFailed?(error)
                setAccepting(false)
            }
        }
    }

    /// To be called when descriptors may be free again though no connection ended.
    public func resumeAccepting() {
        setAccepting(true)
    }

    /// Ends all connections. With `removePath`, clients find no server from now on.
    public func stop(removePath: Bool) {
        setAccepting(false)
        isStopped = true
        if removePath { listener.removePath() }
        for connection in open { connection.close() }
    }

    deinit {
        for connection in open {
            connection.onClosed = nil
            connection.close()
        }
    }

    /// shared: the listening socket, where it is not one user's alone.
    private func takeIn(_ socket: consuming FileDescriptor, _ shared: Int32?) {
        if let shared, let user = Peer.user(of: socket.rawValue), !admitUser(user, shared) {
            if let closer { Connection.close(socket, closer) }
            return
        }
        let peer: Peer
        do throws(SystemError) {
            peer = try Peer(of: socket.rawValue)
        } catch {
            onAcceptFailed?(error)
            if let closer { Connection.close(socket, closer) }
            return
        }
        guard admit(peer) else {
            if let closer { Connection.close(socket, closer) }
            return
        }
        let connection = Connection(owning: socket, role: .server, peer: peer)
        if let closer { connection.refuseDescriptors(closer) }
        let service = service
        connection.onRequest = { service.handle($0) }
        connection.onClosed = { [unowned(unsafe) self] connection, reason in ended(connection, reason) }
        open.append(connection)
        onConnected?(connection)
    }

    private func ended(_ connection: Connection, _ reason: CloseReason) {
        open.removeAll { $0 === connection }
        onDisconnected?(connection, reason)
        setAccepting(true)
    }

    private func setAccepting(_ wants: Bool) {
        guard wants != wantsAccept, !isStopped else { return }
        wantsAccept = wants
        onAcceptChanged?(self)
    }
}
