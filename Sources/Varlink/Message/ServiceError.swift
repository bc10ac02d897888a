/// The errors every Varlink service knows: interface org.varlink.service.
public enum ServiceError: Equatable, Sendable {
    case interfaceNotFound(interface: String)
    case methodNotFound(method: String)
    case methodNotImplemented(method: String)
    case invalidParameter(parameter: String)
    case permissionDenied
    /// The method answers calls with "more" only.
    case expectedMore

    public static let interface = "org.varlink.service"

    /// "org.varlink.service.InterfaceNotFound".
    public var name: String {
        switch self {
        case .interfaceNotFound: "org.varlink.service.InterfaceNotFound"
        case .methodNotFound: "org.varlink.service.MethodNotFound"
        case .methodNotImplemented: "org.varlink.service.MethodNotImplemented"
        case .invalidParameter: "org.varlink.service.InvalidParameter"
        case .permissionDenied: "org.varlink.service.PermissionDenied"
        case .expectedMore: "org.varlink.service.ExpectedMore"
        }
    }

    public var parameters: JSONObject {
        var object = JSONObject()
        switch self {
        case .interfaceNotFound(let interface): object["interface"] = .string(interface)
        case .methodNotFound(let method), .methodNotImplemented(let method): object["method"] = .string(method)
        case .invalidParameter(let parameter): object["parameter"] = .string(parameter)
        case .permissionDenied, .expectedMore: break
        }
        return object
    }
}
