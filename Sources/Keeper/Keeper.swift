internal import CLinux
internal import Journal
public import ProcessControl
public import SystemCalls

/// The main process of curfewd: parent of everything that is started, and of the loop, which is all the rest of the
/// daemon. It starts programs for the loop and tells it how they end, passes on signals and messages to the service
/// manager, and starts the loop again when a signal has ended it.
///
/// It reads nothing that an app or a user sends, and waits for nothing but its own events, and between two loops for
/// the end of what the dead one had started: a program that hangs before exec holds up no other.
public final class Keeper {
    /// Packets that are read in one turn, and ends that are looked at: an app may leave us orphans without end.
    static let burst = 16

    /// What apps do without end may not keep the daemon from its turn: it has little to do, and soon.
    private static let priority: Int32 = -10

    private let epoll: FileDescriptor
    private let signals: FileDescriptor
    let packet: UnsafeMutableRawBufferPointer
    let notifier = ServiceNotifier()
    /// What is kept is there too, for a keeper after this one.
    let store: DescriptorStore
    /// Of programs for which no other is asked.
    let usualNice: Int32
    var children = Children()
    var kept = KeptDescriptors()
    var orphans = OrphanEnds()
    var loop = LoopProcess()
    /// An answer did not fit into the loop's socket: all that is to be told waits until there is room.
    var isLoopSlow = false
    /// Others may have ended that were not looked at.
    var hasMoreEnds = false
    private var pace = SignalPace()
    /// Ends and stops that were found.
    private var found = 0
    /// Once: it could be said as often as processes are made.
    private var saidTrace = false
    /// Signals that the loop was not told yet.
    var orders: [Int32] = []
    /// What is known of starts that it has claimed and that are over: not told yet.
    var answers: [keeper_word] = []
    var isStopping = false
    var upgrade = Upgrade()
    /// The loop is dead, and its last packets are being read.
    var readsLastWords = false

