internal import Lifecycle

/// A recording that runs through the core of this version: what came, what is decided, and whether that is what the
/// daemon of then decided.
struct Replay {
    /// What the core is from here on.
    struct Beginning {
        var version: String
        var boot: String
        var realtime: Nanoseconds
        var instant: Instant
    }

    struct Step {
        /// From 1, over all files.
        var number: Int
        var instant: Instant
        var event: Event
        var effects: [Effect]
        /// nil: what was decided is not recorded, as the recording ends, or the loop of then did.
        var isSame: Bool?
    }

    enum Part {
        case beginning(Beginning)
        case step(Step)
    }

    /// Why it cannot go on.
    struct Failure: Error {
        var text: String
    }

    private(set) var core = DeviceLifecycle()
    private(set) var names = ReplayNames()
    /// Steps of which something else was recorded.
    private(set) var differing = 0
    private(set) var steps = 0
    private var hasBegun = false
    /// It waits for what was decided.
    private var pending: Step?

    /// Takes the records in order, and hands on each part when all of it is known.
    mutating func hear(_ record: FlightRecord, _ part: (Replay, Part) throws(Failure) -> Void) throws(Failure) {
        switch record {
        case .begin(let version, let boot, let realtime, let instant, let state):
            try finish(isCutShort: true, part)
            if state.isEmpty {
                core = DeviceLifecycle()
            } else if let read = DeviceLifecycle(archive: state) {
                core = read
            } else {
                throw Failure(text: "its state is that of curfewd \(version), which this version cannot read")
            }
            hasBegun = true
            names.begin(with: core)
            try part(self, .beginning(Beginning(version: version, boot: boot, realtime: realtime, instant: instant)))
        case .heard(let instant, let event):
            try finish(isCutShort: false, part)
            guard hasBegun else { return }
            steps += 1
            let effects = core.handle(event, at: instant)
            names.hear(effects, core)
            pending = Step(number: steps, instant: instant, event: event, effects: effects)
        case .decided(let bytes):
            guard var step = pending else { return }
            pending = nil
            step.isSame = FlightRecord.bytes(of: step.effects) == bytes
            try tell(step, part)
        }
    }

    /// To be called at the end of all records. isCutShort: more may have been decided than was recorded.
    mutating func finish(isCutShort: Bool, _ part: (Replay, Part) throws(Failure) -> Void) throws(Failure) {
        guard var step = pending else { return }
        pending = nil
        // That nothing was decided is not recorded.
        step.isSame = step.effects.isEmpty ? true : isCutShort ? nil : false
        try tell(step, part)
    }

    private mutating func tell(_ step: Step, _ part: (Replay, Part) throws(Failure) -> Void) throws(Failure) {
        if step.isSame == false { differing += 1 }
        try part(self, .step(step))
    }
}

/// What apps and their instances are called.
struct ReplayNames {
    private var apps: [Int: String] = [:]
    private var appOfInstance: [Int64: Int] = [:]

    mutating func begin(with core: DeviceLifecycle) {
        apps = [:]
        for app in core.appIDs {
            guard let view = core.view(of: app) else { continue }
            apps[app.rawValue] = view.name
            if let instance = view.instance { appOfInstance[instance.rawValue] = app.rawValue }
        }
    }

    /// core: after that. One that is gone keeps its name.
    mutating func hear(_ effects: [Effect], _ core: DeviceLifecycle) {
        for effect in effects {
            switch effect {
            case .process(.spawn(let app, let instance, _, _)):
                appOfInstance[instance.rawValue] = app.rawValue
                learn(app, core)
            case .client(.appChanged(let app)): learn(app, core)
            default: break
            }
        }
    }

    private mutating func learn(_ app: AppID, _ core: DeviceLifecycle) {
        if let name = core.view(of: app)?.name { apps[app.rawValue] = name }
    }

    func name(of app: AppID) -> String { apps[app.rawValue] ?? "app \(app.rawValue)" }

    func app(of instance: InstanceID) -> AppID? { appOfInstance[instance.rawValue].map { AppID(rawValue: $0) } }

    func name(of instance: InstanceID) -> String {
        app(of: instance).map { "\(name(of: $0)).\(instance.rawValue)" } ?? "instance \(instance.rawValue)"
    }
}
