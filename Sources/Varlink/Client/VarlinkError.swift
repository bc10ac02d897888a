public import SystemCalls

/// Why a call had no success.
public enum VarlinkError: Error, Equatable, Sendable {
    /// No server listens at the path (ENOENT, ECONNREFUSED).
    case notRunning(path: String, Errno)
    case system(SystemError)
    /// The server ended the connection.
    case closed
    case timedOut
    /// The server answered with an error; its full name.
    case error(name: String, parameters: JSONObject)
    /// What the server sent is no Varlink.
    case `protocol`(String)

    public var text: String {
        switch self {
        case .notRunning(let path, let errno): "no server listens at " + path + ": " + errno.text
        case .system(let error): error.text
        case .closed: "the server closed the connection"
        case .timedOut: "no answer in time"
        case .error(let name, let parameters):
            parameters.isEmpty ? name : name + " " + String(decoding: JSON.object(parameters).bytes(), as: UTF8.self)
        case .protocol(let text): "not understood: " + text
        }
    }
}
