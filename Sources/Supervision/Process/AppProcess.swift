internal import CLinux
internal import Configuration
internal import ControlGroup
internal import EventLoop
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

private enum FreezerWish {
    case none
    case frozen
    case thawed
}

/// The processes of one instance of an app: its main process by pidfd, the others by control group.
final class AppProcess {
    let instance: InstanceID
    /// Ours until `cleared`: the place of an app that cannot be killed may be taken by another before.
    let app: SupervisedApp
    /// As it was started: a reload is for the next one.
    let configuration: AppConfiguration
    /// The number of the user as whom it was started; nil where that is not known.
    let user: UInt32?
    unowned(unsafe) let supervisor: Supervisor
    let group: ControlGroup?
    let startedAt: Int64

    private(set) var child: KeptProcess? { didSet { wasChanged() } }
    /// The core knows that it runs.
    var isSpawned = false
    /// Since MAINPID=, or since it was taken over.
    var foreignMain: ForeignMain? { didSet { wasChanged() } }
    private var events: ControlGroupEvents?
    private var eventsSource: IOSource?
    /// `clear` has been asked for: waits for the group to be empty.
    private(set) var isClearing = false
    /// By willTerminate or SIGTERM: what its main process leaves has its time too (`LeftBehind.swift`).
    private(set) var isAskedToEnd = false { didSet { wasChanged() } }
    private(set) var wasSentTerm = false { didSet { wasChanged() } }
    var wasRestAsked = false { didSet { wasChanged() } }
    /// MONOTONIC, in nanoseconds; nil: it was not.
    private(set) var killedAt: Int64? { didSet { wasChanged() } }
    var isKilled: Bool { killedAt != nil }
    /// How its main process ended, while the rest has that time.
    var heldExit: ExitStatus? { didSet { wasChanged() } }
    /// The last calls that it was given, and has answered.
    private(set) var delivered = CallID(rawValue: 0) { didSet { wasChanged() } }
    private(set) var answered = CallID(rawValue: 0) { didSet { wasChanged() } }
    /// The last that an earlier loop has given it; 0: none.
    private let inherited: CallID
    /// Whether this loop has.
    func hasGiven(_ call: CallID) -> Bool { delivered == call && inherited != call }
    /// What the freezer was asked for and has not done.
    private var wish = FreezerWish.none
    private var retry: TimerSource?
    private var retryDelay = AppProcess.firstRetry
    /// Nanoseconds; then twice as long each time, up to 10 s.
    private static let firstRetry: Int64 = 100_000_000
    var delegate: (any DelegateChannel)?
    /// Processor time of the main process, where there is no group to ask.
    private var ownCPU: Int64?
    /// Of its memory limit, where it has one.
    var memoryEvents: ControlGroupMemoryEvents?
    var memorySource: IOSource?
    var highCount: Int64 = 0
    /// MONOTONIC, in nanoseconds: when systemd-oomd said that it is about to end it.
    var oomdAnnounced: Int64?

    init(_ instance: InstanceID, _ app: SupervisedApp, _ supervisor: Supervisor, group: ControlGroup?) {
        self.instance = instance
        self.app = app
        configuration = app.configuration
        user = app.user
        startedAt = Clocks.monotonic
        inherited = CallID(rawValue: 0)
        self.supervisor = supervisor
        self.group = group
    }

    /// As an earlier loop had it in hand; what becomes of it is told by the keeper again. isSpawned: for the core.
    init(
        _ kept: KeptApps.Process, _ app: SupervisedApp, _ supervisor: Supervisor, group: ControlGroup?, isSpawned: Bool
    ) {
        instance = InstanceID(rawValue: kept.instance)
        self.app = app
        configuration = app.configuration
        user = UInt32(exactly: kept.user)
        startedAt = kept.startedAt
        self.supervisor = supervisor
        self.group = group
        self.isSpawned = isSpawned
        isAskedToEnd = kept.isAskedToEnd
        killedAt = kept.killedAt == 0 ? nil : kept.killedAt
        heldExit = kept.heldExit
        inherited = kept.delivered
        (delivered, answered) = (kept.delivered, kept.answered)
        (wasSentTerm, wasRestAsked) = (kept.wasSentTerm, kept.wasRestAsked)
    }

    /// The next loop is to know it so.
    func wasChanged() { supervisor.keptState?.note(process: instance.rawValue) }

    var mainPID: Int32? {
        if let foreignMain { return foreignMain.pid }
        return child?.isOver == false ? child?.pid : nil
    }
    var cpuNanoseconds: Int64? { group?.cpuNanoseconds ?? ownCPU }
    var memoryBytes: Int64? { group?.memoryBytes }

