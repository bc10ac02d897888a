internal import CLinux
internal import CSystemd

// libsystemd's bus, played.

private typealias Connection = PlayedBus.Connection
private typealias Slot = PlayedBus.Slot

@_cdecl("__wrap_sd_bus_new") func busNew(_ out: UnsafeMutablePointer<OpaquePointer?>?) -> Int32 {
    guard let kernel = Kernel.present else { return -ENOMEM }
    out?.pointee = kernel.bus.add().pointer
    return 0
}

@_cdecl("__wrap_sd_bus_set_address") func busSetAddress(_ bus: OpaquePointer?, _ address: UnsafePointer<CChar>?)
    -> Int32
{ 0 }
@_cdecl("__wrap_sd_bus_set_bus_client") func busSetClient(_ bus: OpaquePointer?, _ value: Int32) -> Int32 { 0 }
@_cdecl("__wrap_sd_bus_set_connected_signal") func busSetSignal(_ bus: OpaquePointer?, _ value: Int32) -> Int32 { 0 }
@_cdecl("__wrap_sd_bus_set_watch_bind") func busSetWatch(_ bus: OpaquePointer?, _ value: Int32) -> Int32 { 0 }
@_cdecl("__wrap_sd_bus_set_close_on_exit") func busSetClose(_ bus: OpaquePointer?, _ value: Int32) -> Int32 { 0 }
@_cdecl("__wrap_sd_bus_negotiate_fds") func busNegotiate(_ bus: OpaquePointer?, _ value: Int32) -> Int32 {
    if value != 0 { Kernel.present?.judge.complain("the loop takes descriptors from the bus") }
    return 0
}
@_cdecl("__wrap_sd_bus_is_open") func busIsOpen(_ bus: OpaquePointer?) -> Int32 {
    Connection.at(bus)?.isOpen == true ? 1 : 0
}

@_cdecl("__wrap_sd_bus_start") func busStart(_ bus: OpaquePointer?) -> Int32 {
    guard let kernel = Kernel.present, let connection = Connection.at(bus) else { return -EINVAL }
    return kernel.aside { kernel.loop.world?.login.connect(connection) ?? -ENOENT }
}

@_cdecl("__wrap_sd_bus_attach_event")
func busAttach(_ bus: OpaquePointer?, _ event: OpaquePointer?, _ priority: Int32) -> Int32 {
    guard let kernel = Kernel.present, let connection = Connection.at(bus) else { return -EINVAL }
    let source = PlayedSource(.deferred, nil)
    source.priority = Int64(priority)
    source.work = { [unowned connection] in connection.process() }
    source.enabled = Int32(connection.inbox.isEmpty ? SD_EVENT_OFF : SD_EVENT_ON)
    connection.source = source
    _ = kernel.loop.add(source)
    return 0
}

@_cdecl("__wrap_sd_bus_close_unref") func busClose(_ bus: OpaquePointer?) -> OpaquePointer? {
    guard let kernel = Kernel.present, let connection = Connection.at(bus) else { return nil }
    if let source = connection.source { kernel.loop.free(source) }
    kernel.bus.remove(connection)
    return nil
}

@_cdecl("__wrap_sd_bus_add_match_async")
func busMatch(
    _ bus: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?, _ rule: UnsafePointer<CChar>?,
    _ handler: sd_bus_message_handler_t?, _ installed: sd_bus_message_handler_t?, _ userdata: UnsafeMutableRawPointer?
) -> Int32 {
    guard let connection = Connection.at(bus) else { return -EINVAL }
    let slot = Slot(connection, rule: rule.map { String(cString: $0) } ?? "", handler, userdata)
    connection.slots.append(slot)
    out?.pointee = slot.pointer
    return 0
}

@_cdecl("__wrap_sd_bus_slot_set_destroy_callback")
func slotSetDestroy(_ slot: OpaquePointer?, _ destroy: sd_bus_destroy_t?) -> Int32 {
    Slot.at(slot)?.destroy = destroy
    return 0
}

@_cdecl("__wrap_sd_bus_slot_unref") func slotUnref(_ slot: OpaquePointer?) -> OpaquePointer? {
    if let slot = Slot.at(slot) { Kernel.present?.bus.free(slot) }
    return nil
}

