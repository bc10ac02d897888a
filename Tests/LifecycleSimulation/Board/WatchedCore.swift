internal import Lifecycle

/// The core of a simulated board, and what can be seen of it. What a checker asks for is read once in a step: a core is
/// a large value, and reading a property of one that lies in a class copies all of it.
final class WatchedCore {
    private var core = DeviceLifecycle()
    private var seenDevice: DeviceView?
    private var seenApps: [AppView??] = []
    private(set) var nextDeadline: Deadline?

    /// The state as it was written whole, and what each step since has changed; nil: it is not written step by step.
    private var written: (whole: [UInt8], changes: [[UInt8]])?

    /// nil: it is not recorded.
    private let recording: SimulationRecording?
    /// What is heard next is heard by another core than what was heard last.
    private var isRecordingBegun = false

    init(_ recording: SimulationRecording?) { self.recording = recording }

    /// All of it, as a value. Expensive.
    var state: DeviceLifecycle {
        get { core }
        set {
            core = newValue
            written = nil
            isRecordingBegun = false
            forget()
        }
    }

    func handle(_ event: Event, at instant: Instant) -> [Effect] {
        if let recording, !isRecordingBegun {
            recording.begin(with: core, at: instant)
            isRecordingBegun = true
        }
        let effects = core.handle(event, at: instant)
        recording?.add(event, at: instant, effects)
        if written != nil { written?.changes.append(core.archivedChanges()) }
        forget()
        return effects
    }

    /// From here on it is written step by step.
    func beginWriting() {
        _ = core.archivedChanges()
        written = (core.archived(), [])
    }

    /// What the next loop would read.
    func readBack() -> DeviceLifecycle? {
        guard let written else { return DeviceLifecycle(archive: archived()) }
        return DeviceLifecycle(archive: written.whole, changes: written.changes)
    }

    private func forget() {
        seenDevice = nil
        for index in seenApps.indices { seenApps[index] = nil }
        nextDeadline = Self.nextDeadline(of: &core)
    }

    var device: DeviceView {
        if let seenDevice { return seenDevice }
        let device = Self.device(of: &core)
        seenDevice = device
        return device
    }

    var sleepAge: Int { Self.sleepAge(of: &core) }

    var appIDs: [AppID] { Self.appIDs(of: &core) }

    func id(of name: String) -> AppID? { Self.id(of: name, in: &core) }

    func view(of app: AppID) -> AppView? {
        let index = app.rawValue
        guard index >= 0, index < 1000 else { return Self.view(of: app, in: &core) }
        while seenApps.count <= index { seenApps.append(nil) }
        if let seen = seenApps[index] { return seen }
        let view = Self.view(of: app, in: &core)
        seenApps[index] = .some(view)
        return view
    }

    func archived() -> [UInt8] { Self.archived(&core) }

    // A core that is passed inout is read where it lies.
    private static func nextDeadline(of core: inout DeviceLifecycle) -> Deadline? { core.nextDeadline }
    private static func device(of core: inout DeviceLifecycle) -> DeviceView { core.device }
    private static func sleepAge(of core: inout DeviceLifecycle) -> Int { core.sleepAge }
    private static func appIDs(of core: inout DeviceLifecycle) -> [AppID] { core.appIDs }
    private static func id(of name: String, in core: inout DeviceLifecycle) -> AppID? { core.id(of: name) }
    private static func view(of app: AppID, in core: inout DeviceLifecycle) -> AppView? { core.view(of: app) }
    private static func archived(_ core: inout DeviceLifecycle) -> [UInt8] { core.archived() }
}
