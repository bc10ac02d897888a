internal import Lifecycle

/// One rule each; the numbers are those of "What must always hold" in the lifecycle's specification.
public enum CheckerName: Int, CaseIterable, Sendable {
    case lockReleased = 1
    case everybodyStill = 2
    case deadlineKept = 3
    case taskEnded = 4
    case handlerOrder = 5
    case phaseRestored = 6
    case frozenSilence = 7
    case convergence = 8
    case recordedOnce = 9
    case archive = 10
    case requestsAnswered = 11
    case quietInSleep = 12
    case restartsBounded = 13
    case oneInstance = 14
    case taskBudget = 15
    case keepAwake = 16
    case taskGrace = 17
    case informed = 18
    case darkWake = 19
    case noFlapping = 20
    case jetsam = 21
    case heat = 22
    case powerOff = 23
    case hardwareWatchdog = 24
    case oneInFront = 25
    case logicalSleep = 26
    case returns = 27
    case sleepHandled = 28
    case serviceWatchdog = 29
    case battery = 30
    case relief = 31
    case wishes = 32
    case rest = 33
    case presence = 34
    case oldSleep = 35
    case questions = 36
    case refills = 37
    case gains = 38
    case notices = 39
    case changes = 40
    case thawOrder = 41
    case sleepShare = 42
    case waves = 43
    case loginWord = 44
    case heldAsleep = 45
    case owned = 46
    case promptness = 47
    case launches = 48
    case spawns = 49
    case ends = 50
    case culprits = 51
    case answers = 52
    case limits = 53
    case views = 54
    case allowances = 55
    case expirations = 56
    case adoptions = 57
    case reloads = 58
    case sleepWishes = 59
    case denials = 60
    case invariants = 61
    case stuckAgain = 62
    case heldUp = 63
    case vainWaits = 64
    case heldLocks = 65
}

/// A rule that was broken.
public struct Violation: Sendable {
    public let checker: CheckerName
    public let message: String
    public let step: Int
}

/// Looks at events, and at effects before they are carried out, and keeps a model of its own.
///
/// A checker says what it wants to hear and see, and is called for nothing else; nil: for everything. `stepped` is
/// called after every step.
protocol Checker: AnyObject {
    static var hears: [EventKind]? { get }
    static var sees: [EffectKind]? { get }
    func heard(_ event: Event, _ scene: Scene)
    func did(_ effect: Effect, _ scene: Scene)
    /// All effects of the step have been seen.
    func stepped(_ step: Step, _ scene: Scene)
    /// Nothing is under way on the board.
    func rested(_ scene: Scene)
    /// The run is over.
    func finished(_ scene: Scene)
}

extension Checker {
    static var hears: [EventKind]? { nil }
    static var sees: [EffectKind]? { nil }
    func heard(_ event: Event, _ scene: Scene) {}
    func did(_ effect: Effect, _ scene: Scene) {}
    func stepped(_ step: Step, _ scene: Scene) {}
    func rested(_ scene: Scene) {}
    func finished(_ scene: Scene) {}
}

/// What a checker may look at beside the event or effect itself: the truth, and what was heard and done so far.
struct Scene {
    let step: Step
    let board: SimulatedBoard
    let chronicle: Chronicle
    let conditions: ConditionKnowledge
    let times: RunnableTimes
    let sleep: SleepKnowledge
    let freezing: FreezeTimes
    let slowFreezes: SlowFreezes
    let inspection: Inspection

    var now: Nanoseconds { step.at.monotonic }

    /// Its launch is over: didFinishLaunching has returned and READY=1 has come, where they are awaited.
    func isLaunched(_ record: InstanceRecord) -> Bool {
        record.isSpawned && record.call?.call.handler != .didFinishLaunching
            && board.process(record.instance)?.awaitsReady == false
    }

    /// It runs, and nothing has been done to end it.
    func isWell(_ record: InstanceRecord) -> Bool {
        record.isSpawned && record.isAlive && !record.isKillAsked && !record.isTerminateAsked && !record.isDoomed
            && record.call?.call.handler != .willTerminate
    }

