/// The lifecycle of a board and its apps: hears events, decides, and returns what is to be done.
///
/// A value without clock or I/O. Internally it reconciles: an event changes what is wanted or known, marks the apps it
/// concerns as touched, and `settle` takes each of them one step towards its goal until nothing is left to do. Doubled,
/// lost or late events therefore converge: they change what is wanted, never what has been done.
public struct DeviceLifecycle: Equatable, Sendable {
    var policy = DevicePolicy()
    /// The index is the AppID.
    var apps = AppTable()
    var indexOfName: [String: Int] = [:]
    var indexOfInstance: [InstanceID: Int] = [:]
    var canFreeze = true
    public internal(set) var isStarted = false

    var sleep = Sleep()
    var shutdown = Shutdown()
    var login = Login()
    var requests = PendingRequests()
    var conditions = Conditions()
    var memory = Memory()
    var watchdog = HardwareWatchdog()
    var serviceWatchdog = ServiceWatchdog()

    /// Of all that was taken over.
    var adoptedFreezeRecord = OverdueSleeps()
    var adoptedLate = LateSleeps()
    var adoptedHeldUpSleep: Int?

    var lastInstance: Int64 = 0
    var lastCall: Int64 = 0
    var lastTask: Int64 = 0

    /// The instant of the event at hand, or of the last one.
    var now = Instant(monotonic: .zero, boottime: .zero)
    /// When the shell was asked to come back, and what for; nil before the first event.
    var wakeUp: Deadline?
    /// MONOTONIC: until then the apps' words from before a stall are read.
    var reprieveEnd = Nanoseconds.zero
    var poolRefills = PoolRefills()

    // Within one event.
    var effects: [Effect] = []
    var touched: [Int] = []
    var changed: [Int] = []
    /// As last announced.
    var deviceView = DeviceView(sleepState: .awake, sleep: 0, isShuttingDown: false, inhibitDelayMax: nil)
    // What follows from the apps, by index: each one's next deadline.
    var deadlineOfApp: [Deadline] = []
    /// How soon each is to be looked at though nothing is due.
    var checkOfApp: [Nanoseconds] = []
    var runningCalls = 0
    /// By `archivedChanges`.
    var written = Aside(Written())
    var keepAwakeCount = 0

    public init() {}

    /// Takes one event and returns what is to be done, in order.
    ///
    /// The order, and why it is this one, is said in `Reconciling.swift`.
    public mutating func handle(_ event: Event, at instant: Instant) -> [Effect] {
        advanceClocks(to: instant, event.isEndOfLoginSleep)
        judgePools()
        apply(event)
        judge()
        settleBoard()
        settle()
        answerRequests()
        checkInvariants()
        announceChanges()
        wakeUp = earliestDeadline
        let result = effects
        effects = []
        return result
    }

    /// The app of that name; nil when it is not configured.
    public func id(of name: String) -> AppID? {
        guard let index = indexOfName[name], !apps[index].isRetired else { return nil }
        return AppID(rawValue: index)
    }

    /// nil for an app that is not configured.
    public func view(of app: AppID) -> AppView? {
        guard apps.indices.contains(app.rawValue), !apps[app.rawValue].isRetired else { return nil }
        return apps[app.rawValue].view
    }

    /// As long as it is there: its app may be configured no more, while it comes to its end.
    public func view(of instance: InstanceID, ofApp app: AppID) -> AppView? {
        guard apps.indices.contains(app.rawValue), apps[app.rawValue].instance?.id == instance else { return nil }
        return apps[app.rawValue].view
    }

    /// All configured apps, in the order of their configuration.
    public var appIDs: [AppID] {
        apps.indices.filter { !apps[$0].isRetired }.map { AppID(rawValue: $0) }
    }

    public var device: DeviceView {
        DeviceView(
            sleepState: sleep.state, sleep: sleep.id, isShuttingDown: shutdown.isRunning,
            inhibitDelayMax: login.isAvailable ? login.delayMax : nil, externalPower: conditions.isExternal,
            batteryLevel: conditions.batteryLevel, isLowPower: conditions.isLowPower,
            thermalState: conditions.thermalState, memoryPressure: memory.pressure,
            isUnderVoltage: conditions.isVoltageLow, phaseLimit: conditions.phaseLimit, frontDenial: frontDenial)
    }

    // MARK: Within one event

    @inline(never)
    mutating func emit(_ effect: Effect) { effects.append(effect) }

    @inline(never)
    mutating func touch(_ index: Int) {
        guard !apps[index].isTouched else { return }
        apps[index].isTouched = true
        touched.append(index)
    }

    // To read a part of an app that lies in an array is to copy the app: each of these does so in one place.

    /// The present instance of an app.
    @inline(never)
    func instanceID(_ index: Int) -> InstanceID? { apps[index].instance?.id }

    /// What the instance's clock says.
    @inline(never)
    func reading(_ index: Int) -> Nanoseconds? { apps[index].instance?.clock.reading(at: now.monotonic) }

    /// How long before the end of its pool an app's expiration handlers are called.
    @inline(never)
    func lead(_ index: Int) -> Nanoseconds { apps[index].lead }

    /// The apps whose order depends on this one.
    mutating func touchNeighbours(_ index: Int) {
        for client in apps[index].clients { touch(client) }
        for server in apps[index].servers { touch(server) }
    }

    mutating func touchAll() {
        for index in apps.indices { touch(index) }
    }

    /// The app whose present instance this is; nil for news of one that is over.
    func index(of instance: InstanceID) -> Int? { indexOfInstance[instance] }

    private mutating func apply(_ event: Event) {
        switch event {
        case .configured(let apps, let device): configure(apps, device)
        case .started: launchAtBoot()
        case .freezing(let available): setFreezing(available)
        case .timePassed: break
        case .stopRequested: stopDaemonWhenEnded()
        // Each is in its organ's …Alphabet.swift.
        case .process(let event): hear(event)
        case .app(let event): hear(event)
        case .login(let event): hear(event)
        case .sleep(let event): hear(event)
        case .board(let event): hear(event)
        case .memory(let event): hear(event)
        case .watchdog(let event): hear(event)
        case .client(let event): hear(event)
        }
    }

    private mutating func announceChanges() {
        for index in changed {
            apps[index].isChanged = false
            let view = apps[index].isRetired ? nil : apps[index].view
            if view != apps[index].announced {
                apps[index].announced = view
                emit(.client(.appChanged(AppID(rawValue: index))))
            }
        }
        changed.removeAll(keepingCapacity: true)
        if deviceView != device {
            deviceView = device
            emit(.client(.deviceChanged))
        }
    }
}
