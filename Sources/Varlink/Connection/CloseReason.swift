public import SystemCalls

/// Why a connection ended.
public enum CloseReason: Equatable, Sendable {
    /// The peer closed it, or is gone.
    case endOfStream
    case system(SystemError)
    /// The peer sent what is no Varlink; the text says what.
    case protocolError(String)
    /// The peer reads too slowly or not at all.
    case outputOverflow
    /// A message of this side's is longer than any peer takes.
    case messageTooLong
    /// `close()` was called.
    case closedHere

    public var text: String {
        switch self {
        case .endOfStream: "closed by the peer"
        case .system(let error): error.text
        case .protocolError(let text): text
        case .outputOverflow: "the peer does not read what it is sent"
        case .messageTooLong: "a message to be sent is over 1 MiB"
        case .closedHere: "closed"
        }
    }
}

/// What came of a call this side made.
public enum Response: Equatable, Sendable {
    case reply(JSONObject, continues: Bool)
    case error(name: String, parameters: JSONObject)
    /// The connection ended before the (last) reply.
    case connectionClosed
}