    func name(_ instance: InstanceID) -> String { board.directory.name(instance) }
    func name(_ app: AppID) -> String { board.directory.name(app) }
}

/// Runs all checkers over a step. The first violation ends the run.
final class Inspection {
    private(set) var violation: Violation?
    private let checkers: [any Checker]
    /// By kind of event and of effect.
    private let listeners: [[any Checker]]
    private let watchers: [[any Checker]]
    private let only: Set<CheckerName>?
    private let tellsAll: Bool
    private let isRough: Bool
    private let chronicle = Chronicle()
    private let conditions = ConditionKnowledge()
    private let times = RunnableTimes()
    private let sleep = SleepKnowledge()
    private let freezing = FreezeTimes()
    private let slowFreezes = SlowFreezes()
    private var lastStep: Step?

    /// Those that know of every word what follows from it: more happens on rough boards than they know.
    private static func strictCheckers() -> [(CheckerName, any Checker)] {
        [
            (.frozenSilence, FrozenChecker()), (.recordedOnce, RecordChecker()), (.oneInstance, InstanceChecker()),
            (.keepAwake, KeepAwakeChecker()), (.jetsam, JetsamChecker()),
            (.hardwareWatchdog, HardwareWatchdogChecker()), (.returns, ReturnChecker()),
            (.sleepHandled, SleepHandledChecker()), (.informed, InformationChecker()),
            (.phaseRestored, PhaseChecker()), (.darkWake, DarkWakeChecker()), (.logicalSleep, LogicalSleepChecker()),
        ]
    }

    /// Those that hold on any board all the same.
    private static func steadyCheckers() -> [(CheckerName, any Checker)] {
        [
            (.lockReleased, LockChecker()), (.everybodyStill, StillnessChecker()),
            (.requestsAnswered, RequestChecker()), (.quietInSleep, SleepQuietChecker()), (.taskEnded, TaskChecker()),
            (.taskGrace, TaskGraceChecker()), (.noFlapping, ConditionChecker()),
            (.heat, HeatChecker()), (.powerOff, PowerOffChecker()),
            (.oneInFront, FrontChecker()),
            (.serviceWatchdog, ServiceWatchdogChecker()), (.notices, NoticeChecker()),
        ]
    }

    /// Those that start from what really happened, and hold on any board.
    private static func hardyCheckers() -> [(CheckerName, any Checker)] {
        [
            (.deadlineKept, DeadlineChecker()), (.handlerOrder, HandlerOrderChecker()),
            (.convergence, ConvergenceChecker()), (.restartsBounded, RestartChecker()),
            (.taskBudget, TaskBudgetChecker()), (.battery, BatteryChecker()), (.relief, ReliefChecker()),
            (.wishes, WishChecker()), (.rest, RestChecker()), (.presence, PresenceChecker()),
            (.oldSleep, OldSleepChecker()), (.questions, QuestionChecker()),
            (.gains, GainChecker()), (.changes, ChangeChecker()), (.refills, RefillChecker()),
            (.thawOrder, ThawOrderChecker()), (.sleepShare, SleepShareChecker()), (.waves, WaveChecker()),
            (.loginWord, LoginWordChecker()), (.heldAsleep, HeldAsleepChecker()), (.owned, OwnerChecker()),
            (.promptness, PromptnessChecker()), (.launches, LaunchChecker()),
            (.spawns, SpawnChecker()), (.ends, EndChecker()), (.culprits, CulpritChecker()),
            (.answers, AnswerChecker()), (.limits, LimitChecker()),
            (.views, ViewChecker()), (.allowances, AllowanceChecker()),
            (.expirations, ExpirationChecker()), (.adoptions, AdoptionChecker()),
            (.reloads, ReloadChecker()), (.sleepWishes, SleepWishChecker()), (.invariants, InvariantChecker()),
            (.stuckAgain, StuckAgainChecker()), (.heldUp, HeldUpChecker()),
            (.vainWaits, VainWaitChecker()), (.heldLocks, HeldLockChecker()),
        ]
    }

    private static func everyChecker() -> [(CheckerName, any Checker)] {
        strictCheckers() + steadyCheckers() + hardyCheckers()
    }

