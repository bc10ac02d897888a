import Testing

@testable import Lifecycle

/// States that only a fault of the core's own leads to, each made by hand.
@Suite struct FaultTests {
    private static let call = Call(
        id: CallID(rawValue: 1), call: .didBecomeActive, told: .seconds(5), issued: .zero, deadline: .seconds(5),
        awaitsReply: true, awaitsReady: false)

    private static func task(_ number: Int64) -> HeldTask {
        HeldTask(id: BackgroundTaskID(rawValue: number), name: "upload", keepsAwake: false, begun: .zero)
    }

    private static func running() -> Instance {
        var instance = Instance(
            id: InstanceID(rawValue: 1), reason: .user, startedAt: .zero, phase: .background, handlers: [])
        instance.stage = .running
        instance.clock.resume(at: .zero)
        return instance
    }

    struct Case<Organ>: Sendable {
        let fault: Fault
        let breaking: @Sendable (inout Organ) -> Void

        init(_ fault: Fault, _ breaking: @escaping @Sendable (inout Organ) -> Void) {
            self.fault = fault
            self.breaking = breaking
        }
    }

    @Test(arguments: [
        Case<Instance>(.callOfTheDead) {
            $0.stage = .clearing
            $0.call = call
        },
        Case(.strangeTasks) {
            $0.stage = .spawning
            $0.tasks = [task(1)]
        },
        Case(.strangeTasks) { $0.tasks = (1...65).map { task($0) } },
        Case(.strangeTasks) { $0.tasks = [task(1), task(2), task(2)] },
        Case(.endWithoutOrder) { $0.stage = .stopping },
        Case(.endWithoutOrder) { $0.stop = StopOrder(reason: .shutdown, exitDue: .seconds(1)) },
        Case(.killWithoutCause) { $0.stage = .killing },
        Case(.frozenWithoutReason) {
            $0.stage = .spawning
            $0.freezer = .freezing
        },
        Case(.frozenWithoutReason) {
            $0.freezer = .frozen
            $0.clock.stop(at: .zero)
        },
        Case(.clockAgainstFreezer) {
            $0.freezer = .frozen
            $0.freezeReasons = .sleep
        },
        Case(.clockAgainstFreezer) { $0.clock.stop(at: .zero) },
        Case(.frontBeforeLaunch) { $0.phase = .active },
        Case(.budgetInFront) {
            $0.isLaunched = true
            $0.phase = .active
            $0.poolEnd = .seconds(30)
        },
    ])
    func instanceIsFoundBroken(_ broken: Case<Instance>) {
        var instance = Self.running()
        #expect(instance.fault == nil)
        broken.breaking(&instance)
        #expect(instance.fault == broken.fault)
    }

    @Test(arguments: [
        Case<App>(.launchOfRetired) {
            $0.isRetired = true
            $0.launch.queued = .user
        },
        Case(.budgetOutOfRange) { $0.pool?.left = .seconds(31) },
        Case(.budgetOutOfRange) { $0.pool?.left = .seconds(-1) },
        Case(.adoptionOfWhatRuns) {
            $0.adoption = Adoption(wish: TaskWish(name: "sync"))
            $0.instance = running()
        },
    ])
    func appIsFoundBroken(_ broken: Case<App>) {
        var app = App(policy: AppPolicy(name: "camera"))
        app.pool = TaskPool(.seconds(30))
        #expect(app.fault == nil)
        broken.breaking(&app)
        #expect(app.fault == broken.fault)
    }

    @Test(arguments: [
        Case<Shutdown>(.shutdownLeftovers) { $0.wave = 0 },
        Case(.shutdownLeftovers) { $0.waveEnd = .seconds(1) },
        Case(.shutdownLeftovers) {
            $0.isAnnounced = true
            $0.powerOffDue = .seconds(1)
        },
    ])
    func shutdownIsFoundBroken(_ broken: Case<Shutdown>) {
        var shutdown = Shutdown()
        #expect(shutdown.fault == nil)
        broken.breaking(&shutdown)
        #expect(shutdown.fault == broken.fault)
    }

    @Test(arguments: [
        Case<DeviceLifecycle>(.lostInIndex) { $0.indexOfInstance = [:] },
        Case(.lostInIndex) { $0.indexOfName = [:] },
        Case(.keptLaunchOfNone) { $0.apps[0].launchIfDenied = LaunchState() },
        Case(.launchOfWhatRuns) { $0.apps[0].launch.returnsWhenWell = true },
        Case(.countBelowZero) { $0.keepAwakeCount = -1 },
        Case(.strangeRequests) {
            let request = PendingRequest(
                id: RequestID(rawValue: 1), app: 0, wish: .ended, phase: .active, leaving: $0.apps[0].instance?.id)
            $0.requests = [request, request]
        },
    ])
    func coreSaysThatItIsBroken_andGoesOn(_ broken: Case<DeviceLifecycle>) {
        var board = Board([app("camera")])
        board.start()
        broken.breaking(&board.core)
        board.core.touch(0)
        let effects = board.core.handle(.woke, at: board.now)
        #expect(
            effects.contains {
                if case .note(.fault(broken.fault, _)) = $0 { true } else { false }
            })
        #expect(board.core.device.sleepState == .awake)
    }
}
