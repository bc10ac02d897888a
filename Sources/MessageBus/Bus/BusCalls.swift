internal import CSystemd
public import SystemCalls

/// A method of an object on the bus.
public struct BusMethod {
    public let destination: String
    public let path: String
    public let interface: String
    public let member: String

    public init(_ destination: String, _ path: String, _ interface: String, _ member: String) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
    }
}

extension Bus {
    /// Calls a method with string arguments, and a boolean or a number (t) after them where one is given. The handler
    /// gets the reply or the error; it is not called any more when the slot has been let go of or the bus was lost.
    /// timeout: nanoseconds, of which sd-bus may make 250 ms more; nil: none. No service is started for it.
    public func call(
        _ method: BusMethod, _ arguments: [String] = [], flag: Bool? = nil, number: UInt64? = nil,
        timeout: Int64? = nil, reply: @escaping (Result<Message, BusError>) -> Void
    ) throws(SystemError) -> BusSlot {
        let bus = try pointer()
        var message: OpaquePointer?
        try check(
            sd_bus_message_new_method_call(
                bus, &message, method.destination, method.path, method.interface, method.member),
            "sd_bus_message_new_method_call")
        defer { sd_bus_message_unref(message) }
        try check(sd_bus_message_set_auto_start(message, 0), "sd_bus_message_set_auto_start")
        for argument in arguments {
            try check(
                argument.withCString { sd_bus_message_append_basic(message, Message.type("s"), $0) },
                "sd_bus_message_append_basic")
        }
        if let flag {
            var value: Int32 = flag ? 1 : 0
            try check(
                sd_bus_message_append_basic(message, Message.type("b"), &value), "sd_bus_message_append_basic")
        }
        if var number {
            try check(
                sd_bus_message_append_basic(message, Message.type("t"), &number), "sd_bus_message_append_basic")
        }
        let callback = BusCallback<Message> { message in
            // A connection that breaks fails every call; its loss is told once for all.
            guard sd_bus_is_open(bus) > 0 else { return }
            if let error = message.error { reply(.failure(error)) } else { reply(.success(message)) }
        }
        var slot: OpaquePointer?
        let microseconds = timeout.map { UInt64(max($0, 1000)) / 1000 } ?? UInt64.max
        let result = sd_bus_call_async(
            bus, &slot, message,
            { message, pointer, _ in
                guard let message, let pointer else { return 0 }
                let callback = Unmanaged<BusCallback<Message>>.fromOpaque(pointer).takeUnretainedValue()
                callback.run(Message(pointer: message))
                return 0
            }, callback.retained(), microseconds)
        return try BusSlot(owning: slot, of: callback, result, "sd_bus_call_async")
    }

    /// org.freedesktop.DBus.Properties.Get. The reply's message holds one variant.
    public func property(
        _ name: String, of object: BusMethod, timeout: Int64? = nil,
        reply: @escaping (Result<Message, BusError>) -> Void
    ) throws(SystemError) -> BusSlot {
        let get = BusMethod(object.destination, object.path, "org.freedesktop.DBus.Properties", "Get")
        return try call(get, [object.interface, name], timeout: timeout, reply: reply)
    }

    /// Calls the handler for each signal that matches. Any client of the bus can send a unicast signal, and the
    /// match's sender does not keep it away: check the sender.
    public func match(_ match: BusMatch, handler: @escaping (Message) -> Void) throws(SystemError) -> BusSlot {
        try BusSlot(matching: try pointer(), match, handler)
    }

    /// Tells the unique name of the owner of a well-known name, now and at each change; "" for no owner. One may be
    /// told twice.
    public func watchName(_ name: String, handler: @escaping (String) -> Void) throws(SystemError) -> BusSlot {
        let driver = "org.freedesktop.DBus"
        let changes = try match(
            BusMatch(
                sender: driver, path: "/org/freedesktop/DBus", interface: driver, member: "NameOwnerChanged",
                firstArgument: name)
        ) { message in
            // Any client may send one straight to us; only the bus's own carries this sender.
            guard message.sender == driver, message.readString() == name, message.readString() != nil,
                let owner = message.readString()
            else { return }
            handler(owner)
        }
        let current = try call(BusMethod(driver, "/org/freedesktop/DBus", driver, "GetNameOwner"), [name]) { reply in
            switch reply {
            case .success(let message): handler(message.readString() ?? "")
            case .failure: handler("")
            }
        }
        return changes.joined(with: current)
    }
}
