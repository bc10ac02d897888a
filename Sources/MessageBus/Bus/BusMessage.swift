internal import CSystemd

/// An error reply: "org.freedesktop.DBus.Error.ServiceUnknown" and its text.
public struct BusError: Error, Equatable, Sendable {
    public let name: String
    public let text: String
}

/// A D-Bus message that has arrived, read from its first field on. Valid only in the handler that was given it. A field
/// of another type than the one asked for is nil.
public struct Message {
    let pointer: OpaquePointer

    /// The sender's unique name, as the bus vouches for it.
    public var sender: String { Self.string(sd_bus_message_get_sender(pointer)) }
    public var member: String { Self.string(sd_bus_message_get_member(pointer)) }
    public var path: String { Self.string(sd_bus_message_get_path(pointer)) }

    /// The next value, a string (s); nil when it is something else.
    public func readString() -> String? { readText("s") }

    /// The next value, an object path (o); nil when it is something else.
    public func readPath() -> String? { readText("o") }

    private func readText(_ type: Unicode.Scalar) -> String? {
        var value: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(pointer, Self.type(type), &value) > 0, let value else { return nil }
        return String(cString: value)
    }

    /// The next value, a boolean (b); nil when it is something else.
    public func readBool() -> Bool? {
        var value: Int32 = 0
        return sd_bus_message_read_basic(pointer, Self.type("b"), &value) > 0 ? value != 0 : nil
    }

    /// The next value, an unsigned integer (t); nil when it is something else.
    public func readUInt64() -> UInt64? {
        var value: UInt64 = 0
        return sd_bus_message_read_basic(pointer, Self.type("t"), &value) > 0 ? value : nil
    }

    /// The next value, an unsigned integer of 32 bits (u); nil when it is something else.
    public func readUInt32() -> UInt32? {
        var value: UInt32 = 0
        return sd_bus_message_read_basic(pointer, Self.type("u"), &value) > 0 ? value : nil
    }

    /// A boolean in a variant; nil when it is something else.
    public func readBoolVariant() -> Bool? {
        var value: Bool?
        return readVariant("b") {
            value = $0.readBool()
            return true
        } ? value : nil
    }

    /// An unsigned integer (t) in a variant; nil when it is something else.
    public func readUInt64Variant() -> UInt64? {
        var value: UInt64?
        return readVariant("t") {
            value = $0.readUInt64()
            return true
        } ? value : nil
    }

    /// A string in a variant; nil when it is something else.
    public func readStringVariant() -> String? {
        var value: String?
        return readVariant("s") {
            value = $0.readString()
            return true
        } ? value : nil
    }

    /// Whether `read` read all of a variant with contents of that signature.
    public func readVariant(_ signature: String, _ read: (Message) -> Bool) -> Bool {
        readContainer("v", signature, read)
    }

    /// Whether `read` read, or skipped, all of a struct with such fields.
    public func readStruct(_ fields: String, _ read: (Message) -> Bool) -> Bool { readContainer("r", fields, read) }

    /// Calls `read` for the elements of an array until it returns false, which it does at the end. False when it did so
    /// before, or the message is malformed.
    public func readArray(of element: String, _ read: (Message) -> Bool) -> Bool {
        readContainer("a", element) { message in
            while read(message) {}
            return true
        }
    }

    /// Calls `read` for each entry of a dictionary of variants (a{sv}), which reads the variant or returns false. False
    /// when the message is malformed.
    public func readProperties(_ read: (String, Message) -> Bool) -> Bool {
        readArray(of: "{sv}") { message in
            message.readContainer("e", "sv") { entry in
                guard let name = entry.readString() else { return false }
                return read(name, entry) || entry.skip("v")
            }
        }
    }

    /// Passes over values of those types; false when they are something else.
    public func skip(_ types: String) -> Bool { sd_bus_message_skip(pointer, types) >= 0 }

    @inline(never)
    private func readContainer(_ type: Unicode.Scalar, _ contents: String, _ read: (Message) -> Bool) -> Bool {
        guard sd_bus_message_enter_container(pointer, Self.type(type), contents) > 0 else { return false }
        // The second fails where something was left unread.
        return read(self) && sd_bus_message_exit_container(pointer) >= 0
    }

    /// The error, if the message is one.
    var error: BusError? {
        guard sd_bus_message_is_method_error(pointer, nil) > 0 else { return nil }
        guard let error = sd_bus_message_get_error(pointer) else { return BusError(name: "", text: "") }
        return BusError(name: Self.string(error.pointee.name), text: Self.string(error.pointee.message))
    }

    static func type(_ letter: Unicode.Scalar) -> CChar { CChar(letter.value) }

    private static func string(_ pointer: UnsafePointer<CChar>?) -> String {
        guard let pointer else { return "" }
        return String(cString: pointer)
    }
}
