internal import Configuration
internal import DeviceMonitor
internal import EventLoop
internal import Lifecycle

/// The alarm of too little voltage that the board's profile names.
final class WatchedVoltage {
    private unowned(unsafe) let supervisor: Supervisor
    private var alarm: HardwareProfile.Alarm?
    private var sensor: UnderVoltage?
    private var source: IOSource?
    /// It is there, and could not be read.
    private var isSilent = false

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    /// It has to be looked at now and then.
    var mustBePolled: Bool { sensor.map { isSilent || !$0.isAnnounced } ?? false }

    /// Another profile or configuration.
    func change(_ next: HardwareProfile.Alarm?) {
        let wasOther = alarm != nil && alarm != next
        alarm = next
        source = nil
        sensor = nil
        // What the sensor said that the configuration named before counts no more.
        if wasOther { supervisor.dispatch(.board(.underVoltage(false))) }
        read()
    }

    /// One that cannot be read is opened anew: its driver may have been loaded anew. A chip that is gone comes back
    /// with an event.
    func read() {
        guard alarm != nil else { return }
        let hasNews = sensor.map { $0.read() } ?? nil
        let isLow = hasNews ?? readAnew()
        isSilent = isLow == nil
        if isSilent { source = nil } else if source == nil { watch() }
        supervisor.dispatch(.board(.underVoltage(isLow)))
    }

    private func readAnew() -> Bool? {
        source = nil
        sensor = alarm.flatMap { try? UnderVoltage(chip: $0.chip, attribute: $0.attribute) }
        return sensor?.read()
    }

    private func watch() {
        guard let sensor else { return }
        source = try? supervisor.loop.watch(sensor.descriptor, .priority) { [unowned(unsafe) self] _ in read() }
    }
}
