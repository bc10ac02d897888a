public import SystemCalls

/// systemd-logind (or elogind) over D-Bus: org.freedesktop.login1.Manager at /org/freedesktop/login1.
///
/// No call blocks, and none waits longer than its limit for a bus or a logind that hangs. Connects again when the bus
/// or logind goes away and comes back. Owned by one thread, that of the event loop.
public final class LogindClient: LoginService {
    /// How long answers are waited for, in nanoseconds.
    public struct Limits: Sendable {
        /// Until a bus that accepts a connection and says nothing counts as unavailable.
        public var connect: Int64 = 2_000_000_000
        /// For logind's first answer, for a lock, and for whatever is asked of it that is not named below.
        public var answer: Int64 = 5_000_000_000
        /// For InhibitDelayMaxUSec, when a sleep or shutdown begins.
        public var inhibitDelayMax: Int64 = 150_000_000
        public var preparingForSleep: Int64 = 500_000_000
        /// Between two tellings of sessions or conditions, and two questions for them.
        public var sessionInterval: Int64 = 100_000_000
        public init() {}
    }

    static let name = "org.freedesktop.login1"
    static let session = "org.freedesktop.login1.Session"

    /// Of the logind that is there now, by its unique name: a question never reaches one that comes after it.
    func manager(_ member: String) -> BusMethod {
        BusMethod(owner, "/org/freedesktop/login1", "org.freedesktop.login1.Manager", member)
    }

    public var onEvent: (LoginMessage) -> Void
    let limits: Limits
    var bus: Bus?
    /// logind's unique name on the bus; "" when it has none.
    var owner = ""
    var isAvailable = false
    var inhibitDelayMax: Int64?
    /// systemd 257 and later.
    var knowsWeakLocks = false
    var edges: DelayedEdges?
    /// One of each kind.
    var locks: [Lock] = []
    var sessions: Sessions?
    private var isStarted = false
    private var isUnavailabilityTold = false
    private var matches: [BusSlot] = []
    private var reading: BusSlot?
    private var preparing: BusSlot?
    var suspending: BusSlot?
    var poweringOff: BusSlot?
    var readingLocks: BusSlot?
    private var isPreparingAsked = false
    private var answerLimit: Delay?
    /// What logind or the bus has refused is asked for again: it stays where it is, and nothing else would say so.
    private var retry: Delay?
    private var preparingLimit: Delay?
    /// Events that answer a call of ours, to be told from the loop.
    private var waiting: [LoginMessage] = []
    private var delivery: Delay?

    /// event: an sd_event. address: nil for the system bus (DBUS_SYSTEM_BUS_ADDRESS).
    public init(
        event: OpaquePointer, priority: Int32, address: String? = nil, limits: Limits = Limits(),
        onEvent: @escaping (LoginMessage) -> Void = { _ in }
    ) throws(SystemError) {
        self.onEvent = onEvent
        self.limits = limits
        bus = try Bus(event: event, priority: priority, address: address, connectLimit: limits.connect) {
            [unowned(unsafe) self] in
            busChanged($0)
        }
        answerLimit = try Delay(event: event, priority: priority) { [unowned(unsafe) self] in
            tellUnavailable("logind does not answer")
        }
        retry = try Delay(event: event, priority: priority) { [unowned(unsafe) self] in
            if owner.isEmpty { look() } else { readProperties() }
        }
        preparingLimit = try Delay(event: event, priority: priority) { [unowned(unsafe) self] in
            tellPreparing(nil)
        }
        delivery = try Delay(event: event, priority: priority) { [unowned(unsafe) self] in drain() }
        edges = try DelayedEdges(event: event, priority: priority, client: self)
        for kind in Inhibitor.allCases {
            locks.append(try Lock(kind, event: event, priority: priority, client: self))
        }
        sessions = try Sessions(event: event, priority: priority, client: self)
    }

    deinit { stop() }

    /// Connects, now and whenever the bus comes back.
    public func start() {
        isStarted = true
        bus?.open()
    }

    /// Closes the locks and the connection.
    public func stop() {
        isStarted = false
        forget()
        matches = []
        isPreparingAsked = false
        waiting = []
        isUnavailabilityTold = false
        delivery?.stop()
        bus?.close()
    }

    // MARK: Events

    /// Tells it now, after what still waits.
    func tell(_ event: LoginMessage) {
        guard isStarted else { return }
        waiting.append(event)
        drain()
    }

    /// Tells it from the loop.
    func tellLater(_ event: LoginMessage) {
        guard isStarted else { return }
        waiting.append(event)
        delivery?.start(nanoseconds: 0)
    }

    func dropWaiting(_ isDropped: (LoginMessage) -> Bool) { waiting.removeAll(where: isDropped) }

    private func drain() {
        while !waiting.isEmpty { onEvent(waiting.removeFirst()) }
    }

    private func tellUnavailable(_ reason: String) {
        guard !isUnavailabilityTold else { return }
        isUnavailabilityTold = true
        tell(.unavailable(reason: reason))
    }

    // MARK: The bus and logind come and go

    private func busChanged(_ event: Bus.Event) {
        switch event {
        case .connected: look()
        case .lost(let reason):
            matches = []
            lose(reason)
        }
    }