@_cdecl("__wrap_sd_bus_message_new_method_call")
func messageNew(
    _ bus: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?, _ destination: UnsafePointer<CChar>?,
    _ path: UnsafePointer<CChar>?, _ interface: UnsafePointer<CChar>?, _ member: UnsafePointer<CChar>?
) -> Int32 {
    let message = PlayedMessage()
    message.path = path.map { String(cString: $0) } ?? ""
    message.interface = interface.map { String(cString: $0) } ?? ""
    message.member = member.map { String(cString: $0) } ?? ""
    message.hold()
    out?.pointee = message.pointer
    return 0
}

@_cdecl("__wrap_sd_bus_message_unref") func messageUnref(_ message: OpaquePointer?) -> OpaquePointer? {
    PlayedMessage.at(message)?.letGo()
    return nil
}

@_cdecl("__wrap_sd_bus_message_set_auto_start")
func messageAutoStart(_ message: OpaquePointer?, _ value: Int32) -> Int32 { 0 }

@_cdecl("__wrap_sd_bus_message_append_basic")
func messageAppend(_ message: OpaquePointer?, _ type: CChar, _ value: UnsafeRawPointer?) -> Int32 {
    guard let message = PlayedMessage.at(message), let value else { return -EINVAL }
    switch UInt8(bitPattern: type) {
    case UInt8(ascii: "b"): message.body.append(.bool(value.load(as: Int32.self) != 0))
    case UInt8(ascii: "t"): message.body.append(.number(value.load(as: UInt64.self)))
    default: message.body.append(.string(String(cString: value.assumingMemoryBound(to: CChar.self))))
    }
    return 0
}

@_cdecl("__wrap_sd_bus_call_async")
func busCall(
    _ bus: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?, _ message: OpaquePointer?,
    _ handler: sd_bus_message_handler_t?, _ userdata: UnsafeMutableRawPointer?, _ microseconds: UInt64
) -> Int32 {
    _ = Kernel.atPoint("bus call")
    guard let kernel = Kernel.present, let connection = Connection.at(bus), let call = PlayedMessage.at(message) else {
        return -EINVAL
    }
    guard connection.isOpen else { return -ENOTCONN }
    let slot = Slot(connection, rule: nil, handler, userdata)
    connection.slots.append(slot)
    out?.pointee = slot.pointer
    kernel.aside { kernel.loop.world?.login.called(call, connection, slot, limit: microseconds) }
    return 0
}

// MARK: Messages

@_cdecl("__wrap_sd_bus_message_get_sender") func messageSender(_ message: OpaquePointer?) -> UnsafePointer<CChar>? {
    PlayedMessage.at(message).flatMap { UnsafePointer($0.keep($0.sender)) }
}

@_cdecl("__wrap_sd_bus_message_get_member") func messageMember(_ message: OpaquePointer?) -> UnsafePointer<CChar>? {
    PlayedMessage.at(message).flatMap { UnsafePointer($0.keep($0.member)) }
}

@_cdecl("__wrap_sd_bus_message_get_path") func messagePath(_ message: OpaquePointer?) -> UnsafePointer<CChar>? {
    PlayedMessage.at(message).flatMap { UnsafePointer($0.keep($0.path)) }
}

@_cdecl("__wrap_sd_bus_message_read_basic")
func messageRead(_ message: OpaquePointer?, _ type: CChar, _ out: UnsafeMutableRawPointer?) -> Int32 {
    PlayedMessage.at(message)?.read(type, out) ?? -EINVAL
}

@_cdecl("__wrap_sd_bus_message_enter_container")
func messageEnter(_ message: OpaquePointer?, _ type: CChar, _ contents: UnsafePointer<CChar>?) -> Int32 {
    PlayedMessage.at(message)?.enter(type, contents.map { String(cString: $0) } ?? "") ?? -EINVAL
}

@_cdecl("__wrap_sd_bus_message_exit_container") func messageExit(_ message: OpaquePointer?) -> Int32 {
    PlayedMessage.at(message)?.exit() ?? -EINVAL
}

@_cdecl("__wrap_sd_bus_message_skip")
func messageSkip(_ message: OpaquePointer?, _ types: UnsafePointer<CChar>?) -> Int32 {
    PlayedMessage.at(message)?.skip(types.map { String(cString: $0) } ?? "") ?? -EINVAL
}

@_cdecl("__wrap_sd_bus_message_is_method_error")
func messageIsError(_ message: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> Int32 {
    PlayedMessage.at(message)?.error == nil ? 0 : 1
}

@_cdecl("__wrap_sd_bus_message_get_error")
func messageError(_ message: OpaquePointer?) -> UnsafePointer<sd_bus_error>? {
    PlayedMessage.at(message).flatMap { UnsafePointer($0.error) }
}
