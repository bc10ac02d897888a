/// A call that came over a connection and waits for its answer, which may be given at any time later.
///
/// Replies leave in the order of the calls, whatever order they are given in. When the connection has gone, answering
/// does nothing.
public final class Request {
    public let call: Call
    /// nil on connections that were not accepted by a `Server`.
    public let peer: Peer?
    /// The method's interface: "io.curfew.Application"; nil where the method has none.
    let interfaceName: String?
    /// The method's own name, without its interface's: "GetState".
    public let methodName: String
    /// Called once when the connection ends before the last reply was given.
    public var onCancelled: (() -> Void)?

    /// Set where there is more to reply than should wait for a slow reader: called while it is set and this call is the
    /// one that is answered now, whenever all that was replied has left. To be set as the call comes, or in it.
    public var onRoom: (() -> Void)?

    private var link: Connection?
    private(set) var isFinished = false
    private(set) var isUpgraded = false
    /// Encoded replies that wait for those to earlier calls.
    var held: [UInt8] = []

    init(_ call: Call, on connection: Connection) {
        self.call = call
        if let dot = call.method.utf8.lastIndex(of: UInt8(ascii: ".")) {
            interfaceName = String(call.method[..<dot])
            methodName = String(call.method[call.method.utf8.index(after: dot)...])
        } else {
            interfaceName = nil
            methodName = call.method
        }
        peer = connection.peer
        link = connection
    }

    public var method: String { call.method }
    public var parameters: JSONObject { call.parameters }
    public var oneway: Bool { call.oneway }
    public var wantsMore: Bool { call.more }
    public var wantsUpgrade: Bool { call.upgrade }

    /// The connection it came by; nil once answered, or when that has ended.
    public var connection: Connection? { isAlive ? link : nil }

    /// The caller still waits for an answer.
    public var isAlive: Bool { !isFinished && link?.isOpen == true }

    /// The last (or only) reply.
    public func reply(_ parameters: JSONObject = [:]) {
        finish(Reply(parameters))
    }

    /// One reply of several; the call must have been made with "more", or it fails with ExpectedMore.
    public func reply(continuing parameters: JSONObject) { reply(continuing: SharedReply(parameters)) }

    /// The same, which may be one reply to many callers.
    public func reply(continuing shared: SharedReply) {
        guard wantsMore else { return fail(.expectedMore) }
        guard !isFinished, let link else { return }
        link.answer(self, oneway ? [] : shared.bytes)
    }

    /// error: the full name, "io.curfew.Application.NotAnApp".
    public func fail(error: String, _ parameters: JSONObject = [:]) {
        finish(Reply(parameters, error: error))
    }

    /// Answers with one of the standard errors.
    public func fail(_ error: ServiceError) {
        fail(error: error.name, error.parameters)
    }

    /// Replies, and turns the connection round: from here on this side calls. A call without "upgrade" fails with
    /// InvalidParameter; false then, and where the caller waits no more.
    public func acceptUpgrade(_ parameters: JSONObject = [:]) -> Bool {
        guard isAlive, wantsUpgrade else {
            fail(.invalidParameter(parameter: "upgrade"))
            return false
        }
        isUpgraded = true
        finish(Reply(parameters))
        return true
    }

    private func finish(_ reply: Reply) {
        guard !isFinished, let link else { return }
        isFinished = true
        onCancelled = nil
        onRoom = nil
        self.link = nil
        link.answer(self, oneway ? [] : reply.encode())
    }

    /// The connection has ended.
    func abandon() {
        link = nil
        onRoom = nil
        held = []
        isFinished = true
    }

    func notifyCancelled() {
        let handler = onCancelled
        onCancelled = nil
        handler?()
    }
}
