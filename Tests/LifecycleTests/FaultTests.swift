import Testing

@testable import Lifecycle

/// States that only a fault of the core's own leads to, each made by hand.
@Suite struct FaultTests {
    private static let call = PendingCall(
        id: CallID(rawValue: 1), call: .didBecomeActive, allowance: .seconds(5), issued: .zero, deadline: .seconds(5),
        awaitsReply: true, awaitsReady: false)

    private static func task(_ number: Int64) -> HeldTask {
        HeldTask(id: BackgroundTaskID(rawValue: number), name: "upload", keepsAwake: false, begun: .zero)
    }

    private static func instance(
        _ stage: Instance.Stage = .running, phase: ScenePhase = .background, isLaunched: Bool = false,
        isClockStopped: Bool = false, call: PendingCall? = nil, tasks: HeldTasks = HeldTasks(),
        freezer: Instance.Freezer = .thawed, reasons: FreezeReasons = [], stop: StopOrder? = nil
    ) -> Instance {
        Instance(
            id: InstanceID(rawValue: 1), stage: stage, reason: .user, startedAt: .zero, phase: phase, handlers: [],
            isLaunched: isLaunched, clock: RunnableClock(stoppedAt: isClockStopped ? .zero : nil), call: call,
            tasks: tasks, freezer: freezer, freezeReasons: reasons, stop: stop)
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
        (Fault.callOfTheDead, instance(.clearing, call: call)),
        (.strangeTasks, instance(.spawning, tasks: HeldTasks(all: [task(1)]))),
        (.strangeTasks, instance(tasks: HeldTasks(all: (1...65).map { task($0) }))),
        (.strangeTasks, instance(tasks: HeldTasks(all: [task(1), task(2), task(2)]))),
        (.endWithoutOrder, instance(.stopping)),
        (.endWithoutOrder, instance(stop: StopOrder(reason: .shutdown, exitDue: .seconds(1)))),
        (.killWithoutCause, instance(.killing)),
        (.frozenWithoutReason, instance(.spawning, freezer: .freezing)),
        (.frozenWithoutReason, instance(isClockStopped: true, freezer: .frozen)),
        (.clockAgainstFreezer, instance(freezer: .frozen, reasons: .sleep)),
        (.clockAgainstFreezer, instance(isClockStopped: true)),
        (.frontBeforeLaunch, instance(phase: .active)),
        (.budgetInFront, instance(phase: .active, isLaunched: true, tasks: HeldTasks(poolEnd: .seconds(30)))),
    ])
    func instanceIsFoundBroken(_ fault: Fault, _ broken: Instance) {
        #expect(Self.instance().fault == nil)
        #expect(broken.fault == fault)
    }

    @Test(arguments: [
        Case<App>(.launchOfRetired) {
            $0.isRetired = true
            $0.launch.queued = .user
        },
        Case(.budgetOutOfRange) { $0.pool?.stop(.seconds(31)) },
        Case(.budgetOutOfRange) { $0.pool?.stop(.seconds(-1)) },
        Case(.adoptionOfWhatRuns) {
            $0.adoption = Adoption(parameters: TaskParameters(name: "sync"))
            $0.instance = instance()
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
            $0.requests = PendingRequests(all: [request, request])
        },
    ])
    func coreSaysThatItIsBroken_andGoesOn(_ broken: Case<DeviceLifecycle>) {
        var board = Board([app("camera")])
        board.start()
        broken.breaking(&board.core)
        board.core.touch(0)
        let effects = board.core.handle(.timePassed, at: board.now)
        #expect(
            effects.contains {
                if case .note(.fault(broken.fault, _)) = $0 { true } else { false }
            })
        #expect(board.core.device.sleepState == .awake)
    }
}