    private init() throws(SystemError) {
        let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SystemError("epoll_create1") }
        self.epoll = FileDescriptor(owning: epoll)
        let signals = linux_take_signals()
        guard signals >= 0 else { throw SystemError("signalfd") }
        self.signals = FileDescriptor(owning: signals)
        usualNice = linux_take_priority(Self.priority)
        packet = .allocate(byteCount: Int(KEEPER_MAX_PACKET), alignment: 8)
        store = DescriptorStore(address: notifier.address)
        // Orphans of the apps end here, not with init: how they end can be known.
        linux_become_subreaper()
        linux_take_own_proc()
        // The service manager awaits its signs of life of us, by the loop.
        if let pid = getenv("WATCHDOG_PID"), Int32(String(cString: pid)) == getpid() { unsetenv("WATCHDOG_PID") }
        try watch(signals, Mark.signals, EPOLLIN)
        _ = linux_lock_memory()
        let stored = DescriptorStore.take()
        if let handover = try Handover.find() {
            takeOver(handover)
        } else {
            takeStored(stored)
        }
        for place in children.places {
            if let gate = children.gate(of: place) { try watch(gate, UInt64(place), nil) }
            if let pidfd = children.foreign(at: place) { try watch(pidfd, UInt64(place), EPOLLIN) }
        }
    }

    /// What this version leaves to another, and can take over from one, has that meaning.
    public static var handoverMeaning: Int64 { Handover.meaning }

    deinit {
        children.closeGates()
        packet.deallocate()
    }

    /// Becomes the keeper, and runs `body` in a child, again after each death by a signal. Returns in both: in the
    /// loop what `body` has returned, in the keeper the loop's exit status. body: gets the loop's end of the socket,
    /// what it comes after, and what the loop before had the keeper keep.
    public static func run(
        _ body: (consuming FileDescriptor, LoopBefore, consuming KeptDescriptors) -> Int32
    ) throws(SystemError) -> Int32 {
        switch try live() {
        case .left(let status): return status
        case .loop(let end, let before, let kept):
            // An open one keeps a dead app's /tmp.
            linux_close_all_namespaces()
            return body(FileDescriptor(owning: end), before, kept)
        }
    }

    private enum Life {
        /// In the keeper.
        case left(status: Int32)
        /// In the loop's process, where nothing of the keeper is left.
        case loop(end: Int32, before: LoopBefore, kept: KeptDescriptors)
    }

    private var before: LoopBefore {
        LoopBefore(signal: loop.lastEnd, upgrade: upgrade.outcome, program: upgrade.program)
    }

    private static func live() throws(SystemError) -> Life {
        let keeper = try Keeper()
        while true {
            if !keeper.loop.isThere, keeper.isStopping, !keeper.loop.startsForStop() {
                keeper.endAbandoned()
                keeper.emptyStore()
                return .left(status: 1)
            }
            if let end = try keeper.loop.startIfDue() {
                return .loop(end: end, before: keeper.before, kept: keeper.kept)
            }
            if keeper.loop.isNew {
                try keeper.watchLoop()
                keeper.tellOrders()
            }
            if let status = keeper.turn() {
                keeper.emptyStore()
                return .left(status: status)
            }
        }
    }

    // MARK: Descriptors

    /// What an event is of: a child's gate by its place, or one of these.
    enum Mark {
        static let signals = UInt64.max
        static let loop = UInt64.max - 1
    }

    func watch(_ descriptor: Int32, _ mark: UInt64, _ interest: EPOLL_EVENTS?) throws(SystemError) {
        try control(EPOLL_CTL_ADD, descriptor, mark, interest?.rawValue ?? 0)
    }

    private func watchLoop() throws(SystemError) {
        loop.isNew = false
        try watch(loop.socket, Mark.loop, EPOLLIN)
    }

    /// A thread that looks for locks may have a copy, which would keep it watched.
    func closeLoopSocket() {
        if loop.socket >= 0 { try? control(EPOLL_CTL_DEL, loop.socket, 0, 0) }
        loop.closeSocket()
    }

    func control(_ operation: Int32, _ descriptor: Int32, _ mark: UInt64, _ interest: UInt32)
        throws(SystemError)
    {
        var event = epoll_event()
        event.events = interest
        event.data.u64 = mark
        if epoll_ctl(epoll.rawValue, operation, descriptor, &event) != 0 { throw SystemError("epoll_ctl") }
    }

    // MARK: Turns

    /// For epoll_wait(2).
    private var millisecondsLeft: Int32 {
        let all = [
            loop.millisecondsToStart, loop.millisecondsToReady, upgrade.millisecondsLeft, store.millisecondsLeft,
            foreignMillisecondsLeft, pace.millisecondsLeft(at: Clocks.monotonic),
        ]
        return all.filter { $0 >= 0 }.min() ?? -1
    }

    /// One wait, and what there is to do after it. The exit status, once the loop has left.
    private func turn() -> Int32? {
        var event = epoll_event()
        let count = epoll_wait(epoll.rawValue, &event, 1, hasMoreEnds ? 0 : millisecondsLeft)
        if upgrade.judge(), loop.isThere { kill(loop.pid, SIGKILL) }
        if store.isBehind { store.flush() }
        if loop.isNotReadyInTime() { kept.dropLocks() }
        endOverdueForeign()
        if pace.isOver(at: Clocks.monotonic) {
            try? control(EPOLL_CTL_MOD, signals.rawValue, Mark.signals, EPOLLIN.rawValue)
        }
        if hasMoreEnds, let status = collectEnds() { return status }
        guard count == 1 else { return nil }
        switch event.data.u64 {
        case Mark.signals: return takeSignals()
        case Mark.loop: return hearLoop(event.events)
        default: hearChild(Int(event.data.u64), hasHungUp: event.events & EPOLLHUP.rawValue != 0)
        }
        return nil
    }

    private func hearLoop(_ events: UInt32) -> Int32? {
        if events & EPOLLOUT.rawValue != 0, isLoopSlow, let status = hurryOn() { return status }
        // It may have been reaped since the event: then all that it had to say is heard.
        guard loop.socket >= 0 else { return nil }
        if events & EPOLLHUP.rawValue != 0 { readsLastWords = true }
        if events & (EPOLLIN.rawValue | EPOLLHUP.rawValue) != 0 { takePackets() }
        return nil
    }

    private func takeSignals() -> Int32? {
        let before = found
        var hasOrder = false
        defer {
            if pace.rests(isUseful: hasOrder || found != before, at: Clocks.monotonic) {
                try? control(EPOLL_CTL_MOD, signals.rawValue, Mark.signals, 0)
            }
        }
        var info = signalfd_siginfo()
        while read(signals.rawValue, &info, MemoryLayout<signalfd_siginfo>.size) > 0 {
            let signal = Int32(bitPattern: info.ssi_signo)
            if signal == SIGCHLD { continue }
            if signal != SIGHUP { isStopping = true }
            orders.append(signal)
            hasOrder = true
        }
        // First of all the end of the loop itself: it hears nothing any more.
        if let status = collectEnds() { return status }
        if loop.isThere, !isLoopSlow { tellOrders() }
        return nil
    }

    // MARK: Ends

    /// The loop reads again, or has ended. The exit status, once it has left.
    private func hurryOn() -> Int32? {
        isLoopSlow = false
        tellOrders()
        if isLoopSlow { return nil }
        for place in children.places where !tellAll(of: place) { return nil }
        tellAnswers()
        if isLoopSlow { return nil }
        tellOrphanEnds()
        if isLoopSlow { return nil }
        try? control(EPOLL_CTL_MOD, loop.socket, Mark.loop, EPOLLIN.rawValue)
        return collectEnds()
    }

    /// Reaps what has ended, each after the loop could be told: until then its pid is its own.
    private func collectEnds() -> Int32? {
        hasMoreEnds = false
        var end = linux_exit()
        // Even of one that reads nothing any more.
        if loop.isThere, linux_peek_end(loop.pid, &end) == loop.pid { return loopEnded(end) }
        for _ in 0..<Self.burst where !isLoopSlow {
            let pid = linux_peek_end(0, &end)
            guard pid > 0 else { return nil }
            found += 1
            if !linux_is_end(end.code) {
                endTrace(pid, end)
                continue
            }
            // It may have ended since it was looked for.
            if pid == loop.pid { return loopEnded(end) }
            if let place = children.place(of: pid) {
                hearOutcome(of: place)
                children.noteEnd(of: place)
                guard tellAll(of: place) else { return nil }
                if let word = children.end(of: place, end), !tell(word) { return nil }
                children.forget(place)
            } else {
                orphans.add(pid, end)
            }
            // Never waited for: what was seen is still there, or it is not ours.
            waitpid(pid, nil, WNOHANG)
        }
        hasMoreEnds = !isLoopSlow
        return nil
    }

    /// A child has us trace it, and is stopped. Once a main process goes on as if it had not; one that does it again,
    /// and what an app has left us, would keep us from all other ends.
    private func endTrace(_ pid: Int32, _ stop: linux_exit) {
        let kills = children.place(of: pid).map { !children.mayEndTrace(of: $0) } ?? true
        if kills, !saidTrace {
            saidTrace = true
            Self.say("processes of an app, \(pid) the first, have themselves traced by curfewd, and are killed for it")
        }
        linux_end_trace(pid, linux_signal_of_stop(stop.status), kills)
    }

    private func loopEnded(_ end: linux_exit) -> Int32? {
        waitpid(loop.pid, nil, WNOHANG)
        // Its last words to the service manager, and what was to be taken away.
        readsLastWords = true
        while takePackets() {}
        readsLastWords = false
        isLoopSlow = false
        closeLoopSocket()
        linux_forget_lock_holders()
        orphans.loopEnded()
        loop.ended(end)
        answers = []
        // The next loop says with which of them it goes on.
        children.abandon()
        // What it would hold up waits for a loop, and that is not at once.
        if loop.isDelayed { kept.dropLocks() }
        if upgrade.isWanted {
            if isStopping { upgrade.failed("curfewd stops") } else { becomeNext() }
            loop.startsAtOnce()
            orders = isStopping ? [SIGTERM] : []
            return collectEnds()
        }
        let isOrderly = end.code == linux_code_exited && isStopping
        if upgrade.isOnTrial, !isOrderly { goBack(upgrade.failure ?? Self.account(of: end)) }
        if end.code == linux_code_exited {
            endAbandoned()
            return end.status
        }
        // The next one reads its files anyway, and has to stop what runs.
        orders = isStopping ? [SIGTERM] : []
        Self.say("signal \(end.status) has ended the loop; it is started again")
        return collectEnds()
    }

    /// What no loop has claimed does not run on beside what is started: nothing may run twice.
    func endAbandoned() {
        for place in children.places where children.isAbandoned(place) { hearOutcome(of: place) }
        children.endAbandoned()
        // Where some are claimed, it is not known whose an orphan is.
        if !children.hasClaimed, !children.killOrphans(but: loop.pid) {
            Self.say("what an app had started cannot be ended; it may run beside the next")
        }
    }

    private static func account(of end: linux_exit) -> String {
        end.code == linux_code_exited
            ? "its loop exited with status \(end.status)" : "signal \(end.status) ended its loop"
    }

    /// It has no log.
    static func say(_ text: String) {
        let line = "curfewd: " + text + "\n"
        _ = line.utf8.withContiguousStorageIfAvailable { write(2, $0.baseAddress, $0.count) }
    }
}