    /// Asks for its start; what becomes of that is an event.
    func start(_ request: SpawnRequest) throws(SpawnError) {
        child = try supervisor.keeper.start(request) { [unowned(unsafe) self] in hear($0) }
    }

    private func hear(_ word: KeptProcess.Word) {
        switch word {
        case .running(let lacks):
            isHeard()
            wasChanged()
            supervisor.note(lacks, app)
        case .failed(let error): didFail(error)
        case .ended(let end): childDidEnd(end)
        case .endedUnseen: foreignMain == nil ? mainDidEnd(.unknown) : checkCleared()
        case .unknown: foreignMain == nil ? mainDidEnd(supervisor.lostEnd) : checkCleared()
        }
    }

    /// After an earlier loop. started: as that knew it.
    func claim(_ child: Int64, _ started: KnownProcess) {
        self.child = supervisor.keeper.claim(child, started, hasGroup: group != nil) { [unowned(unsafe) self] in
            hear($0)
        }
    }

    /// What one of its processes does or says is proof that its program runs, and may come before the keeper's word.
    func isHeard() {
        if isSpawned { return }
        isSpawned = true
        supervisor.dispatch(.process(.spawned(instance)))
    }

    private func didFail(_ error: SpawnError) {
        if isClearing { return checkCleared() }
        isSpawned = true
        forget()
        supervisor.dispatch(.process(.spawnFailed(instance, code: error.errno.rawValue, explanation: error.text)))
    }

    func deliver(_ call: CallID, _ handler: HandlerCall, allowance: Nanoseconds) {
        if handler.handler == .willTerminate { isAskedToEnd = true }
        delegate?.deliver(call, handler, allowance: allowance)
        // At once: should the loop die before that is known, the app is called a second time.
        if call.rawValue > delivered.rawValue { delivered = call }
        supervisor.keptState?.flush()
    }

    /// The answer to it is about to be read.
    func isAnswering(_ call: CallID) { answered = call }
    func isNotAnswered() { answered = CallID(rawValue: 0) }

    func inform(_ information: Information) { delegate?.inform(information) }

    // MARK: The main process

    private func childDidEnd(_ end: ProcessExit) {
        ownCPU = end.cpuNanoseconds
        if foreignMain != nil { return checkCleared() }
        mainDidEnd(ExitStatus(end))
    }

    func mainDidEnd(_ status: ExitStatus) {
        if !holdsExit(status) { tellOfEnd(status) }
    }

    func tellOfEnd(_ status: ExitStatus) {
        // A hook of ours is nothing that it has left.
        if status == .exited(0), delegate?.isBusyWithoutMain != true { noteLeftBehind() }
        delegate?.close()
        if status == .signalled(SIGKILL), let killer = memoryKiller {
            supervisor.dispatch(.memory(.killed(instance, by: killer)))
        }
        memorySource = nil
        memoryEvents = nil
        supervisor.dispatch(.process(.exited(instance, status)))
        checkCleared()
    }

    /// What goes to the background by itself looks like a program that has done its work.
    private func noteLeftBehind() {
        guard supervisor.core.view(of: app.id)?.taskState == .running, let group,
            (try? look(at: group))??.populated == true
        else { return }
        supervisor.log.app(
            app.name, .warning,
            "its main process has ended and left others behind, which are ended too; if it puts itself into the "
                + "background, give it its option to stay (often -f, -n, -D or --no-daemon)")
    }

    func signal(_ number: Int32) {
        do throws(SystemError) {
            if let foreignMain {
                try foreignMain.handle?.signal(number)
            } else {
                try child?.signal(number)
            }
        } catch {
            if error.errno != .noProcess { supervisor.log.app(app.name, .warning, error.text) }
        }
    }

    // MARK: The end

    func terminate() {
        isAskedToEnd = true
        wasSentTerm = true
        if heldExit == nil { return signal(SIGTERM) }
        // A hook may have been the last of it.
        checkRest()
        if heldExit != nil { askRest() }
    }

    func kill() {
        killedAt = killedAt ?? Clocks.monotonic
        delegate?.close()
        do throws(SystemError) {
            try group?.kill()
        } catch {
            if error.errno != .again { supervisor.log.app(app.name, .error, error.text) }
        }
        abortFUSE()
        // Without a group, and for a group that failed us or that it is not in yet.
        try? child?.signal(SIGKILL)
        if foreignMain != nil { signal(SIGKILL) }
        tellOfHeldExit()
    }

