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

    /// The next value, a string (s); nil when it is something else.
    public func readString() -> String? {
        var value: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(pointer, Self.type("s"), &value) > 0, let value else { return nil }
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

    /// A descriptor that the message owns and closes: to be duplicated.
    public func readDescriptor() -> Int32? {
        var value: Int32 = -1
        return sd_bus_message_read_basic(pointer, Self.type("h"), &value) > 0 ? value : nil
    }

    /// What `read` finds in a variant with contents of that signature.
    public func readVariant<Value>(_ signature: String, _ read: (Message) -> Value?) -> Value? {
        guard sd_bus_message_enter_container(pointer, Self.type("v"), signature) > 0 else { return nil }
        let value = read(self)
        return sd_bus_message_exit_container(pointer) >= 0 ? value : nil
    }

    /// Calls `read` for each entry of a dictionary of variants (a{sv}), which reads the variant or returns false. False
    /// when the message is malformed.
    public func readProperties(_ read: (String, Message) -> Bool) -> Bool {
        guard sd_bus_message_enter_container(pointer, Self.type("a"), "{sv}") > 0 else { return false }
        while true {
            let entered = sd_bus_message_enter_container(pointer, Self.type("e"), "sv")
            if entered == 0 { break }
            guard entered > 0, let name = readString() else { return false }
            if !read(name, self), sd_bus_message_skip(pointer, "v") < 0 { return false }
            guard sd_bus_message_exit_container(pointer) >= 0 else { return false }
        }
        return sd_bus_message_exit_container(pointer) >= 0
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
