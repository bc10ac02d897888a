import Testing

@testable import Lifecycle

/// One run of an app by itself, without a board.
@Suite struct InstanceTests {
    private static let call = CallID(rawValue: 7)

    /// Launched, and running since second 100.
    private static func running(phase: ScenePhase = .background, handlers: HandlerSet = .all) -> Instance {
        var instance = Instance(
            id: InstanceID(rawValue: 1), reason: .user, startedAt: .seconds(90), phase: phase, handlers: handlers,
            liveness: Liveness(.seconds(10)))
        instance.didStart(at: .seconds(100))
        instance.didLaunch()
        return instance
    }

    private static func deadline(_ instance: Instance, reprieveEnd: Nanoseconds = .zero) -> Deadline {
        var next = Deadline.never
        instance.addDeadlines(
            to: &next, AppID(rawValue: 0), lead: .seconds(5), freezeBound: .seconds(2), reprieveEnd: reprieveEnd)
        return next
    }

    @Test(arguments: [
        (ScenePhase.active, ScenePhase.background, HandlerCall?.some(.willResignActive)),
        (.active, .active, nil), (.inactive, .active, .didBecomeActive), (.inactive, .inactive, nil),
        (.inactive, .background, .willResignActive), (.background, .inactive, .willEnterForeground),
        (.background, .background, nil),
    ])
    func oneStepLeadsTowardsTheGoal(_ phase: ScenePhase, _ goal: ScenePhase, _ call: HandlerCall?) {
        #expect(Self.running(phase: phase).nextCall(towards: goal) == call)
    }

    @Test func didEnterBackgroundFollows_onceItHasResigned() {
        var instance = Self.running(phase: .inactive)
        instance.didResign()
        #expect(instance.nextCall(towards: .background) == .didEnterBackground)
    }

    @Test func nothingIsCalled_whileACallIsOutstandingOrItIsHeld() {
        var called = Self.running()
        called.begin(
            .willEnterForeground, as: Self.call, allowance: .seconds(5), awaitsReply: true, awaitsReady: false,
            at: .seconds(101))
        #expect(called.nextCall(towards: .active) == nil)
        var held = Self.running()
        #expect(held.moveFreezer(.sleep, mayFreeze: false, at: .seconds(101)) == nil)
        #expect(held.nextCall(towards: .active) == nil)
    }

    @Test func aLaunchIsOver_whenBothItsSignsHaveCome() {
        var instance = Self.running()
        instance.begin(
            .didFinishLaunching(.user), as: Self.call, allowance: .seconds(5), awaitsReply: true, awaitsReady: true,
            at: .seconds(101))
        let isWrongOne = instance.heardReply(to: CallID(rawValue: 8))
        let isRightOne = instance.heardReply(to: Self.call)
        let isSecond = instance.heardReply(to: Self.call)
        #expect(!isWrongOne && isRightOne && !isSecond)
        #expect(instance.takeFinishedCall() == nil)
        let isAwaited = instance.heardReady()
        #expect(isAwaited)
        #expect(instance.takeFinishedCall() == .didFinishLaunching(.user))
        #expect(instance.call == nil)
    }

