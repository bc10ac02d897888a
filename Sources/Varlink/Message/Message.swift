/// Why bytes are no Varlink message.
public enum MessageError: Error, Equatable, Sendable {
    case json(JSONError)
    /// JSON, but not a message: which member is wrong ("method"), and how.
    case shape(member: String, String)

    public var text: String {
        switch self {
        case .json(let error): "not JSON: " + error.message
        case .shape(_, let text): text
        }
    }
}

/// What a client sends.
public struct Call: Equatable, Sendable {
    /// "io.curfew.Application.GetState".
    public var method: String
    public var parameters: JSONObject
    /// No reply is wanted.
    public var oneway: Bool
    /// Any number of replies is wanted.
    public var more: Bool
    /// After the reply the connection is to speak another protocol.
    public var upgrade: Bool

    public init(
        _ method: String, _ parameters: JSONObject = JSONObject(), oneway: Bool = false, more: Bool = false,
        upgrade: Bool = false
    ) {
        self.method = method
        self.parameters = parameters
        self.oneway = oneway
        self.more = more
        self.upgrade = upgrade
    }

    /// Members it does not know are ignored, those it knows must have the right type.
    public static func decode(_ message: ArraySlice<UInt8>) throws(MessageError) -> Call {
        let object = try decodeObject(message)
        guard let method = object["method"]?.stringValue else {
            throw .shape(member: "method", "a call needs \"method\", a string")
        }
        let call = Call(
            method, try decodeParameters(object), oneway: try decodeFlag("oneway", object),
            more: try decodeFlag("more", object), upgrade: try decodeFlag("upgrade", object))
        if call.oneway, call.more || call.upgrade {
            throw .shape(member: "oneway", "\"oneway\" with \"more\" or \"upgrade\"")
        }
        return call
    }

    /// With the NUL at its end.
    public func encode() -> [UInt8] {
        var object = JSONObject()
        object["method"] = .string(method)
        if !parameters.isEmpty { object["parameters"] = .object(parameters) }
        if oneway { object["oneway"] = true }
        if more { object["more"] = true }
        if upgrade { object["upgrade"] = true }
        return JSON.object(object).bytes() + [0]
    }
}

/// What a server sends.
public struct Reply: Equatable, Sendable {
    public var parameters: JSONObject
    /// More replies to the same call follow.
    public var continues: Bool
    /// "org.varlink.service.MethodNotFound", or nil where the call succeeded.
    public var error: String?

    public init(_ parameters: JSONObject = JSONObject(), continues: Bool = false, error: String? = nil) {
        self.parameters = parameters
        self.continues = continues
        self.error = error
    }

    /// Members it does not know are ignored, those it knows must have the right type.
    public static func decode(_ message: ArraySlice<UInt8>) throws(MessageError) -> Reply {
        let object = try decodeObject(message)
        var error: String?
        switch object["error"] {
        case nil, .null?: error = nil
        case .string(let name)?: error = name
        case .some: throw .shape(member: "error", "\"error\" is not a string")
        }
        let reply = Reply(try decodeParameters(object), continues: try decodeFlag("continues", object), error: error)
        if reply.continues, reply.error != nil { throw .shape(member: "continues", "an error that continues") }
        return reply
    }

    /// With the NUL at its end.
    public func encode() -> [UInt8] {
        var object = JSONObject()
        if let error { object["error"] = .string(error) }
        object["parameters"] = .object(parameters)
        if continues { object["continues"] = true }
        return JSON.object(object).bytes() + [0]
    }
}

/// A reply that others follow, encoded once for all the calls that it answers.
public struct SharedReply: Sendable {
    let bytes: [UInt8]

    public init(_ parameters: JSONObject) { bytes = Reply(parameters, continues: true).encode() }
}

private func decodeObject(_ message: ArraySlice<UInt8>) throws(MessageError) -> JSONObject {
    let value: JSON
    do throws(JSONError) {
        value = try JSON.parse(message)
    } catch {
        throw .json(error)
    }
    guard case .object(let object) = value else { throw .shape(member: "method", "a message is a JSON object") }
    return object
}

private func decodeParameters(_ object: JSONObject) throws(MessageError) -> JSONObject {
    switch object["parameters"] {
    case nil, .null?: return JSONObject()
    case .object(let parameters)?: return parameters
    case .some: throw .shape(member: "parameters", "\"parameters\" is not an object")
    }
}

private func decodeFlag(_ name: String, _ object: JSONObject) throws(MessageError) -> Bool {
    switch object[name] {
    case nil, .null?: return false
    case .bool(let value)?: return value
    case .some: throw .shape(member: name, "\"" + name + "\" is not a bool")
    }
}
