internal import CLinux
internal import SystemCalls
internal import Varlink

/// The way to the daemon: one of its interfaces on that interface's socket.
final class DaemonConnection {
    /// A daemon that answers nothing at all for so long is stuck, whatever was asked.
    static let patience: Int64 = 10_000_000_000

    let path: String
    /// Whose methods `begin` and `call` mean.
    private let interface: String
    private var connection: Connection
    private let loop: DescriptorLoop
    private var source: DescriptorLoop.Source?
    private let patience: Int64
    /// What is said goes to a program as it is. What people get to see of it does nothing to their terminal.
    var isVerbatim = false
    private(set) var closeReason: CloseReason?
    /// The call under way was made a second time: what it asks for may have been done already.
    private(set) var isRepeated = false

    static func socketPath(root: String) -> String { root + "/run/curfew/io.curfew.Control" }

    /// Root has a socket of its own, where no operator's flood is before it. A daemon without root's rights has none.
    private static func ownSocketPath(root: String) -> String? {
        guard geteuid() == 0 else { return nil }
        let path = socketPath(root: root) + ".root"
        return linux_is_socket(path) == 1 ? path : nil
    }

    /// To io.curfew.Control.
    static func connect(root: String, loop: DescriptorLoop, patience: Int64 = patience) throws(CommandFailure)
        -> DaemonConnection
    {
        let interface = ControlInterface.name
        if let own = ownSocketPath(root: root),
            let connection = try? connect(to: interface, at: own, root: root, loop: loop, patience: patience)
        {
            return connection
        }
        return try connect(to: interface, at: socketPath(root: root), root: root, loop: loop, patience: patience)
    }

    static func connect(
        to interface: String, at path: String, root: String, loop: DescriptorLoop, patience: Int64 = patience
    ) throws(CommandFailure) -> DaemonConnection {
        do throws(SystemError) {
            return DaemonConnection(try dial(path, patience), interface, path, loop, patience)
        } catch {
            guard error.errno == .accessDenied, interface == ApplicationInterface.name,
                let shared = ApplicationInterface.sharedSocket(besides: path)
            else { throw connectFailure(error.errno, path, root: root) }
            return try connect(to: interface, at: shared, root: root, loop: loop, patience: patience)
        }
    }

    private static func dial(_ path: String, _ patience: Int64) throws(SystemError) -> FileDescriptor {
        let number = linux_unix_socket()
        guard number >= 0 else { throw SystemError("socket") }
        let socket = FileDescriptor(owning: number)
        _ = linux_unix_set_connect_timeout(number, patience)
        while linux_unix_connect(number, path) != 0 {
            if Errno.current != .interrupted { throw SystemError("connect", path) }
        }
        return socket
    }

    private init(
        _ socket: consuming FileDescriptor, _ interface: String, _ path: String, _ loop: DescriptorLoop,
        _ patience: Int64
    ) {
        self.path = path
        self.patience = patience
        self.interface = interface
        self.loop = loop
        connection = Connection(owning: socket, role: .client)
        follow()
    }

    private func follow() {
        let connection = connection
        connection.onClosed = { [unowned self] _, reason in
            closeReason = reason
            source?.cancel()
        }
        source = loop.watch(
            connection.descriptor,
            { (connection.wantsRead ? POLLIN : 0) | (connection.wantsWrite ? POLLOUT : 0) },
            { events in
                if events & POLLIN != 0 { connection.onReadable() }
                if events & POLLOUT != 0 { connection.onWritable() }
                if events & (POLLHUP | POLLERR) != 0 { connection.onHangup() }
            })
    }

    /// After the loop that was asked has died, or has been replaced: the socket is kept, and the next one answers.
    private func reopen() -> Bool {
        guard let socket = try? Self.dial(path, patience) else { return false }
        closeReason = nil
        connection = Connection(owning: socket, role: .client)
        follow()
        return true
    }

    deinit {
        source?.cancel()
        connection.onClosed = nil
        connection.close()
    }

