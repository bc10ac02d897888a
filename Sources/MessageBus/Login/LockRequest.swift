internal import CLinux
internal import CSystemd
internal import SystemCalls

/// A call of org.freedesktop.login1.Manager.Inhibit. The lock is a descriptor, and what takes one from the bus takes
/// those of any client's: the call is made by a thread, over a connection of its own.
final class LockRequest {
    /// What logind has said.
    enum Answer {
        /// The lock: a descriptor, which the handler owns.
        case lock(Int32)
        case refused(String)
        /// The bus went away. `Bus` tells of that, once for all calls.
        case lost
    }

    private static let lost = [ECONNRESET, ENOTCONN, EPIPE, ECONNREFUSED, ENOENT, ESHUTDOWN]

    private let socket: FileDescriptor
    private let answered: (Answer) -> Void
    private var source: OpaquePointer?
    /// What was said, until the thread has closed its own copy of the lock: nothing waits for two.
    private var heard: Answer?

    /// answered: not after this object is let go of; a lock that comes later is closed. address: of the bus. manager:
    /// logind's unique name. microseconds: how long the thread waits for an answer.
    init(
        _ arguments: (what: String, why: String, mode: String), manager: String, address: String, microseconds: UInt64,
        event: OpaquePointer, priority: Int32, answered: @escaping (Answer) -> Void
    ) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        if linux_packet_pair(&ends) != 0 { throw SystemError("socketpair") }
        socket = FileDescriptor(owning: ends[0])
        self.answered = answered
        guard let order = linux_order_lock(address, manager, arguments.what, arguments.why, arguments.mode) else {
            _ = CLinux.close(ends[1])
            throw SystemError("ask for a lock")
        }
        order.pointee.socket = ends[1]
        order.pointee.microseconds = microseconds
        do throws(SystemError) {
            try listen(event, priority)
            let error = linux_start_thread("curfewd-lock", { askForLock($0) }, order)
            if error != 0 { throw SystemError("start a thread", errno: Errno(rawValue: error)) }
        } catch {
            linux_end_lock_order(order)
            throw error
        }
    }

    /// Takes the next of what the thread has said: an answer, and then that it has ended. False where it has said
    /// nothing more yet.
    func hear() -> Bool {
        var answer = linux_lock_answer()
        var lock: Int32 = -1
        if linux_hear_lock(socket.rawValue, &answer, &lock) {
            heard = Self.read(answer, lock)
            return true
        }
        let errno = Errno.current
        if errno == .again || errno == .interrupted { return false }
        // It has hung up: nothing of it is left.
        let last = heard ?? .refused(errno.text)
        heard = nil
        answered(last)
        return true
    }

    private func listen(_ event: OpaquePointer, _ priority: Int32) throws(SystemError) {
        let callback = BusCallback<Void> { [unowned(unsafe) self] in _ = hear() }
        var added: OpaquePointer?
        let result = sd_event_add_io(
            event, &added, socket.rawValue, EPOLLIN.rawValue,
            { _, _, _, pointer in
                guard let pointer else { return 0 }
                Unmanaged<BusCallback<Void>>.fromOpaque(pointer).takeUnretainedValue().run(())
                return 0
            }, callback.retained())
        source = try callback.owned(by: added, priority, result, "sd_event_add_io")
    }

    private static func read(_ answer: linux_lock_answer, _ lock: Int32) -> Answer {
        if answer.error == 0 { return .lock(lock) }
        if Self.lost.contains(answer.error) { return .lost }
        let text = withUnsafeBytes(of: answer.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return .refused(text.isEmpty ? Errno(rawValue: answer.error).text : text)
    }

    // Before the socket goes.
    deinit {
        if let source { sd_event_source_disable_unref(source) }
        if case .lock(let lock) = heard { _ = CLinux.close(lock) }
    }
}

/// The thread: nothing of it is the loop's but the order. It may wait as long as it likes.
private func askForLock(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let order = context?.assumingMemoryBound(to: linux_lock_order.self) else { return nil }
    var bus, call, reply: OpaquePointer?
    var failure = sd_bus_error()
    var lock: Int32 = -1
    let result = inhibit(order, &bus, &call, &reply, &failure, &lock)
    linux_answer_lock(order, -min(result, 0), failure.message, result < 0 ? -1 : lock)
    // The message's own copy of the lock first: what others have sent may keep the rest waiting.
    sd_bus_message_unref(reply)
    sd_bus_message_unref(call)
    linux_end_lock_order(order)
    sd_bus_error_free(&failure)
    sd_bus_close_unref(bus)
    return nil
}

/// A negative errno, where there is no lock.
private func inhibit(
    _ order: UnsafeMutablePointer<linux_lock_order>, _ bus: inout OpaquePointer?, _ call: inout OpaquePointer?,
    _ reply: inout OpaquePointer?, _ failure: inout sd_bus_error, _ lock: inout Int32
) -> Int32 {
    var result = sd_bus_new(&bus)
    if result >= 0 { result = sd_bus_set_address(bus, order.pointee.address) }
    if result >= 0 { result = sd_bus_set_bus_client(bus, 1) }
    if result >= 0 { result = sd_bus_negotiate_fds(bus, 1) }
    if result >= 0 { result = sd_bus_start(bus) }
    if result >= 0 {
        result = sd_bus_message_new_method_call(
            bus, &call, order.pointee.manager, "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "Inhibit")
    }
    if result >= 0 { result = sd_bus_message_set_auto_start(call, 0) }
    let texts = (order.pointee.what, order.pointee.why, order.pointee.mode)
    if result >= 0 { result = sd_bus_message_append_basic(call, Message.type("s"), texts.0) }
    if result >= 0 { result = "Curfew".withCString { sd_bus_message_append_basic(call, Message.type("s"), $0) } }
    if result >= 0 { result = sd_bus_message_append_basic(call, Message.type("s"), texts.1) }
    if result >= 0 { result = sd_bus_message_append_basic(call, Message.type("s"), texts.2) }
    if result >= 0 { result = sd_bus_call(bus, call, order.pointee.microseconds, &failure, &reply) }
    if result >= 0 { result = sd_bus_message_read_basic(reply, Message.type("h"), &lock) }
    return result
}
