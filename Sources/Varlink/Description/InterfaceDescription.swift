/// A Varlink interface as its description text defines it.
public struct InterfaceDescription: Equatable, Sendable {
    /// The types a field can have.
    public indirect enum FieldType: Equatable, Sendable {
        case bool
        case int
        case float
        case string
        /// Any JSON object.
        case object
        /// A type of the interface, by name.
        case named(String)
        case enumeration([String])
        case structure([Field])
        case nullable(FieldType)
        case array(FieldType)
        /// Names to values: "[string]T".
        case dictionary(FieldType)
    }

    /// A member of a struct, of parameters or of an error.
    public struct Field: Equatable, Sendable {
        public let name: String
        public let type: FieldType

        public init(name: String, type: FieldType) {
            self.name = name
            self.type = type
        }
    }

    /// `type Name (...)`.
    public struct NamedType: Equatable, Sendable {
        public let name: String
        public let type: FieldType
    }

    /// `method Name(...) -> (...)`.
    public struct Method: Equatable, Sendable {
        public let name: String
        public let input: [Field]
        public let output: [Field]
    }

    /// `error Name (...)`.
    public struct ErrorDefinition: Equatable, Sendable {
        public let name: String
        public let fields: [Field]
    }

    /// "io.curfew.Control".
    public let name: String
    public internal(set) var types: [NamedType] = []
    public internal(set) var methods: [Method] = []
    public internal(set) var errors: [ErrorDefinition] = []

    init(name: String) { self.name = name }

    /// By its short name, "GetState".
    public func method(_ name: String) -> Method? { methods.first { sameBytes($0.name, name) } }

    public func type(_ name: String) -> FieldType? { types.first { sameBytes($0.name, name) }?.type }

    public func error(_ name: String) -> ErrorDefinition? { errors.first { sameBytes($0.name, name) } }
}

/// Why a text describes no interface.
public struct DescriptionError: Error, Equatable, Sendable {
    /// From 1; 0 where it is about the whole.
    public let line: Int
    public let message: String

    public init(line: Int, message: String) {
        self.line = line
        self.message = message
    }
}