    /// The main process is gone, or its start was given up: nothing of the instance may stay.
    func clear() {
        delegate?.close()
        isClearing = true
        heldExit = nil
        wish = .none
        endGroup()
    }

    private func endGroup() {
        do throws(SystemError) {
            if let group, try look(at: group)?.populated == true {
                try group.kill()
                abortFUSE()
                try watchEvents()
            }
        } catch {
            return tryLater(error)
        }
        checkCleared()
    }

    /// Where there is no group, it is the main process that is waited for. One that is still to be started is not gone.
    private func checkCleared() {
        guard isClearing, child == nil || child?.pid != nil || child?.isOver == true else { return }
        if let group {
            do throws(SystemError) {
                if try look(at: group)?.populated == true { return }
            } catch {
                return tryLater(error)
            }
        } else if child?.isOver == false {
            return
        }
        isClearing = false
        forget()
        removeIPC()
        supervisor.dispatch(.process(.groupEmptied(instance)))
    }

    /// Nothing is left of it.
    private func forget() {
        delegate?.close()
        app.output?.close(instance)
        stopWatching()
        do throws(SystemError) {
            try group?.remove()
        } catch {
            supervisor.log.app(app.name, .warning, error.text)
        }
        foreignMain = nil
        // Its end may not have been heard yet.
        child?.hear = nil
        retry = nil
        if app.process === self {
            app.process = nil
            app.statusText = nil
            app.forgetRemovedHook()
        }
        supervisor.discard(self)
        supervisor.interfaces?.resumeAccepting()
    }

    // MARK: The group

    func freeze() {
        guard group != nil else { return }
        wish = .frozen
        if !supervisor.appLocks.deferFreezing(of: self) { freezeNow() }
    }

    /// If it is still to be frozen.
    func freezeNow() {
        guard let group, wish == .frozen else { return }
        do throws(SystemError) {
            try group.freeze()
            // Most often it is done by now.
            if try look(at: group)?.frozen == true { return didFreeze() }
            try watchEvents()
        } catch {
            // The core bounds the time that this may take.
            tryLater(error)
        }
    }

    func thaw() {
        guard let group else { return }
        wish = .thawed
        do throws(SystemError) {
            try group.thaw()
            forgetWish()
        } catch {
            return tryLater(error)
        }
        if !isClearing, heldExit == nil { stopWatching() }
    }

    private func didFreeze() {
        forgetWish()
        if heldExit == nil { stopWatching() }
        supervisor.dispatch(.process(.frozen(instance)))
    }

    /// What cgroup.events says now; nil where the group is gone.
    func look(at group: ControlGroup) throws(SystemError) -> ControlGroupState? {
        do throws(SystemError) {
            if events == nil { events = try group.openEvents() }
            return try events?.read()
        } catch {
            if error.errno == .noEntry { return nil }
            throw error
        }
    }

    /// To be called after a look: what changes from then on is heard. It costs nothing the rest of the time.
    func watchEvents() throws(SystemError) {
        guard eventsSource == nil, let events else { return }
        eventsSource = try supervisor.loop.watch(events.descriptor, .priority) { [unowned(unsafe) self] _ in
            do throws(SystemError) {
                let state = try events.read()
                // Thawed meanwhile, and refused: that is tried again.
                if !isClearing, wish == .frozen, state?.frozen == true { didFreeze() }
            } catch {
                supervisor.log.app(app.name, .error, error.text)
            }
            checkRest()
            checkCleared()
        }
    }

    func stopWatching() {
        eventsSource = nil
        events = nil
    }

    /// Asks again for what the kernel has refused or not said, with all descriptors taken, say.
    private func tryLater(_ error: SystemError) {
        let isBusy = error.errno == .again
        if !isBusy, retryDelay == Self.firstRetry { supervisor.log.app(app.name, .error, error.text + "; tried again") }
        do throws(SystemError) {
            if retry == nil { retry = try supervisor.loop.timer { [unowned(unsafe) self] in tryAgain() } }
            retry?.arm(at: Clocks.monotonic + retryDelay)
            if !isBusy { retryDelay = min(2 * retryDelay, 10_000_000_000) }
        } catch {
            supervisor.log.app(app.name, .error, error.text)
        }
    }

    private func forgetWish() {
        wish = .none
        retryDelay = Self.firstRetry
        retry?.disarm()
    }

    private func tryAgain() {
        if isClearing { return endGroup() }
        switch wish {
        case .none: break
        case .frozen: freeze()
        case .thawed: thaw()
        }
    }
}
