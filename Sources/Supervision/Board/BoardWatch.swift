internal import Configuration
internal import DeviceMonitor
internal import EventLoop
internal import Journal
internal import Lifecycle
internal import MessageBus
internal import SystemCalls

/// Hears the board: udev's and the kernel's events say that something is new, sysfs says what. Nothing is looked at
/// without an event but what the kernel does not announce, and that now and then (`polled`).
final class BoardWatch {
    private static let heatInterval = Nanoseconds.seconds(10)
    private static let batteryInterval = Nanoseconds.seconds(60)
    /// In a storm of events sysfs is read no more often, in nanoseconds.
    private static let pace: Int64 = 20_000_000

    private unowned(unsafe) let supervisor: Supervisor
    private var settings: BoardSettings
    private var monitor: DeviceMonitor?
    private var thermalEvents: ThermalEvents?
    private var supplies = PowerSupplies()
    private var zones: [WatchedZone] = []
    private let voltage: WatchedVoltage
    private var links: NetworkLinks?
    private var linkSource: IOSource?
    private let switches = InputSwitches()
    private var sources: [IOSource] = []
    private var switchSources: [Int32: IOSource] = [:]
    /// logind's word, where the board itself has none.
    private var login = LoginConditions()
    private var polledZones: [String] = []
    private var polledBattery = false
    /// Heard, and not looked at yet.
    private var waiting: DeviceChanges = []
    private var lastLook: Int64 = 0
    private var later: TimerSource?

    /// What has to be looked at now and then, and why, for people.
    var polled: [String] {
        polledZones + (voltage.mustBePolled ? ["under-voltage"] : []) + (polledBattery ? ["battery level"] : [])
    }

    init(_ supervisor: Supervisor, _ settings: BoardSettings) {
        self.supervisor = supervisor
        self.settings = settings
        voltage = WatchedVoltage(supervisor)
        do throws(SystemError) {
            let monitor = try DeviceMonitor()
            self.monitor = monitor
            sources.append(
                try supervisor.loop.watch(monitor.descriptor, .readable) { [unowned(unsafe) self] _ in
                    hear(monitor.receive())
                })
        } catch {
            supervisor.log.daemon(.notice, "no device events: " + error.text)
        }
        // Boards without it are looked at.
        if let events = try? ThermalEvents(),
            let source = try? supervisor.loop.watch(
                events.descriptor, .readable, handler: { [unowned(unsafe) self] _ in hear(events.receive()) })
        {
            thermalEvents = events
            sources.append(source)
        }
        later = try? supervisor.loop.timer(priority: EventLoop.Priority.normal) { [unowned(unsafe) self] in look() }
        watchSwitches(switches.descriptors)
        change(settings)
        supervisor.dispatch(.board(.lid(closed: isLidClosed)))
    }

    /// Another profile or configuration.
    func change(_ settings: BoardSettings) {
        self.settings = settings
        supplies.external = settings.board.power.external
        supplies.batteries = settings.board.power.batteries
        let watched = zones.filter { $0.hasLimits }.map { $0.zone.number }
        findZones()
        let unwatched = watched.filter { number in !zones.contains { $0.zone.number == number && $0.hasLimits } }
        voltage.change(settings.board.power.underVoltage)
        findNetwork()
        readPower()
        readHeat(unwatched: unwatched)
        askForPolling()
    }

    /// Time to look at what the kernel does not announce.
    func poll() {
        if polledBattery { readPower() }
        if !polledZones.isEmpty { readHeat() }
        if voltage.mustBePolled { voltage.read() }
        askForPolling()
    }

    /// Whatever has happened in a sleep: not every driver says so as it resumes.
    func lookAgain() {
        readPower()
        readHeat()
        voltage.read()
        askForPolling()
        askLogin()
    }

    /// logind does not announce all that it knows of the board, so it is asked when there may be news.
    private func askLogin() { supervisor.login?.readConditions() }

    func loginSays(_ conditions: LoginConditions) {
        login = conditions
        supervisor.dispatch(.board(.lid(closed: isLidClosed)))
        readPower()
        askForPolling()
    }

    /// At once, or after a moment: what is read then holds for all that was heard.
    private func hear(_ changes: DeviceChanges) {
        if changes.isEmpty { return }
        let isWaiting = !waiting.isEmpty
        waiting.formUnion(changes)
        let now = Clocks.monotonic
        if now - lastLook >= Self.pace {
            look()
        } else if !isWaiting {
            later?.arm(at: lastLook + Self.pace)
        }
    }

