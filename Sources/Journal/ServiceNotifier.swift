internal import CLinux
internal import SystemCalls

/// Tells the service manager how we are: sd_notify(3)'s protocol, without its waiting. Does nothing where that was
/// not asked for.
public final class ServiceNotifier {
    /// The address that NOTIFY_SOCKET held, for a re-executed self; nil where there was none.
    public let address: String?
    private let deliver: ((String) -> Bool)?

    /// Takes NOTIFY_SOCKET out of the environment: apps get one of their own.
    public convenience init() {
        let value = getenv("NOTIFY_SOCKET").map { String(cString: $0) }
        unsetenv("NOTIFY_SOCKET")
        self.init(address: value)
    }

    /// address: a path, or "@name" in the abstract namespace.
    public init(address: String?) {
        self.address = address
        let socket = address.flatMap { DatagramSocket(to: $0) }
        deliver = socket.map { socket in { socket.send(Array($0.utf8)) == nil } }
    }

    /// deliver: sends for us, as the service manager hears the service's main process only. Returns whether it could.
    public init(deliver: @escaping (String) -> Bool) {
        address = nil
        self.deliver = deliver
    }

    /// Start-up is complete, or a reload is.
    public func ready(status: String? = nil) {
        notify(status.map { "READY=1\nSTATUS=" + Self.line($0) } ?? "READY=1")
    }

    /// One line for `systemctl status`.
    public func status(_ text: String) { notify("STATUS=" + Self.line(text)) }

    public func stopping() { notify("STOPPING=1") }

    /// The configuration is read again; `ready` ends it. Type=notify-reload wants the time of it.
    public func reloading() { notify("RELOADING=1\nMONOTONIC_USEC=\(Clocks.monotonic / 1000)") }

    public func mainProcess(_ identifier: Int32) { notify("MAINPID=\(identifier)") }

    /// WATCHDOG=1: still alive.
    public func watchdog() { notify("WATCHDOG=1") }

    /// How often WATCHDOG=1 is expected from now on, in microseconds; 0: not at all.
    public func watchdog(every microseconds: UInt64) { notify("WATCHDOG_USEC=\(microseconds)") }

    /// Sends assignments, one a line. False when there is no receiver, or no room.
    @discardableResult
    public func notify(_ state: String) -> Bool {
        deliver?(state) ?? false
    }

    private static func line(_ text: String) -> String {
        String(decoding: text.utf8.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }
}
