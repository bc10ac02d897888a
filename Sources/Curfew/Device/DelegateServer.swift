internal import CLinux
internal import SystemCalls
internal import Varlink

/// Serves io.curfew.Delegate: on the inherited socket, or on a connection of its own that AttachDelegate turns round,
/// where there is none or it was lost.
final class DelegateServer {
    private static let attach = "io.curfew.Application.AttachDelegate"

    private let path: String
    private let timers: Timers
    private let handlers: HandlerQueue
    private let service: Service?
    private let say: @Sendable (String) -> Void
    private(set) var connection: Connection?
    private var backoff = Backoff()
    /// The device does not call this app, and will not.
    private var isRefused = false
    private var lastTrouble: String?
    /// The first try is over, well or badly.
    private var onSettled: (() -> Void)?

    init(path: String, _ timers: Timers, _ handlers: HandlerQueue, say: @escaping @Sendable (String) -> Void) {
        self.path = path
        self.timers = timers
        self.handlers = handlers
        self.say = say
        service = try? Service(product: "Curfew", version: Application.libraryVersion, url: "https://curfew.io/")
        try? service?.register(DelegateInterface.description) { handlers.take($0) }
    }

    /// inherited: the number in CURFEW_DELEGATE_FD; from now on it belongs to this object.
    func start(inherited: Int32?, _ onSettled: @escaping () -> Void) {
        self.onSettled = onSettled
        guard let inherited, Self.isStreamSocket(inherited) else { return attach() }
        _ = linux_set_descriptor_flags(inherited, FD_CLOEXEC)
        serve(Connection(owning: FileDescriptor(owning: inherited), role: .server))
        settle()
    }

    func close() {
        connection?.onClosed = nil
        connection?.close()
        connection = nil
        settle()
    }

    /// A wrapper may have closed the descriptor, and something else may have taken its number.
    private static func isStreamSocket(_ descriptor: Int32) -> Bool {
        guard let peer = try? Peer(of: descriptor) else { return false }
        // Sockets of other families have no peer's user.
        return peer.uid != .max
    }

    private func serve(_ connection: Connection) {
        connection.onRequest = { [self] request in
            backoff.reset()
            lastTrouble = nil
            service?.handle(request)
        }
        connection.onClosed = { [self] _, reason in
            self.connection = nil
            if !isRefused { tryLater(reason.text) }
        }
        self.connection = connection
    }

    private func attach() {
        do throws(SystemError) {
            let made = Connection(owning: try DeviceLink.connect(path), role: .client)
            serve(made)
            made.call(Call(Self.attach, upgrade: true)) { [self] response in didAnswer(response, made) }
        } catch {
            tryLater(error.text)
        }
    }

    private func didAnswer(_ response: Response, _ connection: Connection) {
        switch response {
        // From here the device calls.
        case .reply: settle()
        case .connectionClosed: break
        case .error(let name, let parameters):
            switch name {
            case "io.curfew.Application.DelegateDenied", "org.varlink.service.MethodNotFound",
                "org.varlink.service.MethodNotImplemented", "org.varlink.service.InterfaceNotFound":
                isRefused = true
                let reason = parameters["reason"]?.stringValue ?? "the device cannot: \(name)"
                sayOnce("handlers are not called: \(reason)")
                settle()
            default: sayOnce("handlers are not called for now: \(CurfewError(name, parameters))")
            }
            connection.close()
        }
    }

    private func tryLater(_ reason: String) {
        settle()
        timers.after(backoff.next()) { [self] in attach() }
    }

    /// The same thing is said once, until the device has called again.
    private func sayOnce(_ text: String) {
        if text != lastTrouble { say(text) }
        lastTrouble = text
    }

    private func settle() {
        let settled = onSettled
        onSettled = nil
        settled?()
    }
}
