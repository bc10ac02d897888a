internal import CLinux
internal import SystemCalls

/// The service manager's store of descriptors (FileDescriptorStoreMax=), for the main process after this one should it
/// be killed: sd_notify(3)'s FDSTORE=1. Does nothing where there is no service manager.
///
/// Nothing is waited for: what the manager has no room for at the moment is kept, in order, until `flush`.
public final class DescriptorStore {
    private struct Message {
        let text: String
        /// A copy of our own; -1: none goes with it.
        let descriptor: Int32
    }

    private static let firstDescriptor: Int32 = 3
    /// Of a name, in bytes: systemd's FDNAME_MAX.
    private static let longestName = 255
    /// Copies that wait; what is to be put beside them is not.
    private static let mostUnsent = 512
    /// Messages that the manager may have unread: what is left of its queue, ten by the kernel's default, is for
    /// READY=1 and the like, which are not sent twice.
    private static let burst = 4
    /// Milliseconds.
    private static let shortestPause: Int32 = 5
    private static let longestPause: Int32 = 1000

    private let address: UnixAddress?
    private var socket: FileDescriptor?
    private var isConnected = false
    /// Sent since the manager was last seen to have read all.
    private var inFlight = 0
    private var unsent: [Message] = []
    private var pause = DescriptorStore.shortestPause
    /// Looks in a row at which the manager was not reached, or memory or descriptors were short. Too many: it is
    /// not there.
    private var failures = 0
    private var hasFailed = false
    private static let mostFailures = 12

    /// address: as NOTIFY_SOCKET has it.
    public init(address: String?) { self.address = address.flatMap { UnixAddress($0) } }

    deinit { for message in unsent where message.descriptor >= 0 { close(message.descriptor) } }

    /// What the manager has kept of the main process before this one, close-on-exec (LISTEN_FDS, sd_listen_fds(3)).
    /// Apps do not inherit these variables.
    public static func take() -> [(name: String, descriptor: Int32)] {
        defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
        guard number("LISTEN_PID") == getpid(), let count = number("LISTEN_FDS"), count > 0, count < 1 << 20 else {
            return []
        }
        let names = (variable("LISTEN_FDNAMES") ?? "").utf8.split(
            separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        return (0..<count).map { place in
            let descriptor = firstDescriptor + place
            _ = linux_keep_over_exec(descriptor, false)
            let name = Int(place) < names.count ? String(names[Int(place)]) ?? "" : ""
            return (name, descriptor)
        }
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    private static func number(_ name: String) -> Int32? { variable(name).flatMap { Int32($0) } }

    /// Has the manager keep a copy. Names that it does not take are left out.
    public func put(_ name: String, _ descriptor: Int32) {
        guard address != nil, Self.isName(name), unsent.count < Self.mostUnsent else { return }
        let copy = linux_dup_cloexec(descriptor)
        if copy >= 0 { add("FDSTORE=1\nFDNAME=" + name, copy) }
    }

    /// No keeper after this one is to have it.
    public func remove(_ name: String) {
        if address != nil, Self.isName(name) { add("FDSTOREREMOVE=1\nFDNAME=" + name, -1) }
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= longestName
            && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
    }

    private func add(_ text: String, _ descriptor: Int32) {
        unsent.append(Message(text: text, descriptor: descriptor))
        // One look: how long is waited is for those that come after a wait.
        if sendSome() > 0 { pause = Self.shortestPause }
    }

    /// Whether something waits for room.
    public var isBehind: Bool { !unsent.isEmpty }

    /// Until `flush` may find room, for poll(2): longer each time that there was none; -1: nothing waits for it.
    public var millisecondsLeft: Int32 { isBehind ? pause : -1 }

    /// Sends what there is room for. What could not be sent for long is given up.
    public func flush() {
        hasFailed = false
        pause = sendSome() > 0 ? Self.shortestPause : min(2 * pause, Self.longestPause)
        failures = hasFailed ? min(failures + 1, Self.mostFailures) : 0
        guard failures == Self.mostFailures else { return }
        for message in unsent where message.descriptor >= 0 { close(message.descriptor) }
        unsent = []
    }

    /// How many.
    private func sendSome() -> Int {
        var count = 0
        while count < unsent.count, send(unsent[count]) {
            if unsent[count].descriptor >= 0 { close(unsent[count].descriptor) }
            count += 1
        }
        unsent.removeFirst(count)
        return count
    }

    /// False where it is to be tried again.
    private func send(_ message: Message) -> Bool {
        guard let socket = connected() else {
            hasFailed = true
            return false
        }
        let bytes = Array(message.text.utf8)
        let descriptors = message.descriptor >= 0 ? [message.descriptor] : []
        if inFlight >= Self.burst, linux_unread(socket) > 0 { return false }
        if inFlight >= Self.burst { inFlight = 0 }
        while linux_packet_send(socket, bytes, bytes.count, descriptors, descriptors.count) != 0 {
            let errno = Errno.current
            if errno == .interrupted { continue }
            if errno == .again || errno.rawValue == ENOBUFS { return false }
            // Another manager may be there the next time.
            self.socket = nil
            isConnected = false
            hasFailed = true
            return false
        }
        inFlight += 1
        return true
    }

    private func connected() -> Int32? {
        if socket == nil { socket = try? UnixAddress.socket(SOCK_DGRAM) }
        guard let number = socket?.rawValue, let address, isConnected || address.connect(number) == 0 else {
            return nil
        }
        isConnected = true
        return number
    }
}
