import Lifecycle

/// What a core has heard and decided, in the format of the daemon's recordings.
final class SimulationRecording {
    private(set) var bytes: [UInt8] = []
    private var writer = RecordWriter()

    /// core: what it is from here on.
    func begin(with core: DeviceLifecycle, at instant: Instant) {
        writer.reset()
        FlightRecord.writeBegin(
            version: "simulation", boot: "", realtime: instant.boottime, instant, core: core.archived(), to: &writer)
        append()
    }

    func add(_ event: Event, at instant: Instant, _ effects: [Effect]) {
        writer.reset()
        FlightRecord.write(event, at: instant, to: &writer)
        append()
        if effects.isEmpty { return }
        writer.reset()
        FlightRecord.write(effects, to: &writer)
        append()
    }

    private func append() { bytes += FlightRecord.framed(writer.bytes) ?? [] }
}