    private func look() {
        guard let bus else { return }
        do throws(SystemError) {
            matches = [
                try bus.watchName(Self.name) { [unowned(unsafe) self] in ownerChanged($0) },
                try bus.match(BusMatch(sender: Self.name)) { [unowned(unsafe) self] in didReceiveSignal($0) },
            ]
            answerLimit?.start(nanoseconds: limits.answer)
        } catch {
            matches = []
            wasRefused(error.text)
        }
    }

    private func wasRefused(_ reason: String) {
        answerLimit?.stop()
        retry?.start(nanoseconds: limits.answer)
        tellUnavailable(reason)
    }

    private func ownerChanged(_ newOwner: String) {
        if !newOwner.isEmpty, newOwner == owner { return }
        if !owner.isEmpty { lose("logind has left the bus") }
        guard isStarted else { return }
        owner = newOwner
        if newOwner.isEmpty {
            answerLimit?.stop()
            tellUnavailable("logind is not on the bus")
        } else {
            readProperties()
        }
    }

    private func readProperties() {
        guard let bus else { return }
        let manager = manager("")
        let getAll = BusMethod(owner, manager.path, "org.freedesktop.DBus.Properties", "GetAll")
        answerLimit?.start(nanoseconds: limits.answer)
        do throws(SystemError) {
            reading = try bus.call(getAll, [manager.interface]) { [unowned(unsafe) self] reply in
                answerLimit?.stop()
                switch reply {
                case .success(let message): appear(message)
                case .failure(let error): wasRefused("logind: \(error.text)")
                }
            }
        } catch {
            wasRefused(error.text)
        }
    }

    private func appear(_ message: Message) {
        var isPreparingForSleep = false
        var isPreparingForShutdown = false
        var delay: Int64?
        var knowsWeak = false
        let isWhole = message.readProperties { name, value in
            switch name {
            case "InhibitDelayMaxUSec": delay = value.readUInt64Variant().map(Self.nanoseconds)
            case "PreparingForSleep": isPreparingForSleep = value.readBoolVariant() ?? false
            case "BlockWeakInhibited":
                knowsWeak = true
                return false
            case "PreparingForShutdown": isPreparingForShutdown = value.readBoolVariant() ?? false
            default: return sessions?.read(name, value) ?? false
            }
            return true
        }
        guard isWhole else { return wasRefused("logind: its properties cannot be read") }
        knowsWeakLocks = knowsWeak
        inhibitDelayMax = delay
        isAvailable = true
        isUnavailabilityTold = false
        tell(
            .available(
                inhibitDelayMax: delay, preparingForSleep: isPreparingForSleep,
                preparingForShutdown: isPreparingForShutdown))
        // The one who was told may have stopped us.
        if isAvailable { sessions?.start() }
    }

    /// What was going on has come to nothing: first what was held back is told, then what is lost, then that it is
    /// gone.
    private func lose(_ reason: String) {
        edges?.letGo()
        if isPreparingAsked { tellPreparing(nil) }
        if readingLocks != nil { tell(.foreignLocks(nil)) }
        let lost = locks.filter { $0.isHeld }
        if poweringOff != nil { tell(.powerOffRefused(reason: reason)) }
        forget()
        for lock in lost { tell(.lockLost(lock.kind)) }
        tellUnavailable(reason)
    }

    private func forget() {
        isAvailable = false
        owner = ""
        reading = nil
        preparing = nil
        suspending = nil
        poweringOff = nil
        readingLocks = nil
        isPreparingAsked = false
        answerLimit?.stop()
        retry?.stop()
        preparingLimit?.stop()
        edges?.drop()
        sessions?.drop()
        for lock in locks { lock.release() }
    }

    private func didReceiveSignal(_ message: Message) {
        // Any client of the bus may send a signal straight to us.
        guard !owner.isEmpty, message.sender == owner else { return }
        let member = message.member
        switch member {
        case "PrepareForSleep": prepare(for: .sleep, message)
        case "PrepareForShutdown": prepare(for: .shutdown, message)
        default: sessions?.hear(member, message)
        }
    }

    private func prepare(for operation: DelayedEdges.Operation, _ message: Message) {
        // What came before the properties were read is in them.
        guard isAvailable, let isStart = message.readBool() else { return }
        edges?.receive(operation, isStart: isStart, at: Clocks.monotonic)
    }

    // MARK: PreparingForSleep

    /// Reads the property PreparingForSleep; answered by an event of that name.
    public func readPreparingForSleep() {
        guard !isPreparingAsked else { return }
        guard isAvailable, let bus else { return tellLater(.preparingForSleep(nil)) }
        do throws(SystemError) {
            preparing = try bus.property("PreparingForSleep", of: manager("")) { [unowned(unsafe) self] reply in
                switch reply {
                case .success(let message): tellPreparing(message.readBoolVariant())
                case .failure: tellPreparing(nil)
                }
            }
            isPreparingAsked = true
            preparingLimit?.start(nanoseconds: limits.preparingForSleep)
        } catch {
            tellLater(.preparingForSleep(nil))
        }
    }

    private func tellPreparing(_ value: Bool?) {
        preparing = nil
        isPreparingAsked = false
        preparingLimit?.stop()
        tell(.preparingForSleep(value))
    }

    static func nanoseconds(ofMicroseconds value: UInt64) -> Int64 {
        value >= UInt64(Int64.max / 1000) ? Int64.max : Int64(value) * 1000
    }
}
