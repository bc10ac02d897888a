internal import Lifecycle

/// What one app is like, good days and bad. Fixed for a seed, so that a bad app is bad again after a restart.
struct Temper {
    /// Handlers in which it may hang, crash or exit with 0.
    var hangs: HandlerSet = []
    var crashes: HandlerSet = []
    var exits: HandlerSet = []
    /// Takes a good part of the time it is given.
    var isSlow = false
    /// Leaves grandchildren behind.
    var forks = false
    var ignoresTermination = false
    /// Replies twice, too late, to calls of others and to calls that never were.
    var lies = false
    var ceasesPinging = false
    var neverReady = false
    /// Says STOPPING=1, and may go on all the same.
    var stops = false
    /// EXTEND_TIMEOUT_USEC, again and again.
    var extends = false

    static let blameless = Temper()

    init() {}

    /// Of a command that knows nothing of all this.
    init(ofCommand plan: FaultPlan, _ random: inout SeededGenerator) {
        forks = plan.strikes(.appForks, &random)
        ignoresTermination = plan.strikes(.appIgnoresTermination, &random)
    }

    init(_ plan: FaultPlan, _ random: inout SeededGenerator) {
        func some(_ fault: Fault) -> HandlerSet {
            guard plan.strikes(fault, &random) else { return [] }
            return random.chance(perMille: 200)
                ? .all
                : HandlerSet([HandlerSet(random.pick(Handler.allCases)), HandlerSet(random.pick(Handler.allCases))])
        }
        hangs = some(.appHangs)
        crashes = some(.appCrashes)
        exits = some(.appExits)
        isSlow = plan.has(.appSlow) && random.chance(perMille: 500)
        forks = plan.strikes(.appForks, &random)
        ignoresTermination = plan.strikes(.appIgnoresTermination, &random)
        lies = plan.strikes(.appLies, &random)
        ceasesPinging = plan.strikes(.appCeasesPinging, &random)
        neverReady = plan.strikes(.appNeverReady, &random)
        stops = plan.strikes(.appStops, &random)
        extends = plan.strikes(.appExtends, &random)
    }
}

/// What an app does by itself; each needs processor time, and none happens while it is frozen.
enum AppDeed {
    case returns(CallID)
    case says(Event)
    case exits(ExitStatus)
    case beginsTask
    /// What it was to do, it does no more.
    case ceased
}

/// What it does about a call or a signal, and after how long.
struct Reaction {
    var after: Nanoseconds
    var deed: AppDeed
}

extension Temper {
    func reactions(
        to call: HandlerCall, _ id: CallID, of instance: InstanceID, deadline: Nanoseconds, strangers: [InstanceID],
        _ random: inout SeededGenerator
    ) -> [Reaction] {
        let handler = call.handler
        var reactions: [Reaction] = []
        if lies { reactions += falsehoods(id, of: instance, deadline: deadline, strangers: strangers, &random) }
        if extends {
            for step in 0..<random.below(6) {
                let time = random.pick([Nanoseconds.zero, .seconds(1), .seconds(3), .seconds(1000), .max])
                reactions.append(
                    Reaction(
                        after: deadline / 8 + (deadline / 8).multiplied(by: step),
                        deed: .says(.app(.extendTimeout(instance, time)))))
            }
        }
        if hangs.contains(handler), random.chance(perMille: 600) { return reactions }
        let soon = random.magnitude(.microseconds(50), .milliseconds(20))
        if crashes.contains(handler), random.chance(perMille: 500) {
            return reactions + [Reaction(after: soon, deed: .exits(.signalled(random.pick([6, 7, 11]))))]
        }
        if exits.contains(handler), random.chance(perMille: 500) {
            return reactions + [Reaction(after: soon, deed: .exits(.exited(random.pick([0, 0, 1, 255]))))]
        }
        let isSlow = isSlow && random.chance(perMille: 500)
        let taken = isSlow ? random.span(deadline / 4, deadline - deadline / 20) : soon
        return reactions + [Reaction(after: taken, deed: .returns(id))]
    }

    private func falsehoods(
        _ id: CallID, of instance: InstanceID, deadline: Nanoseconds, strangers: [InstanceID],
        _ random: inout SeededGenerator
    ) -> [Reaction] {
        var lies: [Reaction] = []
        for _ in 0..<random.below(4) {
            let wrongID = CallID(rawValue: id.rawValue + Int64(random.below(7)) - 3)
            let other = strangers.isEmpty ? instance : random.pick(strangers)
            let lie: AppDeed =
                switch random.below(7) {
                case 0 where wrongID != id: .says(.app(.handlerReturned(instance, wrongID)))
                case 1 where other != instance: .says(.app(.handlerReturned(other, CallID(rawValue: .max))))
                case 2: .says(.app(.ready(instance)))
                case 3: .says(.app(.ping(instance)))
                case 4: .says(.app(.handlerReturned(instance, CallID(rawValue: -1))))
                default: .returns(id)
                }
            lies.append(Reaction(after: random.magnitude(.microseconds(100), deadline + deadline), deed: lie))
        }
        return lies
    }

    /// SIGTERM.
    func reactionToTermination(_ random: inout SeededGenerator) -> Reaction? {
        if ignoresTermination, random.chance(perMille: 700) { return nil }
        let after =
            isSlow
            ? random.magnitude(.milliseconds(100), .seconds(4))
            : random.magnitude(.microseconds(100), .milliseconds(30))
        return Reaction(after: after, deed: .exits(random.chance(perMille: 500) ? .signalled(15) : .exited(0)))
    }
}

extension Nanoseconds {
    func multiplied(by factor: Int) -> Nanoseconds { Nanoseconds(rawValue: rawValue * Int64(factor)) }
}
