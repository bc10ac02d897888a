internal import SystemCalls

/// One inhibitor lock: org.freedesktop.login1.Manager.Inhibit, and the descriptor that is the lock. There is never more
/// than one copy of it: a forgotten one would cost the whole delay at each sleep.
final class Lock {
    let kind: Inhibitor
    private unowned(unsafe) let client: LogindClient
    private var descriptor: FileDescriptor?
    private var request: BusSlot?
    private var limit: Delay?

    init(_ kind: Inhibitor, event: OpaquePointer, priority: Int32, client: LogindClient) throws(SystemError) {
        self.kind = kind
        self.client = client
        limit = try Delay(event: event, priority: priority) { [unowned(unsafe) self] in
            // A reply that comes later is dropped, and its descriptor with it.
            request = nil
            refuse("logind does not answer")
        }
    }

    var isHeld: Bool { descriptor != nil }

    func take(mode: LockMode) {
        guard !isHeld, request == nil else { return }
        guard client.isAvailable, let bus = client.bus else { return refuse("logind is not available") }
        let why =
            switch kind {
            case .sleep: "Apps get ready for sleep"
            case .shutdown: "Apps get ready for shutdown"
            case .idleAndSleep: "Apps finish background tasks"
            case .powerKey: "The power key is heard here"
            case .lidSwitch: "The lid is heard here"
            }
        do throws(SystemError) {
            request = try bus.call(client.manager("Inhibit"), [kind.name, "Curfew", why, client.name(of: mode)]) {
                [unowned(unsafe) self] in
                answered($0)
            }
            limit?.start(nanoseconds: client.limits.answer)
        } catch {
            refuse(error.text)
        }
    }

    func release() {
        request = nil
        descriptor = nil
        limit?.stop()
        client.dropWaiting {
            switch $0 {
            case .lockTaken(self.kind, _), .lockRefused(self.kind, _): true
            default: false
            }
        }
    }

    private func answered(_ reply: Result<Message, BusError>) {
        request = nil
        limit?.stop()
        switch reply {
        case .success(let message):
            guard let original = message.readDescriptor() else { return refuse("logind's answer has no descriptor") }
            do throws(SystemError) {
                let copy = try FileDescriptor.duplicate(of: original)
                let number = copy.rawValue
                descriptor = consume copy
                // Told later: the message's own descriptor is closed by then.
                client.tellLater(.lockTaken(kind, descriptor: number))
            } catch {
                refuse(error.text)
            }
        case .failure(let error):
            refuse(error.text)
        }
    }

    private func refuse(_ reason: String) { client.tellLater(.lockRefused(kind, reason: reason)) }
}

extension LogindClient {
    public func takeLock(_ kind: Inhibitor, mode: LockMode) { lock(kind)?.take(mode: mode) }

    public func releaseLock(_ kind: Inhibitor) { lock(kind)?.release() }

    /// As this logind knows it.
    fileprivate func name(of mode: LockMode) -> String {
        mode == .weakBlock && !knowsWeakLocks ? LockMode.block.name : mode.name
    }

    private func lock(_ kind: Inhibitor) -> Lock? { locks.first { $0.kind == kind } }
}