    @Test func clockStands_fromTheFreezeToTheThaw() {
        var instance = Self.running()
        instance.begin(
            .didBecomeActive, as: Self.call, allowance: .seconds(5), awaitsReply: true, awaitsReady: false,
            at: .seconds(101))
        #expect(
            Self.deadline(instance)
                == Deadline(at: .seconds(106), reason: .handler(AppID(rawValue: 0), .didBecomeActive)))
        #expect(instance.moveFreezer(.sleep, mayFreeze: true, at: .seconds(103)) == .freezing)
        #expect(Self.deadline(instance) == Deadline(at: .seconds(105), reason: .freeze(AppID(rawValue: 0))))
        let isFrozen = instance.didFreeze()
        #expect(isFrozen && instance.taskState == .suspended && Self.deadline(instance) == .never)
        #expect(instance.moveFreezer([], mayFreeze: true, at: .seconds(203)) == .thawed)
        #expect(Self.deadline(instance).at == .seconds(206))
    }

    @Test func itIsStuck_whenItDoesNotFreezeInTime() {
        var instance = Self.running()
        _ = instance.moveFreezer(.background, mayFreeze: true, at: .seconds(100))
        let isEarly = instance.judgeFreezing(at: .milliseconds(101_999), bound: .seconds(2))
        let isStuck = instance.judgeFreezing(at: .seconds(102), bound: .seconds(2))
        #expect(!isEarly && isStuck && instance.freezer == .stuck)
        let isReportedStuck = instance.reportStuck()
        let isNamedTwice = instance.reportStuck()
        let isFreezeLate = instance.didFreeze()
        #expect(isReportedStuck && !isNamedTwice && isFreezeLate && instance.freezer == .frozen)
    }

    @Test func whatIsOverdueIsJudgedLater_afterAStall() {
        var instance = Self.running()
        let isArmed = instance.armLiveness(at: .seconds(100))
        #expect(isArmed)
        func overdue(_ at: Int64, _ reprieveEnd: Int64) -> Bool {
            instance.overdue(at: .milliseconds(at), reprieveEnd: .milliseconds(reprieveEnd)) != nil
        }
        #expect(!overdue(109_999, 0) && overdue(110_000, 0))
        #expect(!overdue(110_249, 110_250) && overdue(110_250, 110_250))
        // However often the board stalls.
        #expect(!overdue(111_999, 200_000) && overdue(112_000, 200_000))
    }

    // MARK: Its end

    @Test func itIsCalledAndThenAsked_whenItImplementsWillTerminate() {
        var instance = Self.running()
        guard case .noted = instance.order(.shutdown, waveEnd: nil, isForced: false, at: .zero) else {
            return #expect(Bool(false))
        }
        let step = instance.carryOutStop(.seconds(5), before: .seconds(103), at: .seconds(100))
        guard case .call(.shutdown, .seconds(3)) = step else {
            return #expect(Bool(false), "\(String(describing: step))")
        }
        #expect(instance.stage == .stopping && instance.stop?.exitDue == nil)
        let isAsked = instance.didAnswerTermination()
        #expect(isAsked && instance.stop?.exitDue == .seconds(103))
        #expect(Self.deadline(instance).reason == .exit(AppID(rawValue: 0)))
    }

    @Test func itIsAskedAtOnce_whenItDoesNot() {
        var instance = Self.running(handlers: [])
        _ = instance.order(.shutdown, waveEnd: .seconds(104), isForced: false, at: .zero)
        let step = instance.carryOutStop(.seconds(5), before: nil, at: .seconds(100))
        guard case .terminate = step else { return #expect(Bool(false), "\(String(describing: step))") }
        #expect(instance.stop?.exitDue == .seconds(104))
    }

    @Test func itIsKilled_whenNoTimeIsLeftOrItIsFrozen() {
        var late = Self.running()
        _ = late.order(.shutdown, waveEnd: .milliseconds(100_099), isForced: false, at: .zero)
        let step = late.carryOutStop(.seconds(5), before: nil, at: .seconds(100))
        guard case .kill(.shutdown) = step else { return #expect(Bool(false), "\(String(describing: step))") }
        var frozen = Self.running()
        _ = frozen.moveFreezer(.sleep, mayFreeze: true, at: .seconds(100))
        guard case .kill = frozen.order(.shutdown, waveEnd: nil, isForced: false, at: .zero) else {
            return #expect(Bool(false))
        }
    }

    @Test func anOrderWaits_forAHandlerAndNotForReadiness() {
        var instance = Self.running()
        instance.begin(
            .didFinishLaunching(.user), as: Self.call, allowance: .seconds(5), awaitsReply: true, awaitsReady: true,
            at: .seconds(100))
        _ = instance.order(.shutdown, waveEnd: nil, isForced: false, at: .zero)
        #expect(instance.carryOutStop(.seconds(5), before: nil, at: .seconds(101)) == nil)
        _ = instance.heardReply(to: Self.call)
        #expect(instance.carryOutStop(.seconds(5), before: nil, at: .seconds(101)) != nil)
    }

    @Test func firstCauseStays_andAnOperatorsWordIsKept() {
        var instance = Self.running()
        let isKilled = instance.kill(Cause(reason: .overheated), at: .seconds(101))
        let isKilledTwice = instance.kill(Cause(reason: .unknown), at: .seconds(102))
        #expect(isKilled && !isKilledTwice && instance.cause?.reason == .overheated)
        #expect(Self.deadline(instance).at == .seconds(106))
        _ = instance.order(.endedByOperator(isForced: true), waveEnd: nil, isForced: true, at: .zero)
        #expect(instance.stop?.reason == .endedByOperator(isForced: true))
        instance.didExit(at: .seconds(103))
        #expect(instance.stage == .clearing && Self.deadline(instance).at == .seconds(113))
    }

    @Test func anEndOfItsOwnWishIsOrdered_whenAnOrderComes() {
        var instance = Self.running()
        let isEnding = instance.stopByItself(.seconds(5), at: .seconds(100))
        #expect(isEnding && instance.stop?.isOwnWish == true && instance.stop?.exitDue == .seconds(105))
        guard case .terminate = instance.order(.shutdown, waveEnd: nil, isForced: false, at: .zero) else {
            return #expect(Bool(false))
        }
        #expect(instance.stop?.isOwnWish == false && instance.stop?.reason == .shutdown)
    }

    @Test func exitIsExtended_toThreeAllowancesAtMost() {
        var instance = Self.running(handlers: [])
        let isTooEarly = instance.extend(by: .zero, at: .seconds(100))
        _ = instance.stopByItself(.seconds(5), at: .seconds(100))
        let isExtended = instance.extend(by: .seconds(60), at: .seconds(101))
        #expect(!isTooEarly && isExtended && instance.stop?.exitDue == .seconds(115))
    }

    @Test func itStays_whenAShutdownIsCancelledBeforeItWasAsked() {
        var spared = Self.running()
        _ = spared.order(.shutdown, waveEnd: .seconds(200), isForced: false, at: .zero)
        spared.forgetShutdownLimit()
        #expect(spared.stop?.waveEnd == nil)
        let stays = spared.spare()
        #expect(stays && spared.isStaying)
        var asked = Self.running()
        _ = asked.order(.shutdown, waveEnd: nil, isForced: false, at: .zero)
        _ = asked.carryOutStop(.seconds(5), before: nil, at: .seconds(100))
        let isSpared = asked.spare()
        #expect(!isSpared && asked.stage == .stopping)
    }

    @Test func itIsWrittenAndReadBack() {
        var instance = Self.running()
        instance.begin(
            .willTerminate("user"), as: Self.call, allowance: .seconds(5), awaitsReply: true, awaitsReady: false,
            at: .seconds(101))
        _ = instance.stopByItself(.seconds(5), at: .seconds(102))
        instance.tasks.begin(HeldTask(id: BackgroundTaskID(rawValue: 1), name: "a b", keepsAwake: true, begun: .zero))
        instance.news.warn(.critical)
        var writing = StateArchive()
        instance.archive(&writing)
        var reading = StateArchive(reading: writing.bytes)
        var again = Instance(
            id: InstanceID(rawValue: 0), reason: .boot, startedAt: .zero, phase: .active, handlers: [])
        again.archive(&reading)
        #expect(!reading.failed && again == instance)
    }
}
