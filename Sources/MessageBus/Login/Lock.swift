internal import SystemCalls

/// One inhibitor lock: org.freedesktop.login1.Manager.Inhibit, and the descriptor that is the lock. There is never more
/// than one copy of it here, and one for the next loop (`KeptLocks`): a forgotten one would cost the whole delay at
/// each sleep.
final class Lock {
    let kind: Inhibitor
    private unowned(unsafe) let client: LogindClient
    private var descriptor: FileDescriptor?
    private var request: LockRequest?
    /// An answer is to come: from the thread, or `lose`, where the bus has gone.
    private var isAwaited = false
    private var limit: Delay?
    private let event: OpaquePointer
    private let priority: Int32

    init(_ kind: Inhibitor, event: OpaquePointer, priority: Int32, client: LogindClient) throws(SystemError) {
        self.kind = kind
        self.client = client
        self.event = event
        self.priority = priority
        limit = try Delay(event: event, priority: priority) { [unowned(unsafe) self] in timeIsOver() }
    }

    private func timeIsOver() {
        // A loop that was late itself finds here what logind has said in time.
        while let request, request.hear() {}
        guard isAwaited else { return }
        isAwaited = false
        // A lock that comes later is closed.
        request = nil
        refuse("logind does not answer")
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
            request = try LockRequest(
                (kind.name, why, client.name(of: mode)), manager: client.owner, address: bus.address,
                microseconds: UInt64(client.limits.answer / 1000), event: event, priority: priority
            ) { [unowned(unsafe) self] in answered($0) }
            isAwaited = true
            limit?.start(nanoseconds: client.limits.answer)
        } catch {
            refuse(error.text)
        }
    }

    func release() {
        request = nil
        isAwaited = false
        descriptor = nil
        limit?.stop()
        client.dropWaiting {
            switch $0 {
            case .lockTaken(self.kind, _), .lockRefused(self.kind, _): true
            default: false
            }
        }
    }

    private func answered(_ answer: LockRequest.Answer) {
        request = nil
        // Should the bus be there all the same, it is refused in time.
        if case .lost = answer { return }
        isAwaited = false
        limit?.stop()
        switch answer {
        case .lost: break
        case .lock(let number):
            descriptor = FileDescriptor(owning: number)
            client.tellLater(.lockTaken(kind, descriptor: number))
        case .refused(let reason):
            refuse(reason)
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
