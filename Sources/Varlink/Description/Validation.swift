/// Where parameters differ from what an interface says.
public struct ValidationFailure: Error, Equatable, Sendable {
    /// "app", or "apps[3].launches".
    public let path: String
    /// "a string", "no such parameter".
    public let expected: String

    public init(path: String, expected: String) {
        self.path = path
        self.expected = expected
    }

    /// The parameter of the method it is about.
    public var parameter: String {
        String(decoding: path.utf8.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "[") }, as: UTF8.self)
    }
}

extension InterfaceDescription {
    /// nil where the parameters fit: all are there that must be (null counts as absent), none is unknown, all have the
    /// right type.
    public func validate(call method: Method, _ parameters: JSONObject) -> ValidationFailure? {
        check(parameters, method.input, at: "")
    }

    /// What is wrong with the parameters of a reply; nil: nothing.
    public func validate(reply method: Method, _ parameters: JSONObject) -> ValidationFailure? {
        check(parameters, method.output, at: "")
    }

    /// What is wrong with the parameters of an error; nil: nothing.
    public func validate(_ error: ErrorDefinition, _ parameters: JSONObject) -> ValidationFailure? {
        check(parameters, error.fields, at: "")
    }

    /// A value of one of the interface's types, by the type's name: the `detail` of a Monitor's reply.
    public func validate(_ value: JSON, as typeName: String) -> ValidationFailure? {
        check(value, .named(typeName), at: typeName)
    }

    private func check(_ object: JSONObject, _ fields: [Field], at path: String) -> ValidationFailure? {
        let prefix = path.isEmpty ? "" : path + "."
        for member in object.members where !fields.contains(where: { sameBytes($0.name, member.name) }) {
            return ValidationFailure(path: prefix + member.name, expected: "nothing of this name")
        }
        for field in fields {
            if let failure = check(object[field.name] ?? .null, field.type, at: prefix + field.name) { return failure }
        }
        return nil
    }

    private func check(_ value: JSON, _ type: FieldType, at path: String) -> ValidationFailure? {
        func wrong() -> ValidationFailure { ValidationFailure(path: path, expected: type.words) }
        switch type {
        case .bool: return value.boolValue == nil ? wrong() : nil
        case .int: return value.intValue == nil ? wrong() : nil
        case .float: return value.doubleValue == nil ? wrong() : nil
        case .string: return value.stringValue == nil ? wrong() : nil
        case .object: return value.objectValue == nil ? wrong() : nil
        case .nullable(let inner): return value.isNull ? nil : check(value, inner, at: path)
        case .named(let name):
            guard let named = self.type(name) else { return wrong() }
            return check(value, named, at: path)
        case .enumeration(let names):
            guard let text = value.stringValue else { return wrong() }
            return names.contains { sameBytes($0, text) } ? nil : wrong()
        case .structure(let fields):
            guard let object = value.objectValue else { return wrong() }
            return check(object, fields, at: path)
        case .array(let element):
            guard let elements = value.arrayValue else { return wrong() }
            for (index, value) in elements.enumerated() {
                if let failure = check(value, element, at: path + "[\(index)]") { return failure }
            }
            return nil
        case .dictionary(let element):
            guard let object = value.objectValue else { return wrong() }
            for member in object.members {
                if let failure = check(member.value, element, at: path + "." + member.name) { return failure }
            }
            return nil
        }
    }
}

extension InterfaceDescription.FieldType {
    /// For people: "a string".
    var words: String {
        switch self {
        case .bool: "a bool"
        case .int: "an int"
        case .float: "a float"
        case .string: "a string"
        case .object, .structure, .dictionary: "an object"
        case .named(let name): name
        case .enumeration(let names): "one of " + names.joined(separator: ", ")
        case .nullable(let inner): inner.words
        case .array: "an array"
        }
    }
}
