internal import CLinux
internal import CSystemd

/// The system bus, seen from the daemon: its connections to it, their matches and open calls.
final class PlayedBus {
    /// A match, or a call that waits for its reply.
    final class Slot {
        let rule: String?
        let handler: sd_bus_message_handler_t?
        let userdata: UnsafeMutableRawPointer?
        var destroy: sd_bus_destroy_t?
        unowned let connection: Connection

        init(
            _ connection: Connection, rule: String?, _ handler: sd_bus_message_handler_t?,
            _ userdata: UnsafeMutableRawPointer?
        ) {
            self.connection = connection
            self.rule = rule
            self.handler = handler
            self.userdata = userdata
        }

        var pointer: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }
        static func at(_ pointer: OpaquePointer?) -> Slot? {
            pointer.map { Unmanaged<Slot>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
        }
    }

    final class Connection {
        var isOpen = false
        /// The daemon has read that it is connected.
        var isHeard = false
        var isClosed = false
        var slots: [Slot] = []
        /// What has arrived, and whose reply it is.
        var inbox: [(message: PlayedMessage, reply: Slot?)] = []
        var source: PlayedSource?

        var pointer: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }
        static func at(_ pointer: OpaquePointer?) -> Connection? {
            pointer.map { Unmanaged<Connection>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
        }

        func deliver(_ message: PlayedMessage, to reply: Slot? = nil) {
            guard !isClosed else { return }
            inbox.append((message, reply))
            source?.enabled = Int32(SD_EVENT_ON)
        }

        /// One message, as sd_bus_process(3).
        func process() {
            guard !inbox.isEmpty else {
                source?.enabled = Int32(SD_EVENT_OFF)
                return
            }
            let (message, reply) = inbox.removeFirst()
            if inbox.isEmpty { source?.enabled = Int32(SD_EVENT_OFF) }
            if message.member == "Connected" { isHeard = true }
            if let reply {
                guard slots.contains(where: { $0 === reply }) else { return }
                _ = reply.handler?(message.pointer, reply.userdata, nil)
                return
            }
            for slot in slots where slot.rule.map({ Self.fits(message, $0) }) == true {
                guard slots.contains(where: { $0 === slot }) else { continue }
                _ = slot.handler?(message.pointer, slot.userdata, nil)
            }
        }

        private static func fits(_ message: PlayedMessage, _ rule: String) -> Bool {
            if message.interface == "org.freedesktop.DBus.Local" { return rule.contains("DBus.Local") }
            if rule.contains("NameOwnerChanged") { return message.member == "NameOwnerChanged" }
            return message.member != "NameOwnerChanged" && rule.contains("org.freedesktop.login1")
        }
    }

    private(set) var connections: [Connection] = []
    /// MONOTONIC: when the daemon lost its connection, and has tried no other since.
    private var lostAt: Int64?
    /// What was let go of stays for as long as a program may point to it.
    private var graveyard: [AnyObject] = []

    func add() -> Connection {
        let connection = Connection()
        connections.append(connection)
        return connection
    }

    func remove(_ connection: Connection) {
        connection.isClosed = true
        connections.removeAll { $0 === connection }
        graveyard.append(connection)
        for slot in connection.slots { free(slot) }
    }

    func free(_ slot: Slot) {
        guard slot.connection.slots.contains(where: { $0 === slot }) else { return }
        slot.connection.slots.removeAll { $0 === slot }
        graveyard.append(slot)
        slot.destroy?(slot.userdata)
    }

    func forgetAll() {
        graveyard += connections
        connections = []
        lostAt = nil
    }

    func didTry() { lostAt = nil }

    /// The first attempt after a connection comes soon, whatever has failed before that connection.
    func judge(_ kernel: Kernel) {
        guard let lostAt, kernel.clock.monotonic - lostAt > 1_000_000_000 else { return }
        self.lostAt = nil
        kernel.judge.complain("the bus was lost, and is not tried again")
    }

    /// Connections break, all at once.
    func breakAll(at moment: Int64) {
        for connection in connections where connection.isOpen {
            connection.isOpen = false
            if connection.isHeard { lostAt = moment }
            let message = PlayedMessage()
            message.interface = "org.freedesktop.DBus.Local"
            message.member = "Disconnected"
            connection.inbox = []
            connection.deliver(message)
        }
    }
}
