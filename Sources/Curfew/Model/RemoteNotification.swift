internal import Varlink

/// A message from far away: a JSON object.
public struct RemoteNotification: Sendable, Equatable {
    /// Its members.
    public let payload: [String: PayloadValue]
    /// The payload as it came, for a JSON decoder.
    public let json: String

    /// A member's value.
    public subscript(_ name: String) -> PayloadValue? { payload[name] }

    init(_ object: JSONObject) {
        payload = PayloadValue.members(of: object)
        json = String(decoding: JSON.object(object).bytes(), as: UTF8.self)
    }
}

/// A value in a notification's payload.
public enum PayloadValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([PayloadValue])
    case object([String: PayloadValue])

    /// The text of a string; nil for every other kind.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// An integer; nil for every other kind.
    public var integerValue: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// A bool; nil for every other kind.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    init(_ value: JSON) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(value)
        case .array(let elements): self = .array(elements.map(PayloadValue.init))
        case .object(let object): self = .object(Self.members(of: object))
        }
    }

    fileprivate static func members(of object: JSONObject) -> [String: PayloadValue] {
        Dictionary(object.members.map { ($0.name, PayloadValue($0.value)) }, uniquingKeysWith: { first, _ in first })
    }
}
