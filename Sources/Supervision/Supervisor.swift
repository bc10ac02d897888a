internal import CLinux
internal import Configuration
internal import ControlGroup
internal import DeviceMonitor
internal import EventLoop
internal import Journal
internal import Lifecycle
internal import MessageBus
internal import ProcessControl
internal import SystemCalls
internal import Varlink
internal import WakeAlarm

/// The shell around the core: makes one event of whatever happens, lets the core decide, and carries out its effects in
/// order. What an effect leads to comes back as a new event, after the transition.
final class Supervisor {
    let loop: EventLoop
    /// The parent of all processes.
    let keeper: ProcessKeeper
    private var keeperSource: IOSource?
    /// The sockets of operators and apps.
    let connections: IOGroup
    /// Those of others: served when nothing else is to be done.
    let strangers: IOGroup
    let shares: ServiceShares
    let paths: RuntimePaths
    let log: Log
    /// nil where no control group can be written: apps are neither frozen nor limited, and known by their pids.
    let groups: ControlGroupRoot?
    /// Why there are none, for people.
    var freezingProblem: String?
    let reports: ReportStore

    var core = DeviceLifecycle()
    var configuration: Configuration
    /// Of the apps' files, as they count; nil in a trial, or where there is no memory for them.
    var texts: KeptTexts?
    /// Of the loop before, until what runs is in hand.
    var formerTexts: KeptTexts?
    /// Where in it the apps are that can be used, by name.
    var usable: [String: Int] = [:]
    /// By AppID; made when first launched. Apps that are gone from the configuration stay until their last process is.
    var apps: [Int: SupervisedApp] = [:]
    /// By InstanceID.
    var processes: [Int64: AppProcess] = [:]

    var login: (any LoginService)?
    var control: ControlService?
    var application: ApplicationService?
    var interfaces: Interfaces?
    var upgrading: Upgrading?
    private(set) lazy var answers = Answers(self)
    private(set) lazy var taskFollowers = TaskFollowers(self)
    private(set) lazy var appLocks = AppLocks(self)
    private(set) lazy var keyLocks = KeyLocks(self)
    private(set) lazy var keptLocks = KeptLocks(self)
    private(set) lazy var preferenceSaving = PreferenceSaving(self)
    let disposal: Disposal
    /// Processes that are to be taken over, by the name of the app they become.
    var adoptions: [String: (handle: ProcessHandle, user: UInt32)] = [:]
    /// Only for `curfew try`.
    var trial: Trial?
    /// For the loop after this one; nil in a trial, whose time is its own, or where there is no memory for it.
    var keptState: KeptState?
    /// nil in a trial, or where there is no memory for it.
    var recorder: FlightRecorder?
    /// It goes on from a former state.
    var hasResumed = false
    /// What has ended the loop before this.
    var lastSignal: Int32 = 0
    /// What has ended with that one's loop is being told of, and is gone once all of it is told.
    var isResuming = false
    /// Apps get the daemon's own stdout for theirs.
    var passesOutput = false
    private(set) lazy var ownUsers = OwnUsers(directory: paths.appFolders, root: paths.root)
    /// What a trial has skipped, in nanoseconds.
    var skipped: Int64 = 0

    private var pending: [Event] = []
    private(set) var isDispatching = false
    private var timer: TimerSource?
    private var clockChange: ClockChangeSource?
    private var discarded: [AppProcess] = []
    private var armedFor = Nanoseconds.max
    /// Of every process that is started; those of the daemon itself are others.
    var appLimits: [ResourceLimit] = []
    var confinement = Confinement()
    /// Said once per daemon: what limits need and is not here.
    var saidMissing: ControllerSet = []
    /// How often the core has found itself broken.
    var faults: [Fault: Int] = [:]
    /// The last end of each app, by AppID.
    var lastReports: [Int: Report] = [:]
    var isLoginLost = false
    /// logind has announced that the board goes down.
    var isBoardGoingDown = false
    /// Made when it is first needed.
    var wakeAlarm: WakeAlarm?
    var wakeAlarmSource: IOSource?
    var saidNoAlarm = false
    /// The kernel's counts as the last sleep was announced; nil where it does not count.
    var suspendsBefore: SuspendStatistics?
    var saidSuspendRefused = false
    /// That these were refused was said, and none of the kind was granted since.
    var refusedLocks: [Inhibitor] = []
    /// The board's own conditions are heard and its watchdog is kept. Not for private trials.
    var followsBoard = true
    var settings = BoardSettings(DeviceConfiguration(), nil)
    var boardWatch: BoardWatch?
    var watchdog: WatchdogFeeder?
    var serviceWatchdog: SystemdWatchdog?
    var notifier: ServiceNotifier?
    var pressure: [PressureTrigger] = []
    var pressureSources: [IOSource] = []
    /// The thresholds that are listened for; 0: none is.
    var pressureWarning = 0
    var pressureCritical = 0
    var pressureTrouble = ""
    var preferences: Preferences
    let pinnedFolders = PinnedFolders()

