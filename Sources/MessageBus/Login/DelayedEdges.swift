internal import SystemCalls

/// The edges of sleep and shutdown on their way to the core. A start waits until logind has said what
/// InhibitDelayMaxUSec is now (packages and drop-ins change it), for a bounded time; nothing overtakes anything.
final class DelayedEdges {
    /// What logind announces beforehand (PrepareForSleep, PrepareForShutdown).
    enum Operation {
        case sleep
        case shutdown
    }

    private unowned(unsafe) let client: LogindClient
    private var held: [(operation: Operation, at: Int64)] = []
    private var query: BusSlot?
    private var patience: Delay?

    init(event: OpaquePointer, priority: Int32, client: LogindClient) throws(SystemError) {
        self.client = client
        patience = try Delay(event: event, priority: priority) { [unowned(unsafe) self] in letGo() }
    }

    func receive(_ operation: Operation, isStart: Bool, at time: Int64) {
        guard isStart else {
            letGo()
            return pass(operation, isStart: false, at: time)
        }
        held.append((operation, time))
        if query == nil { ask() }
    }

    /// Tells what is held, with the last known value if there is no newer one.
    func letGo() {
        query = nil
        patience?.stop()
        let starts = held
        held = []
        for start in starts { pass(start.operation, isStart: true, at: start.at) }
    }

    func drop() {
        query = nil
        patience?.stop()
        held = []
    }

    private func ask() {
        guard let bus = client.bus else { return letGo() }
        do throws(SystemError) {
            query = try bus.property("InhibitDelayMaxUSec", of: client.manager("")) {
                [unowned(unsafe) self] reply in
                if case .success(let message) = reply, let value = message.readUInt64Variant() {
                    client.inhibitDelayMax = LogindClient.nanoseconds(ofMicroseconds: value)
                }
                letGo()
            }
            patience?.start(nanoseconds: client.limits.inhibitDelayMax)
        } catch {
            letGo()
        }
    }

    private func pass(_ operation: Operation, isStart: Bool, at time: Int64) {
        let delay = client.inhibitDelayMax
        switch operation {
        case .sleep: client.tell(.prepareForSleep(isStart, inhibitDelayMax: delay, at: time))
        case .shutdown: client.tell(.prepareForShutdown(isStart, inhibitDelayMax: delay, at: time))
        }
    }
}