    private func look() {
        let changes = waiting
        waiting = []
        lastLook = Clocks.monotonic
        if changes.contains(.power) {
            readPower()
            askLogin()
        }
        if changes.contains(.thermal) {
            findZones()
            readHeat()
        }
        if changes.contains(.hwmon) { voltage.read() }
        if changes.contains(.inputs) {
            watchSwitches(switches.rescan())
            supervisor.dispatch(.board(.lid(closed: isLidClosed)))
        }
        if changes.contains(.watchdog) { supervisor.watchdog?.tryAgain() }
        askForPolling()
    }

    // MARK: Power

    private func readPower() {
        let reading = supplies.read()
        polledBattery = reading.needsPolling
        let isExternal = reading.externalPower ?? (reading.supplies.isEmpty ? login.isOnExternalPower : nil)
        // Rounded down: a battery is not fuller than it is.
        supervisor.dispatch(
            .board(.power(PowerReading(isExternal: isExternal, level: reading.batteryLevel.map { $0 / 10 }))))
    }

    // MARK: Network

    /// Listened to only where it ends a logical sleep: some networks change all the time.
    private func findNetwork() {
        let sleep = settings.board.sleep
        guard sleep.isLogical, sleep.wakeSources.contains(.network) else {
            linkSource = nil
            links = nil
            return
        }
        guard links == nil, let found = try? NetworkLinks() else { return }
        links = found
        linkSource = try? supervisor.loop.watch(found.descriptor, .readable) { [unowned(unsafe) self] _ in
            if found.receive() { supervisor.dispatch(.board(.network(up: found.isUp))) }
        }
        supervisor.dispatch(.board(.network(up: found.isUp)))
    }

    // MARK: Heat

    private func findZones() {
        guard let found = try? ThermalZone.all(named: settings.board.thermal.map { $0.type }) else { return }
        zones = found.map { zone in
            WatchedZone(
                zone, settings.board.thermal.first { $0.type == zone.name || $0.type == zone.identifier },
                announced: thermalEvents != nil,
                wasHot: zones.contains { $0.zone.number == zone.number && $0.isHot })
        }
    }

    /// unwatched: the configuration speaks of them no more.
    private func readHeat(unwatched: [Int] = []) {
        var readings = unwatched.map {
            ThermalReading(zone: $0, temperature: nil, fair: nil, serious: nil, critical: nil)
        }
        polledZones = []
        for index in zones.indices {
            if let reading = zones[index].read() { readings.append(reading) }
            if let reason = zones[index].pollingReason {
                polledZones.append(zones[index].zone.name + " (" + reason + ")")
            }
        }
        supervisor.dispatch(.board(.temperatures(readings)))
    }

    private func askForPolling() {
        let isOften = !polledZones.isEmpty || voltage.mustBePolled
        let interval = isOften ? Self.heatInterval : polledBattery ? Self.batteryInterval : nil
        supervisor.dispatch(.board(.polling(interval: interval)))
    }

    // MARK: The lid and the keys

    private func watchSwitches(_ descriptors: [Int32]) {
        for descriptor in descriptors {
            switchSources[descriptor] = try? supervisor.loop.watch(descriptor, .readable) {
                [unowned(unsafe) self] _ in hearSwitch(descriptor)
            }
        }
    }

    private func hearSwitch(_ descriptor: Int32) {
        let before = isLidClosed
        if let changes = switches.receive(descriptor) {
            for change in changes where change.pressed { supervisor.dispatch(.board(.keyPressed(change.key.boards))) }
        } else {
            switchSources[descriptor] = nil
            switches.remove(descriptor)
            watchSwitches(switches.rescan())
        }
        if isLidClosed != before { supervisor.dispatch(.board(.lid(closed: isLidClosed))) }
    }

    /// A switch that is gone keeps no lid closed.
    private var isLidClosed: Bool { switches.lidClosed ?? login.isLidClosed ?? false }
}

extension InputSwitches.Key {
    fileprivate var boards: HardwareKey {
        switch self {
        case .power: .power
        case .sleep: .sleep
        case .wakeUp: .wakeUp
        }
    }
}