    init(
        loop: EventLoop, keeper: ProcessKeeper, paths: RuntimePaths, log: Log, groups: ControlGroupRoot?,
        configuration: Configuration
    ) throws(SystemError) {
        self.loop = loop
        disposal = Disposal(loop)
        self.keeper = keeper
        connections = try loop.group()
        strangers = try loop.group(priority: EventLoop.Priority.idle)
        shares = ServiceShares(loop)
        self.paths = paths
        self.log = log
        self.groups = groups
        self.configuration = configuration
        reports = ReportStore(directory: paths.state)
        preferences = Preferences(directory: paths.state)
        // After everything that may be a sign of life.
        timer = try loop.timer(priority: EventLoop.Priority.normal + 1) { [unowned(unsafe) self] in
            armedFor = .max
            dispatch(.timePassed)
        }
        clockChange = try loop.clockChange { [unowned(unsafe) self] in dispatch(.timePassed) }
        // First of all that is ready: nothing of a process is heard before its start.
        keeperSource = try loop.watch(keeper.descriptor, .readable, priority: EventLoop.Priority.important) {
            [unowned(unsafe) keeper] _ in
            // The kernel is about to kill a loop whose keeper is dead: with or without that, it does no more.
            if !keeper.receive() { _exit(1) }
        }
        reports.onTrouble = { [unowned(unsafe) self] in self.log.daemon(.warning, $0) }
    }

    /// The core's time.
    var now: Instant {
        Instant(
            monotonic: Nanoseconds(rawValue: Clocks.monotonic + skipped),
            boottime: Nanoseconds(rawValue: Clocks.boottime + skipped))
    }

    /// One event into the core, and its effects out. Events that come up meanwhile wait their turn.
    func dispatch(_ event: Event) {
        pending.append(event)
        guard !isDispatching else { return }
        isDispatching = true
        var next = 0
        while next < pending.count {
            let instant = now
            recorder?.hear(pending[next], at: instant)
            let effects = core.handle(pending[next], at: instant)
            recorder?.decided(effects)
            trial?.hear(pending[next])
            #if !hasFeature(Embedded)
                Observation.ear?(pending[next], effects, core.nextDeadline) { core.view(of: $0)?.name }
            #endif
            next += 1
            keptState?.noteCore()
            for effect in effects { perform(effect) }
            keptState?.flush()
            keptLocks.judge()
        }
        pending.removeAll(keepingCapacity: true)
        isDispatching = false
        armTimer()
        recorder?.write()
        trial?.advance()
    }

    /// Judges who is due, from the handler of a source that something untrusted may keep busy for ever.
    func wakeIfDue() {
        if !isDispatching, Clocks.monotonic + skipped >= armedFor.rawValue { dispatch(.timePassed) }
    }

    private func armTimer() {
        let due = core.nextDeadline?.at ?? .max
        guard due != armedFor else { return }
        armedFor = due
        if due == .max {
            timer?.disarm()
        } else {
            timer?.arm(at: due.rawValue - skipped)
        }
    }

    private func perform(_ effect: Effect) {
        switch effect {
        case .process(let effect): perform(effect)
        case .app(let effect): perform(effect)
        case .login(let effect): perform(effect)
        case .sleep(let effect): perform(effect)
        case .board(let effect): perform(effect)
        case .memory(let effect): perform(effect)
        case .watchdog(let effect): perform(effect)
        case .client(let effect): perform(effect)
        case .report(let termination):
            trial?.ended(termination)
            record(termination)
        case .note(let notice):
            if case .sleep(let notice) = notice { keepTraces(notice) }
            say(notice)
        case .stopDaemon:
            // It handles no sleep that it leaves behind.
            try? Files.remove(paths.sleepMark)
            watchdog?.leave(isShuttingDown: isBoardGoingDown)
            leave(code: 0)
        }
    }

    /// Forgets a process, and lets go of it in the next turn of the loop: one of its own handlers may be running.
    func discard(_ process: AppProcess) {
        processes[process.instance.rawValue] = nil
        keptState?.note(process: process.instance.rawValue)
        appLocks.hasEnded(process)
        if discarded.isEmpty { loop.post { [unowned(unsafe) self] in forgetDiscarded() } }
        discarded.append(process)
    }

    private func forgetDiscarded() {
        for process in discarded { forgetIfGone(process.app.id) }
        discarded.removeAll(keepingCapacity: true)
    }

    func leave(code: Int32) {
        loop.exit(code: code)
    }
}