    /// Begins a call; the handler gets every reply. interface: another one on the same socket.
    func begin(
        _ method: String, _ parameters: JSONObject = [:], of interface: String? = nil, more: Bool = false,
        _ handler: @escaping (Response) -> Void
    ) {
        let call = Call("\(interface ?? self.interface).\(method)", parameters, more: more)
        let heard = isVerbatim ? handler : { handler($0.printable) }
        if !connection.call(call, heard) { handler(.connectionClosed) }
    }

    /// Calls and waits for the reply. timeout: nanoseconds; nil: as long as the daemon answers others. `whileWaiting`
    /// is called once, after a second.
    ///
    /// mayRepeat: where the connection ends before the reply, it is asked once more: of the loop that comes next, what
    /// is asked for twice is done once.
    func call(
        _ method: String, _ parameters: JSONObject = [:], timeout: Int64? = DaemonConnection.patience,
        mayRepeat: Bool = true, whileWaiting: (() -> Void)? = nil
    ) throws(VarlinkError) -> JSONObject {
        isRepeated = false
        do throws(VarlinkError) {
            return try callOnce(method, parameters, timeout: timeout, whileWaiting: whileWaiting)
        } catch {
            guard mayRepeat, error == .closed, reopen() else { throw error }
        }
        isRepeated = true
        return try callOnce(method, parameters, timeout: timeout, whileWaiting: nil)
    }

    private func callOnce(
        _ method: String, _ parameters: JSONObject, timeout: Int64?, whileWaiting: (() -> Void)?
    ) throws(VarlinkError) -> JSONObject {
        let response = Reference<Response?>(nil)
        begin(method, parameters) { response.value = $0 }
        let start = Clocks.monotonic
        let deadline = timeout.map { start + $0 } ?? .max
        if let whileWaiting, !loop.run(until: min(deadline, start + 1_000_000_000), { response.value != nil }) {
            whileWaiting()
        }
        while !loop.run(until: min(deadline, Clocks.monotonic + patience), { response.value != nil }) {
            if Clocks.monotonic >= deadline || !answersOthers(or: { response.value != nil }) { throw .timedOut }
        }
        switch response.value {
        case .reply(let parameters, _)?: return parameters
        case .error(let name, let parameters)?: throw .error(name: name, parameters: parameters)
        case .connectionClosed?, nil: throw lost
        }
    }

    /// Whether it says anything to a client that asks how the board is, or else what it was asked before.
    private func answersOthers(or isAnswered: () -> Bool) -> Bool {
        // A root is only named where there is nothing at all.
        let other: DaemonConnection
        do throws(CommandFailure) {
            other = try .connect(to: interface, at: path, root: "", loop: loop, patience: patience)
        } catch {
            return isAnswered()
        }
        let hasAnswered = Reference(false)
        other.begin("DescribeDevice") { _ in hasAnswered.value = true }
        return loop.run(patience: patience) { hasAnswered.value || isAnswered() }
    }

    /// Why the connection is no more.
    var lost: VarlinkError {
        switch closeReason {
        case .protocolError(let text)?: .protocol(text)
        case .messageTooLong?: .protocol(CloseReason.messageTooLong.text)
        // It ended with what it had not read yet.
        case .system(let error)? where error.errno == .connectionReset || error.errno == .brokenPipe: .closed
        case .system(let error)?: .system(error)
        case .endOfStream?, .outputOverflow?, .closedHere?, nil: .closed
        }
    }

    private static func connectFailure(_ errno: Errno, _ path: String, root: String) -> CommandFailure {
        switch errno {
        case .noEntry, .connectionRefused, .notDirectory:
            let start = root.isEmpty ? "systemctl start curfewd" : "curfewd --root \(root)"
            return CommandFailure(
                code: .notRunning,
                text: "curfewd is not running (nothing answers at \(path)); start it with: \(start)")
        case .accessDenied, .notPermitted:
            return .failed(
                "no permission to control curfewd (\(path)); use sudo, or join its group: "
                    + "sudo usermod -aG curfew USER, then log in again")
        case .again: return .failed("curfewd has no place for another client at \(path); try again")
        case Errno(rawValue: ENAMETOOLONG):
            return .failed("the path of the socket is too long (\(path), 107 bytes at most); use a shorter --root")
        default: return .failed("cannot reach curfewd: \(SystemError("connect", path, errno: errno).text)")
        }
    }
}

/// A value that closures share.
final class Reference<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}
