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
    private static let burst = 16

    private let epoll: FileDescriptor
    private let signals: FileDescriptor
    private let packet: UnsafeMutableRawBufferPointer
    private let notifier = ServiceNotifier()
    private var children = Children()
    private var kept = KeptDescriptors()
    private var orphans = OrphanEnds()
    private var loop = LoopProcess()
    /// An answer did not fit into the loop's socket: all that is to be told waits until there is room.
    private var isLoopSlow = false
    /// Others may have ended that were not looked at.
    private var hasMoreEnds = false
    /// Signals that the loop was not told yet.
    private var orders: [Int32] = []
    /// What is known of starts that it has claimed and that are over: not told yet.
    private var answers: [keeper_word] = []
    private var isStopping = false
    /// The loop is dead, and its last packets are being read.
    private var readsLastWords = false

    private init() throws(SystemError) {
        let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SystemError("epoll_create1") }
        self.epoll = FileDescriptor(owning: epoll)
        let signals = linux_take_signals()
        guard signals >= 0 else { throw SystemError("signalfd") }
        self.signals = FileDescriptor(owning: signals)
        packet = .allocate(byteCount: Int(KEEPER_MAX_PACKET), alignment: 8)
        // Orphans of the apps end here, not with init: how they end can be known.
        linux_become_subreaper()
        // The service manager awaits its signs of life of us, by the loop.
        if let pid = getenv("WATCHDOG_PID"), Int32(String(cString: pid)) == getpid() { unsetenv("WATCHDOG_PID") }
        try watch(signals, Mark.signals, EPOLLIN)
        _ = linux_lock_memory()
    }

    deinit {
        children.closeGates()
        packet.deallocate()
    }

    /// Becomes the keeper, and runs `body` in a child, again after each death by a signal. Returns in both: in the
    /// loop what `body` has returned, in the keeper the loop's exit status. body: gets the loop's end of the socket,
    /// the signal that ended the loop before it, and what that loop had the keeper keep.
    public static func run(
        _ body: (consuming FileDescriptor, _ lastEnd: Int32?, consuming KeptDescriptors) -> Int32
    ) throws(SystemError) -> Int32 {
        switch try live() {
        case .left(let status): return status
        case .loop(let end, let lastEnd, let kept):
            // An open one keeps a dead app's /tmp.
            linux_close_all_namespaces()
            return body(FileDescriptor(owning: end), lastEnd, kept)
        }
    }

    private enum Life {
        /// In the keeper.
        case left(status: Int32)
        /// In the loop's process, where nothing of the keeper is left.
        case loop(end: Int32, lastEnd: Int32?, kept: KeptDescriptors)
    }

    private static func live() throws(SystemError) -> Life {
        let keeper = try Keeper()
        while true {
            if !keeper.loop.isThere, keeper.isStopping, !keeper.loop.startsForStop() {
                keeper.endAbandoned()
                return .left(status: 1)
            }
            if let end = try keeper.loop.startIfDue() {
                return .loop(end: end, lastEnd: keeper.loop.lastEnd, kept: keeper.kept)
            }
            if keeper.loop.isNew {
                try keeper.watchLoop()
                keeper.tellOrders()
            }
            if let status = keeper.turn() { return .left(status: status) }
        }
    }

    // MARK: Descriptors

    /// What an event is of: a child's gate by its place, or one of these.
    enum Mark {
        static let signals = UInt64.max
        static let loop = UInt64.max - 1
    }

    private func watch(_ descriptor: Int32, _ mark: UInt64, _ interest: EPOLL_EVENTS?) throws(SystemError) {
        try control(EPOLL_CTL_ADD, descriptor, mark, interest?.rawValue ?? 0)
    }

    private func watchLoop() throws(SystemError) {
        loop.isNew = false
        try watch(loop.socket, Mark.loop, EPOLLIN)
    }

    /// A thread that looks for locks may have a copy, which would keep it watched.
    private func closeLoopSocket() {
        if loop.socket >= 0 { try? control(EPOLL_CTL_DEL, loop.socket, 0, 0) }
        loop.closeSocket()
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ mark: UInt64, _ interest: UInt32)
        throws(SystemError)
    {
        var event = epoll_event()
        event.events = interest
        event.data.u64 = mark
        if epoll_ctl(epoll.rawValue, operation, descriptor, &event) != 0 { throw SystemError("epoll_ctl") }
    }

    // MARK: Turns

    /// One wait, and what there is to do after it. The exit status, once the loop has left.
    private func turn() -> Int32? {
        var event = epoll_event()
        let count = epoll_wait(epoll.rawValue, &event, 1, hasMoreEnds ? 0 : loop.millisecondsToStart)
        if hasMoreEnds, let status = collectEnds() { return status }
        guard count == 1 else { return nil }
        switch event.data.u64 {
        case Mark.signals: return takeSignals()
        case Mark.loop: return hearLoop(event.events)
        default: if event.events & EPOLLHUP.rawValue != 0 { gateHungUp(Int(event.data.u64)) }
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
        var info = signalfd_siginfo()
        while read(signals.rawValue, &info, MemoryLayout<signalfd_siginfo>.size) > 0 {
            let signal = Int32(bitPattern: info.ssi_signo)
            if signal == SIGCHLD { continue }
            if signal != SIGHUP { isStopping = true }
            orders.append(signal)
        }
        // First of all the end of the loop itself: it hears nothing any more.
        if let status = collectEnds() { return status }
        if loop.isThere, !isLoopSlow { tellOrders() }
        return nil
    }

    // MARK: The loop's word

    /// Some of its packets. False when there are no more.
    @discardableResult
    private func takePackets() -> Bool {
        for _ in 0..<Self.burst {
            var descriptors = [Int32](repeating: -1, count: Int(KEEPER_MAX_DESCRIPTORS))
            var count = descriptors.count
            var isLost = false
            let length = linux_packet_receive(
                loop.socket, packet.baseAddress, packet.count, &descriptors, &count, &isLost, false)
            // Reset: it has died with words of ours unread; its own come after that.
            if length < 0, Errno.current == .interrupted || Errno.current == .connectionReset { continue }
            guard length > 0 else {
                // What has become of the loop is SIGCHLD's to say.
                if length == 0 { closeLoopSocket() }
                return false
            }
            take(UnsafeMutableRawBufferPointer(rebasing: packet[..<length]), isLost ? nil : descriptors[..<count])
            for descriptor in descriptors[..<count] { close(descriptor) }
        }
        return true
    }

    /// descriptors: nil: there was no room for them.
    private func take(_ bytes: UnsafeMutableRawBufferPointer, _ descriptors: ArraySlice<Int32>?) {
        guard let base = bytes.baseAddress, bytes.count >= MemoryLayout<keeper_signal>.size else { return }
        let word = base.load(as: keeper_signal.self)
        switch Int(word.kind) {
        // What it would have started is not to run.
        case KEEPER_START where readsLastWords: break
        case KEEPER_START: start(word.id, bytes, descriptors)
        case KEEPER_SIGNAL: children.signal(word.id, word.signal)
        case KEEPER_NOTIFY: notifier.notify(Self.text(bytes))
        case KEEPER_REMOVE_IPC: linux_remove_ipc(uid_t(truncatingIfNeeded: word.id))
        case KEEPER_ABORT_FUSE: linux_abort_fuse(uid_t(truncatingIfNeeded: word.id))
        case KEEPER_ABORT_AWAITED_FUSE:
            let users = base.load(as: keeper_users.self)
            linux_abort_awaited_fuse(uid_t(truncatingIfNeeded: users.first), users.count)
        case KEEPER_FIND_LOCK_HOLDERS:
            let lock = base.load(as: keeper_lock.self)
            let directory = String(decoding: bytes[MemoryLayout<keeper_lock>.size...], as: UTF8.self)
            linux_find_lock_holders(loop.socket, lock.user, lock.pid, directory)
        case KEEPER_HOW_ENDED:
            guard bytes.count >= MemoryLayout<keeper_question>.size else { return }
            orphans.ask(base.load(as: keeper_question.self))
            if !isLoopSlow { tellOrphanEnds() }
        case KEEPER_KEEP: if let first = descriptors?.first { kept.keep(Self.text(bytes), first) }
        case KEEPER_DROP: kept.drop(Self.text(bytes))
        case KEEPER_CLAIM: claim(word.id)
        case KEEPER_CLAIMED: if children.hasAbandoned { endAbandoned() }
        default: break
        }
    }

    /// What follows the word.
    private static func text(_ bytes: UnsafeMutableRawBufferPointer) -> String {
        String(decoding: bytes[MemoryLayout<keeper_signal>.size...], as: UTF8.self)
    }

    private func claim(_ id: Int64) {
        switch children.claim(id) {
        case .place(let place): if !isLoopSlow { tellAll(of: place) }
        case .over(let word):
            answers.append(word)
            if !isLoopSlow { tellAnswers() }
        }
    }

    private func start(_ id: Int64, _ bytes: UnsafeMutableRawBufferPointer, _ descriptors: ArraySlice<Int32>?) {
        var begun = linux_begun(pid: -1, gate: -1, step: Int32(LINUX_SPAWN_CLONE), error: EMFILE)
        var hasGroup = false
        if let descriptors {
            begun.error = EBADMSG
            _ = ReceivedStart.read(bytes, descriptors) { request, head in
                hasGroup = request.group >= 0
                children.share(head.enter, &request)
                linux_begin_spawn(&request, &begun)
            }
        }
        let place = children.add(id, pid: begun.pid, gate: begun.gate, hasGroup: hasGroup)
        if begun.step == Int32(LINUX_SPAWN_DONE) {
            do throws(SystemError) {
                try watch(begun.gate, UInt64(place), nil)
            } catch {
                // What becomes of it would not be heard.
                kill(begun.pid, SIGKILL)
                children.fail(place, step: Int32(LINUX_SPAWN_CLONE), error: error.errno.rawValue, detail: 0)
            }
        } else {
            children.fail(place, step: begun.step, error: begun.error, detail: 0)
        }
        if !isLoopSlow { tellAll(of: place) }
    }

    // MARK: Our word

    private func gateHungUp(_ place: Int) {
        hearOutcome(of: place)
        if !isLoopSlow { tellAll(of: place) }
    }

    /// Not by its close alone: a child that is just being started has a copy of the gate.
    private func hearOutcome(of place: Int) {
        guard let gate = children.gate(of: place) else { return }
        try? control(EPOLL_CTL_DEL, gate, 0, 0)
        children.hearOutcome(of: place)
    }

    private func tellOrders() {
        while let signal = orders.first {
            var word = keeper_word()
            word.kind = UInt32(KEEPER_ORDER)
            word.detail = signal
            guard tell(word) else { return }
            orders.removeFirst()
        }
    }

    /// All that is known of a child and was not told yet. False where the loop has no room for it.
    @discardableResult
    private func tellAll(of place: Int) -> Bool {
        while let word = children.nextWord(of: place) {
            guard tell(word) else { return false }
            children.told(place)
        }
        return true
    }

    private func tellAnswers() { while let word = answers.first, tell(word) { answers.removeFirst() } }

    private func tellOrphanEnds() { while let word = orphans.nextWord, tell(word) { orphans.told() } }

    private func tell(_ word: keeper_word) -> Bool {
        guard loop.isThere else { return true }
        var word = word
        while linux_packet_send(loop.socket, &word, MemoryLayout<keeper_word>.size, nil, 0) != 0 {
            switch Errno.current {
            case .interrupted: continue
            case .again:
                isLoopSlow = true
                try? control(EPOLL_CTL_MOD, loop.socket, Mark.loop, EPOLLIN.rawValue | EPOLLOUT.rawValue)
                return false
            default: return true
            }
        }
        return true
    }

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

    // MARK: Ends

    /// Reaps what has ended, each after the loop could be told: until then its pid is its own.
    private func collectEnds() -> Int32? {
        hasMoreEnds = false
        var end = linux_exit()
        // Even of one that reads nothing any more.
        if loop.isThere, linux_peek_end(loop.pid, &end) == loop.pid { return loopEnded(end) }
        for _ in 0..<Self.burst where !isLoopSlow {
            let pid = linux_peek_end(0, &end)
            guard pid > 0 else { return nil }
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
            waitpid(pid, nil, 0)
        }
        hasMoreEnds = !isLoopSlow
        return nil
    }

    private func loopEnded(_ end: linux_exit) -> Int32? {
        waitpid(loop.pid, nil, 0)
        // Its last words to the service manager, and what was to be taken away.
        readsLastWords = true
        while takePackets() {}
        readsLastWords = false
        isLoopSlow = false
        closeLoopSocket()
        linux_forget_lock_holders()
        orphans.forgetQuestions()
        loop.ended(end)
        answers = []
        // The next loop says with which of them it goes on.
        children.abandon()
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
    private func endAbandoned() {
        for place in children.places where children.isAbandoned(place) { hearOutcome(of: place) }
        children.endAbandoned()
        // Where some are claimed, it is not known whose an orphan is.
        if !children.hasClaimed, !children.killOrphans(but: loop.pid) {
            Self.say("what an app had started cannot be ended; it may run beside the next")
        }
    }

    /// It has no log.
    static func say(_ text: String) {
        let line = "curfewd: " + text + "\n"
        _ = line.utf8.withContiguousStorageIfAvailable { write(2, $0.baseAddress, $0.count) }
    }
}
