internal import CLinux
internal import Lifecycle
internal import SystemCalls

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
        /// nil: this version dies of deciding it.
        var effects: [Effect]?
        /// nil: what was decided is not recorded, as the recording ends, or the loop of then did.
        var isSame: Bool?
    }

    enum Part {
        case beginning(Beginning)
        case step(Step)
        /// What a version has written whose words, or whose state, this one does not know: up to the next beginning.
        case passedOver(version: String)
    }

    private(set) var core = DeviceLifecycle()
    private(set) var names = ReplayNames()
    /// Steps of which something else was recorded.
    private(set) var differing = 0
    private(set) var steps = 0
    /// The last version of which something was passed over.
    private(set) var passedOver: String?
    /// This version dies of a step.
    private(set) var isFatal = false
    private var hasBegun = false
    private let tries: (() -> Void) -> Bool
    /// Heard, and not decided again yet: what is recorded after it says more.
    private var pending: (number: Int, instant: Instant, event: Event)?

    init(tries: @escaping (() -> Void) -> Bool = Replay.survives) { self.tries = tries }

    /// Takes the records in order, and hands on each part when all of it is known.
    mutating func hear(_ record: FlightRecord, _ part: (Replay, Part) -> Void) {
        switch record {
        case .begin(let version, let boot, let realtime, let instant, let state):
            finish(isCutShort: true, part)
            guard let read = state.isEmpty ? DeviceLifecycle() : DeviceLifecycle(archive: state) else {
                return passOver(version, part)
            }
            core = read
            hasBegun = true
            names.begin(with: core)
            part(self, .beginning(Beginning(version: version, boot: boot, realtime: realtime, instant: instant)))
        case .heard(let instant, let event):
            finish(isCutShort: false, part)
            guard hasBegun else { return }
            steps += 1
            pending = (steps, instant, event)
        case .decided(let bytes):
            guard let (number, instant, event) = pending else { return }
            pending = nil
            let effects = decide(event, at: instant)
            let isSame = FlightRecord.bytes(of: effects) == bytes
            tell(Step(number: number, instant: instant, event: event, effects: effects, isSame: isSame), part)
        }
    }

    /// The rest up to the next beginning is another version's.
    mutating func passOver(_ version: String, _ part: (Replay, Part) -> Void) {
        finish(isCutShort: true, part)
        hasBegun = false
        passedOver = version
        part(self, .passedOver(version: version))
    }

    /// To be called at the end of all records. isCutShort: more may have been decided than was recorded.
    mutating func finish(isCutShort: Bool, _ part: (Replay, Part) -> Void) {
        guard let (number, instant, event) = pending else { return }
        pending = nil
        var step = Step(number: number, instant: instant, event: event, effects: nil, isSame: nil)
        // A recording may be cut short because its loop died of this very event, and this process would, too.
        var tried = core
        if !isCutShort || tries({ _ = tried.handle(event, at: instant) }) {
            let effects = decide(event, at: instant)
            step.effects = effects
            // That nothing was decided is not recorded.
            step.isSame = effects.isEmpty ? true : isCutShort ? nil : false
        } else {
            (hasBegun, isFatal) = (false, true)
        }
        tell(step, part)
    }

    private mutating func decide(_ event: Event, at instant: Instant) -> [Effect] {
        let effects = core.handle(event, at: instant)
        names.hear(effects, core)
        return effects
    }

    /// Whether a process lives on after that: a child of this one tries it.
    static func survives(_ body: () -> Void) -> Bool {
        let child = linux_fork()
        if child == 0 {
            body()
            _exit(0)
        }
        var status: Int32 = 0
        // Where none can be had, there is nothing to lose but the rest of the replay.
        while child > 0, waitpid(child, &status, 0) < 0, Errno.current == .interrupted {}
        return status == 0
    }

    private mutating func tell(_ step: Step, _ part: (Replay, Part) -> Void) {
        if step.isSame == false { differing += 1 }
        part(self, .step(step))
    }
}

/// What apps and their instances are called.
struct ReplayNames {
    private var apps: [Int: String] = [:]
    private var appOfInstance: [Int64: Int] = [:]
    /// Of all beginnings.
    private var known: Set<String> = []

    mutating func begin(with core: DeviceLifecycle) {
        (apps, appOfInstance) = ([:], [:])
        for app in core.appIDs {
            guard let view = core.view(of: app) else { continue }
            apps[app.rawValue] = view.name
            known.insert(view.name)
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
        guard let name = core.view(of: app)?.name else { return }
        apps[app.rawValue] = name
        known.insert(name)
    }

    func hasKnown(_ app: String) -> Bool { known.contains(app) }

    func name(of app: AppID) -> String { apps[app.rawValue] ?? "app \(app.rawValue)" }

    func app(of instance: InstanceID) -> AppID? { appOfInstance[instance.rawValue].map { AppID(rawValue: $0) } }

    func name(of instance: InstanceID) -> String {
        app(of: instance).map { "\(name(of: $0)).\(instance.rawValue)" } ?? "instance \(instance.rawValue)"
    }
}
