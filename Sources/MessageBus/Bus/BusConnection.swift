internal import CSystemd
internal import SystemCalls

/// One connection to a message bus, from its start until it breaks. All of it happens in the event loop: connecting,
/// authenticating and saying Hello too.
final class BusConnection {
    enum Change {
        case connected
        case disconnected
    }

    let bus: OpaquePointer
    private var local: BusSlot?

    /// waitForSocket: a socket that is not there yet is waited for, by inotify on its directories
    /// (sd_bus_set_watch_bind(3)); otherwise that is ENOENT or ECONNREFUSED.
    init(
        event: OpaquePointer, priority: Int32, address: String, waitForSocket: Bool,
        onChange: @escaping (Change) -> Void
    ) throws(SystemError) {
        var pointer: OpaquePointer?
        try check(sd_bus_new(&pointer), "sd_bus_new")
        guard let pointer else { throw SystemError("sd_bus_new", errno: .noMemory) }
        bus = pointer
        try check(sd_bus_set_address(bus, address), "sd_bus_set_address", address)
        try check(sd_bus_set_bus_client(bus, 1), "sd_bus_set_bus_client")
        // Any client of the bus may send some, and to close them may take as long as that client likes.
        try check(sd_bus_negotiate_fds(bus, 0), "sd_bus_negotiate_fds")
        try check(sd_bus_set_connected_signal(bus, 1), "sd_bus_set_connected_signal")
        try check(sd_bus_set_watch_bind(bus, waitForSocket ? 1 : 0), "sd_bus_set_watch_bind")
        // Else a bus that hangs would be waited for when the loop ends: it is flushed without a bound.
        try check(sd_bus_set_close_on_exit(bus, 0), "sd_bus_set_close_on_exit")
        try check(sd_bus_start(bus), "connect", address)
        try check(sd_bus_attach_event(bus, event, priority), "sd_bus_attach_event")
        local = try BusSlot(matching: bus, BusMatch(ofLocalSignals: ())) { message in
            switch message.member {
            case "Connected": onChange(.connected)
            case "Disconnected": onChange(.disconnected)
            default: break
            }
        }
    }

    deinit {
        local = nil
        sd_bus_close_unref(bus)
    }
}

/// A match or a pending call on the bus; let go of, its handler is not called any more.
public final class BusSlot {
    private var pointer: OpaquePointer?
    private var companion: BusSlot?

    init(owning pointer: OpaquePointer?, of userdata: RetainedByBus, _ result: Int32, _ operation: String)
        throws(SystemError)
    {
        self.pointer = pointer
        guard result >= 0, let pointer else {
            Unmanaged<RetainedByBus>.passUnretained(userdata).release()
            throw SystemError(operation, errno: Errno(rawValue: -result))
        }
        sd_bus_slot_set_destroy_callback(pointer, RetainedByBus.release)
    }

    convenience init(matching bus: OpaquePointer, _ match: BusMatch, _ handler: @escaping (Message) -> Void)
        throws(SystemError)
    {
        let callback = BusCallback(handler)
        var slot: OpaquePointer?
        // Without a callback of its own a match that the bus refuses ends the connection.
        let result = sd_bus_add_match_async(
            bus, &slot, match.rule,
            { message, pointer, _ in
                guard let message, let pointer else { return 0 }
                let callback = Unmanaged<BusCallback<Message>>.fromOpaque(pointer).takeUnretainedValue()
                callback.run(Message(pointer: message))
                return 0
            }, nil, callback.retained())
        try self.init(owning: slot, of: callback, result, "sd_bus_add_match_async")
    }

    /// Two that come and go together.
    func joined(with other: BusSlot) -> BusSlot {
        companion = other
        return self
    }

    /// The handler is not called any more.
    public func cancel() {
        companion = nil
        if let pointer { sd_bus_slot_unref(pointer) }
        pointer = nil
    }

    deinit { cancel() }
}

/// Which signals a match is about.
public struct BusMatch {
    let rule: String

    public init(sender: String, path: String, interface: String, member: String, firstArgument: String? = nil) {
        var rule = "type='signal',sender='\(sender)',path='\(path)',interface='\(interface)',member='\(member)'"
        if let firstArgument { rule += ",arg0='\(firstArgument)'" }
        self.rule = rule
    }

    /// All signals of a sender's.
    public init(sender: String) { rule = "type='signal',sender='\(sender)'" }

    /// What sd-bus itself says of the connection.
    init(ofLocalSignals: Void) {
        let local = "org.freedesktop.DBus.Local"
        rule = "type='signal',sender='\(local)',path='/org/freedesktop/DBus/Local',interface='\(local)'"
    }
}
