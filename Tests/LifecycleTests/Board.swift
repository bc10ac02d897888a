import Lifecycle
import Testing

/// Drives a core by hand: a clock that only moves when told to, and the whole list of effects of every event.
struct Board {
    var core = DeviceLifecycle()
    var monotonic = Nanoseconds.seconds(100)
    var slept = Nanoseconds.zero
    /// The last instance of each app, and the call of each instance that has not returned.
    var instances: [String: InstanceID] = [:]
    var names: [InstanceID: String] = [:]
    var calls: [InstanceID: CallID] = [:]
    /// The last task of each name.
    var tasks: [String: BackgroundTaskID] = [:]

    var now: Instant { Instant(monotonic: monotonic, boottime: monotonic + slept) }

    /// A board whose apps are configured and nothing is launched yet.
    init(_ apps: [AppPolicy], device: DevicePolicy = DevicePolicy()) {
        _ = core.handle(.configured(apps, device), at: now)
    }

    /// The effects of one event, without the announcements of what changed and the notices.
    mutating func handle(_ event: Event) -> [Effect] {
        handleAll(event).filter {
            switch $0 {
            case .client(.appChanged), .client(.deviceChanged), .note: false
            default: true
            }
        }
    }

    mutating func handleAll(_ event: Event) -> [Effect] {
        if case .app(.handlerReturned(let instance, let call)) = event, calls[instance] == call {
            calls[instance] = nil
        }
        let effects = core.handle(event, at: now)
        for case .note(.fault(let fault, _)) in effects { Issue.record("the core finds itself broken: \(fault)") }
        remember(effects)
        return effects
    }

    /// Lets time pass and wakes the core, in steps no longer than it asked for.
    mutating func wait(_ time: Nanoseconds) -> [Effect] {
        let end = monotonic + time
        var effects: [Effect] = []
        var turns = 0
        while let deadline = core.nextDeadline, deadline.at <= end {
            turns += 1
            guard turns <= 1_000_000 else {
                Issue.record("the core wants to be woken without end: \(deadline.reason)")
                break
            }
            monotonic = max(monotonic, deadline.at)
            effects += handle(.timePassed)
        }
        monotonic = end
        return effects
    }

    /// logind appears, grants both locks, and is awake.
    mutating func login(delayMax: Nanoseconds = .seconds(5)) {
        _ = handle(.login(.available(delayMax: delayMax, preparingForSleep: false, preparingForShutdown: false)))
        _ = handle(.login(.lockTaken(.sleep)))
        _ = handle(.login(.lockTaken(.shutdown)))
        _ = handle(.login(.preparingForSleep(false)))
    }

    mutating func prepareForSleep(_ start: Bool, delayMax: Nanoseconds = .seconds(5)) -> [Effect] {
        handle(.login(.prepareForSleep(start, delayMax: delayMax, signalled: monotonic)))
    }

    /// Spawns what is asked to be spawned and answers every call at once, until nothing more comes.
    mutating func obey(_ effects: [Effect]) -> [Effect] {
        var open = effects
        var all = effects
        while !open.isEmpty {
            var more: [Effect] = []
            for effect in open {
                switch effect {
                case .process(.spawn(_, let instance, _, _)): more += handle(.process(.spawned(instance)))
                case .app(.call(let instance, let call, _, _)): more += handle(.app(.handlerReturned(instance, call)))
                case .process(.freeze(let instance)): more += handle(.process(.frozen(instance)))
                case .process(.kill(let instance)): more += handle(.process(.exited(instance, .signalled(9))))
                case .process(.clear(let instance)): more += handle(.process(.groupEmptied(instance)))
                default: break
                }
            }
            all += more
            open = more
        }
        return all
    }

    /// Everything is launched and in its phase.
    mutating func start() { _ = obey(handle(.started)) }

    func view(_ name: String) throws -> AppView {
        let id = try id(name)
        return try #require(core.view(of: id))
    }
    func instance(_ name: String) throws -> InstanceID { try #require(try view(name).instance) }
    func id(_ name: String) throws -> AppID { try #require(core.id(of: name)) }
}

/// An app with a delegate that implements everything, launched at boot.
func app(_ name: String, _ change: (inout AppPolicy) -> Void = { _ in }) -> AppPolicy {
    var policy = AppPolicy(name: name)
    policy.launch = .boot
    policy.handlers = .all
    change(&policy)
    return policy
}
