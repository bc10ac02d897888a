internal import CLinux
internal import CSystemd
public import SystemCalls

/// A message bus that comes and goes: connects in the background, and again when the connection is lost. Never blocks:
/// connecting, calls and their replies are handled in the event loop. Not Sendable.
public final class Bus {
    /// What becomes of the connection.
    public enum Event {
        /// Calls can be made. Matches and names watched on an earlier connection have to be made anew.
        case connected
        /// Said once until the next `connected`; all slots are dead.
        case lost(reason: String)
    }

    public let address: String
    let event: OpaquePointer
    let priority: Int32
    private let onEvent: (Event) -> Void
    private let connectLimit: Int64
    private var connection: BusConnection?
    private var retry: Delay?
    private var limit: Delay?
    /// The state as it was last told.
    private var told = Told.nothing
    /// Attempts in a row that did not lead to a connection.
    private var failures = 0
    private var attempt = 0

    private enum Told {
        case nothing
        case connected
        case lost
    }

    /// event: an sd_event. address: as in DBUS_SYSTEM_BUS_ADDRESS; nil takes that, or else the system bus.
    /// connectLimit: nanoseconds after which a bus that takes the connection and says nothing is told as lost.
    public init(
        event: OpaquePointer, priority: Int32, address: String? = nil, connectLimit: Int64 = 2_000_000_000,
        onEvent: @escaping (Event) -> Void
    ) throws(SystemError) {
        self.event = event
        self.priority = priority
        self.address = address ?? Self.systemAddress
        self.connectLimit = connectLimit
        self.onEvent = onEvent
        retry = try Delay(event: event, priority: priority) { [unowned(unsafe) self] in connect() }
        limit = try Delay(event: event, priority: priority) { [unowned(unsafe) self] in
            tellLost("it does not answer")
        }
    }

    deinit { close() }

    public var isConnected: Bool { told == .connected }

    /// Begins to connect; what comes of it is told later, from the loop.
    public func open() { retry?.start(nanoseconds: 0) }

    /// Ends the connection and all attempts; nothing is told any more.
    public func close() {
        attempt += 1
        retry?.stop()
        limit?.stop()
        connection = nil
        told = .nothing
    }

    private static var systemAddress: String {
        guard let value = getenv("DBUS_SYSTEM_BUS_ADDRESS") else { return "unix:path=/run/dbus/system_bus_socket" }
        return String(cString: value)
    }

    private func connect() {
        connection = nil
        do throws(SystemError) {
            try start(waitForSocket: false)
        } catch {
            let current = attempt
            tellLost(error.text)
            // The one who was told may have closed the bus.
            guard current == attempt else { return }
            let isMissing = error.errno == .noEntry || error.errno == .connectionRefused
            guard isMissing, address.utf8.starts(with: "unix:path=".utf8), (try? start(waitForSocket: true)) != nil
            else {
                return retryLater()
            }
            // Waits for the socket as long as it takes; nothing is late.
            return
        }
        limit?.start(nanoseconds: connectLimit)
    }

    private func start(waitForSocket: Bool) throws(SystemError) {
        attempt += 1
        let current = attempt
        connection = try BusConnection(
            event: event, priority: priority, address: address, waitForSocket: waitForSocket
        ) { [unowned(unsafe) self] change in
            guard current == attempt else { return }
            switch change {
            case .connected: connected()
            case .disconnected: disconnected()
            }
        }
    }

    private func connected() {
        limit?.stop()
        failures = 0
        told = .connected
        onEvent(.connected)
    }

    private func disconnected() {
        limit?.stop()
        // Its own callback is running: the connection goes with the next attempt.
        attempt += 1
        let current = attempt
        tellLost("the connection was closed")
        if current == attempt { retryLater() }
    }

    private func retryLater() {
        // 0.25 s, doubled each time up to a minute: what cannot be waited for by inotify is tried again.
        let delay = min(Int64(250_000_000) << Int64(min(failures, 8)), 60_000_000_000)
        failures += 1
        retry?.start(nanoseconds: delay)
    }

    private func tellLost(_ reason: String) {
        guard told != .lost else { return }
        told = .lost
        onEvent(.lost(reason: "message bus \(address): \(reason)"))
    }

    /// The connection, for calls and matches.
    func pointer() throws(SystemError) -> OpaquePointer {
        guard told == .connected, let connection else {
            throw SystemError("message bus", address, errno: Errno(rawValue: ENOTCONN))
        }
        return connection.bus
    }
}
