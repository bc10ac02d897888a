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
}

/// A rule that was broken.
public struct Violation: Sendable {
    public let checker: CheckerName
    public let message: String
    public let step: Int
}

/// Looks at every event, and at every effect before it is carried out, and keeps a model of its own.
protocol Checker: AnyObject {
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
    private let only: Set<CheckerName>?
    private let chronicle = Chronicle()
    private let conditions = ConditionKnowledge()
    private var lastStep: Step?

    init(only: Set<CheckerName>?) {
        self.only = only
        let all: [(CheckerName, any Checker)] = [
            (.lockReleased, LockChecker()), (.everybodyStill, StillnessChecker()), (.deadlineKept, DeadlineChecker()),
            (.handlerOrder, HandlerOrderChecker()), (.phaseRestored, PhaseChecker()),
            (.frozenSilence, FrozenChecker()), (.convergence, ConvergenceChecker()),
            (.recordedOnce, RecordChecker()), (.requestsAnswered, RequestChecker()),
            (.quietInSleep, SleepQuietChecker()), (.restartsBounded, RestartChecker()),
            (.oneInstance, InstanceChecker()), (.taskEnded, TaskChecker()), (.taskBudget, TaskBudgetChecker()),
            (.keepAwake, KeepAwakeChecker()), (.taskGrace, TaskGraceChecker()), (.informed, InformationChecker()),
            (.darkWake, DarkWakeChecker()), (.noFlapping, ConditionChecker()), (.jetsam, JetsamChecker()),
            (.heat, HeatChecker()), (.powerOff, PowerOffChecker()), (.hardwareWatchdog, HardwareWatchdogChecker()),
            (.oneInFront, FrontChecker()), (.logicalSleep, LogicalSleepChecker()), (.returns, ReturnChecker()),
            (.sleepHandled, SleepHandledChecker()),
            (.serviceWatchdog, ServiceWatchdogChecker()),
        ]
        checkers = all.filter { only?.contains($0.0) ?? true }.map(\.1)
    }

    func wants(_ name: CheckerName) -> Bool { only?.contains(name) ?? true }

    func violate(_ checker: CheckerName, _ message: String) {
        guard violation == nil, wants(checker) else { return }
        violation = Violation(checker: checker, message: message, step: lastStep?.number ?? 0)
    }

    func inspect(_ step: Step, on board: SimulatedBoard) {
        lastStep = step
        conditions.hear(step.event, at: step.at.monotonic)
        let scene = Scene(
            step: step, board: board, chronicle: chronicle, conditions: conditions, inspection: self)
        for checker in checkers { checker.heard(step.event, scene) }
        chronicle.note(step.event, step, board.directory)
        for effect in step.effects {
            for checker in checkers { checker.did(effect, scene) }
            chronicle.note(effect, step)
            conditions.see(effect, at: step.at.monotonic)
        }
        conditions.finishStep()
        for checker in checkers { checker.stepped(step, scene) }
        chronicle.forgetTheDead()
    }

    func rest(on board: SimulatedBoard) { visit(board) { $0.rested($1) } }

    func finish(on board: SimulatedBoard) { visit(board) { $0.finished($1) } }

    private func visit(_ board: SimulatedBoard, _ body: (any Checker, Scene) -> Void) {
        guard let lastStep else { return }
        let scene = Scene(
            step: lastStep, board: board, chronicle: chronicle, conditions: conditions, inspection: self)
        for checker in checkers { body(checker, scene) }
    }

    /// What the core was told and has done, instance by instance.
    var records: [InstanceRecord] { chronicle.records }
}