    /// For each kind of event and of effect, the places in `everyChecker` of those that want it.
    private static let listeningPlaces = EventKind.allCases.map { kind in
        places { type(of: $0).hears?.contains(kind) ?? true }
    }
    private static let watchingPlaces = EffectKind.allCases.map { kind in
        places { type(of: $0).sees?.contains(kind) ?? true }
    }

    private static func places(where wants: (any Checker) -> Bool) -> [Int] {
        everyChecker().enumerated().filter { wants($0.element.1) }.map(\.offset)
    }

    /// tellsAll: every checker is called for everything, whatever it says that it wants.
    init(only: Set<CheckerName>?, tellsAll: Bool, isRough: Bool) {
        self.only = only
        self.tellsAll = tellsAll
        self.isRough = isRough
        let all = Self.everyChecker()
        let hardy = isRough ? Self.strictCheckers().count : 0
        func isMeant(_ place: Int) -> Bool { place >= hardy && only?.contains(all[place].0) ?? true }
        checkers = all.indices.filter(isMeant).map { all[$0].1 }
        func lists(_ places: [[Int]]) -> [[any Checker]] {
            places.map { list in (tellsAll ? Array(all.indices) : list).filter(isMeant).map { all[$0].1 } }
        }
        listeners = lists(Self.listeningPlaces)
        watchers = lists(Self.watchingPlaces)
    }

    /// For a daemon that begins anew, and knows nothing of what its predecessor has done.
    func renewed() -> Inspection { Inspection(only: only, tellsAll: tellsAll, isRough: isRough) }

    func wants(_ name: CheckerName) -> Bool { only?.contains(name) ?? true }

    func violate(_ checker: CheckerName, _ message: String) {
        guard violation == nil, wants(checker) else { return }
        violation = Violation(checker: checker, message: message, step: lastStep?.number ?? 0)
    }

    private func scene(of step: Step, on board: SimulatedBoard) -> Scene {
        Scene(
            step: step, board: board, chronicle: chronicle, conditions: conditions, times: times, sleep: sleep,
            freezing: freezing, slowFreezes: slowFreezes, inspection: self)
    }

    func inspect(_ step: Step, on board: SimulatedBoard) {
        lastStep = step
        let now = step.at.monotonic
        conditions.hear(step.event, isGivenBack: isGivenBack(step), at: now)
        let scene = scene(of: step, on: board)
        times.hear(step.event, scene)
        sleep.hear(step.event, scene)
        freezing.hear(step.event, scene)
        slowFreezes.hear(step.event, scene)
        for checker in listeners[step.event.kind.rawValue] { checker.heard(step.event, scene) }
        chronicle.note(step.event, step, board.directory)
        for effect in step.effects {
            times.see(effect, scene)
            sleep.see(effect, scene)
            freezing.see(effect, scene)
            slowFreezes.see(effect, scene)
            for checker in watchers[effect.kind.rawValue] { checker.did(effect, scene) }
            chronicle.note(effect, step)
            conditions.see(effect, at: now)
        }
        conditions.finishStep()
        for checker in checkers { checker.stepped(step, scene) }
        slowFreezes.finishStep(scene)
        freezing.finishStep(scene)
        chronicle.forgetTheDead()
    }

    /// A lock that keeps the board awake is dropped before it has changed what is in force.
    private func isGivenBack(_ step: Step) -> Bool {
        for effect in step.effects {
            if effect == .login(.releaseLock(.keepAwake)) { return true }
            if case .note(.board(.phaseLimited)) = effect { return false }
        }
        return false
    }

    func rest(on board: SimulatedBoard) { visit(board) { $0.rested($1) } }

    func finish(on board: SimulatedBoard) { visit(board) { $0.finished($1) } }

    private func visit(_ board: SimulatedBoard, _ body: (any Checker, Scene) -> Void) {
        guard let lastStep else { return }
        let scene = scene(of: lastStep, on: board)
        for checker in checkers { body(checker, scene) }
    }

    /// What the core was told and has done, instance by instance.
    var records: [InstanceRecord] { chronicle.records }
}
