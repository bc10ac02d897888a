extension InterfaceDescription {
    /// Reads a description, by Varlink's grammar and the further rules of systemd's `varlinkctl validate-idl`: no
    /// trailing comma, no empty type, one array or dictionary a field with the "?" before it, all named types defined,
    /// no name twice.
    public static func parse(_ text: String) throws(DescriptionError) -> InterfaceDescription {
        try parse(Array(text.utf8))
    }

    /// The same from bytes, which need not be UTF-8.
    public static func parse(_ text: [UInt8]) throws(DescriptionError) -> InterfaceDescription {
        var parser = DescriptionParser(text)
        return try parser.interface()
    }
}

private struct DescriptionParser {
    private static let nestingLimit = 16

    private var scanner: DescriptionScanner
    /// Types used, with the lines they are used in.
    private var uses: [(name: String, line: Int)] = []

    init(_ text: [UInt8]) { scanner = DescriptionScanner(text) }

    mutating func interface() throws(DescriptionError) -> InterfaceDescription {
        try scanner.skipComments()
        try keyword("interface")
        let name = scanner.word { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
        if !DescriptionName.isInterface(name) { throw scanner.failure("not an interface's name") }
        var interface = InterfaceDescription(name: String(decoding: name, as: UTF8.self))
        var names = Set<String>()
        while true {
            try scanner.skipComments()
            if scanner.atEnd { break }
            try member(of: &interface, &names)
        }
        for use in uses where interface.type(use.name) == nil {
            throw DescriptionError(line: use.line, message: "no type " + use.name)
        }
        return interface
    }

    private mutating func keyword(_ word: StaticString) throws(DescriptionError) {
        guard scanner.take(word) else { throw scanner.failure("expected interface, type, method or error") }
        let line = scanner.line
        let before = scanner.position
        scanner.skipWhitespace()
        if scanner.position == before { throw DescriptionError(line: line, message: "expected a name") }
    }

    private mutating func member(
        of interface: inout InterfaceDescription, _ names: inout Set<String>
    ) throws(DescriptionError) {
        switch scanner.peek {
        case UInt8(ascii: "t"):
            try keyword("type")
            let name = try memberName(&names)
            let type = try structureOrEnumeration(depth: 0)
            interface.types.append(InterfaceDescription.NamedType(name: name, type: type))
        case UInt8(ascii: "m"):
            try keyword("method")
            let name = try memberName(&names)
            let input = try parameters()
            try scanner.expect("->", "expected \"->\"")
            let output = try parameters()
            interface.methods.append(InterfaceDescription.Method(name: name, input: input, output: output))
        default:
            try keyword("error")
            let name = try memberName(&names)
            interface.errors.append(InterfaceDescription.ErrorDefinition(name: name, fields: try parameters()))
        }
    }

    private mutating func memberName(_ names: inout Set<String>) throws(DescriptionError) -> String {
        let word = scanner.word()
        if !DescriptionName.isMember(word) { throw scanner.failure("a name begins with a capital letter") }
        let name = String(decoding: word, as: UTF8.self)
        if !names.insert(name).inserted { throw scanner.failure(name + " is defined twice") }
        return name
    }

    /// Of a method or an error: may be empty, but not an enumeration.
    private mutating func parameters() throws(DescriptionError) -> [InterfaceDescription.Field] {
        switch try fields(depth: 0) {
        case .none: return []
        case .structure(let fields)?: return fields
        case .some: throw scanner.failure("expected fields with types")
        }
    }

    private mutating func structureOrEnumeration(
        depth: Int
    ) throws(DescriptionError) -> InterfaceDescription.FieldType {
        guard let type = try fields(depth: depth) else { throw scanner.failure("an empty type") }
        return type
    }

    /// A structure, an enumeration, or nil for "()".
    private mutating func fields(depth: Int) throws(DescriptionError) -> InterfaceDescription.FieldType? {
        if depth > Self.nestingLimit { throw scanner.failure("nested too deeply") }
        try scanner.expect("(", "expected \"(\"")
        var names: [String] = []
        var fields: [InterfaceDescription.Field] = []
        try scanner.skipComments()
        if scanner.take(")") { return nil }
        while true {
            try scanner.skipComments()
            let name = try fieldName(names)
            names.append(name)
            scanner.skipWhitespace()
            if scanner.take(":") {
                fields.append(InterfaceDescription.Field(name: name, type: try fieldType(depth: depth)))
            }
            if !fields.isEmpty, fields.count != names.count {
                throw scanner.failure("some fields have a type and some have none")
            }
            scanner.skipWhitespace()
            if scanner.take(")") { break }
            try scanner.expect(",", "expected \",\" or \")\"")
        }
        return fields.isEmpty ? .enumeration(names) : .structure(fields)
    }

    private mutating func fieldName(_ names: [String]) throws(DescriptionError) -> String {
        let word = scanner.word()
        if !DescriptionName.isField(word) { throw scanner.failure("not a field's name") }
        let name = String(decoding: word, as: UTF8.self)
        if names.contains(name) { throw scanner.failure(name + " is there twice") }
        return name
    }

    private mutating func fieldType(depth: Int) throws(DescriptionError) -> InterfaceDescription.FieldType {
        scanner.skipWhitespace()
        let isNullable = scanner.take("?")
        let isArray = scanner.take("[]")
        let isDictionary = !isArray && scanner.take("[string]")
        var type = try elementType(depth: depth)
        if isArray { type = .array(type) }
        if isDictionary { type = .dictionary(type) }
        return isNullable ? .nullable(type) : type
    }

    private mutating func elementType(depth: Int) throws(DescriptionError) -> InterfaceDescription.FieldType {
        if scanner.peek == UInt8(ascii: "(") { return try structureOrEnumeration(depth: depth + 1) }
        let line = scanner.line
        let word = scanner.word()
        let name = String(decoding: word, as: UTF8.self)
        switch name {
        case "bool": return .bool
        case "int": return .int
        case "float": return .float
        case "string": return .string
        case "object": return .object
        default:
            if !DescriptionName.isMember(word) { throw scanner.failure("not a type") }
            uses.append((name, line))
            return .named(name)
        }
    }
}
