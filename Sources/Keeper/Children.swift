internal import CLinux
internal import ProcessControl
internal import SystemCalls

/// What the keeper has started and not reaped, and what of it the loop was not told yet.
struct Children {
    struct Child {
        var id: Int64
        var pid: Int32
        /// By which another keeper knows that it is this process; 0: not known.
        var identity: UInt64 = 0
        /// It is no child of ours but of a keeper before us, which was killed: its pidfd; -1: it is ours.
        var foreign: Int32 = -1
        /// MONOTONIC, in nanoseconds: it has ended, and until then its parent may say how; 0: it has not.
        var foreignEndDue: Int64 = 0
        /// -1 once what became of its start is known.
        var gate: Int32
        var hasGroup: Bool
        var isUsed = true
        /// The loop that asked for it has died, and the next one has not claimed it.
        var isAbandoned = false
        /// Nothing of it runs: it waits to be reaped.
        var hasEnded = false
        /// It has had us trace it.
        var wasTraced = false
        var isStartTold = false
        /// Once: a word that it does not read would spoil what it says itself.
        var isLetGo = false
        var isOutcomeTold = false
        /// Known when the gate is closed.
        var step: Int32 = 0
        var error: Int32 = 0
        var detail: Int32 = 0
        /// What it has for itself.
        var namespaces = linux_namespaces(mounts: -1, network: -1, ipc: -1)
    }

    var all: [Child] = []
    private var firstFree = 0
    private var ends = ChildEnds()
    /// Without a control group, what an app's processes leave us is known as ours alone.
    private var mayLeaveOrphans = false
    /// What the program that has become us had started: no orphans.
    private var inherited = Self.ours()
    /// Bytes of the kernel's list of them.
    private static let listLimit = 1 << 16
    /// Looks for orphans, 5 ms between two: what is large takes its time to die.
    private static let looks = 200

    var places: Range<Int> { all.indices }

    /// The place stays that of the child until it is forgotten.
    mutating func add(_ id: Int64, pid: Int32, gate: Int32, hasGroup: Bool) -> Int {
        let identity = pid > 0 ? OrphanEnds.identity(of: pid) ?? 0 : 0
        if !hasGroup { mayLeaveOrphans = true }
        return add(Child(id: id, pid: pid, identity: identity, gate: gate, hasGroup: hasGroup))
    }

    mutating func add(_ child: Child) -> Int {
        while firstFree < all.count, all[firstFree].isUsed { firstFree += 1 }
        firstFree += 1
        if firstFree > all.count { all.append(child) } else { all[firstFree - 1] = child }
        return firstFree - 1
    }

    /// Of a child of ours.
    func place(of pid: Int32) -> Int? { all.firstIndex { $0.isUsed && $0.pid == pid && $0.foreign < 0 } }

    mutating func forget(_ place: Int) {
        linux_leave_namespaces(&all[place].namespaces)
        if all[place].foreign >= 0 { CLinux.close(all[place].foreign) }
        all[place].isUsed = false
        firstFree = min(firstFree, place)
    }

    /// The first time.
    mutating func mayEndTrace(of place: Int) -> Bool {
        defer { all[place].wasTraced = true }
        return !all[place].wasTraced
    }

    // MARK: Its start

    mutating func fail(_ place: Int, step: Int32, error: Int32, detail: Int32) {
        close(place)
        all[place].step = step
        all[place].error = error
        all[place].detail = detail
    }

    /// nil once what became of its start is known.
    func gate(of place: Int) -> Int32? {
        place < all.count && all[place].isUsed && all[place].gate >= 0 ? all[place].gate : nil
    }

    /// Reads what a child has said of its start; its gate has hung up.
    mutating func hearOutcome(of place: Int) {
        var result = linux_spawn_result()
        linux_spawn_outcome(all[place].gate, false, &result)
        if Int(result.step) == LINUX_SPAWN_KILLED {
            var end = linux_exit()
            if linux_peek_end(all[place].pid, &end) > 0, end.code != linux_code_exited { result.detail = end.status }
        }
        fail(place, step: result.step, error: result.error, detail: result.detail)
        all[place].namespaces = result.own
        if Int(result.step) == LINUX_SPAWN_DONE { all[place].detail = Int32(bitPattern: result.missing) }
    }

    /// Has a start share the view of another one, where that one has a view of its own.
    func share(_ id: Int64, _ request: inout linux_spawn_request) {
        guard id != 0, let child = all.first(where: { $0.isUsed && $0.id == id && !$0.isAbandoned }),
            child.namespaces.mounts >= 0
        else { return }
        request.enters = true
        request.enter = child.namespaces
    }

    private mutating func close(_ place: Int) {
        if all[place].gate >= 0 { CLinux.close(all[place].gate) }
        all[place].gate = -1
    }

    mutating func closeGates() {
        for place in all.indices where all[place].isUsed { close(place) }
    }

    /// It has become its program, for all that is known.
    func isRunning(_ place: Int) -> Bool { Int(all[place].step) == LINUX_SPAWN_DONE && !all[place].isAbandoned }

    // MARK: What is told

    /// The next thing to tell; nil: all was told.
    func nextWord(of place: Int) -> keeper_word? {
        let child = all[place]
        guard child.isUsed, !child.isAbandoned else { return nil }
        var word = keeper_word()
        word.id = child.id
        word.pid = child.pid
        if !child.isStartTold, child.pid > 0 {
            word.kind = UInt32(KEEPER_STARTED)
            word.identity = child.identity
        } else if child.gate < 0, !child.isOutcomeTold, isSure(child) {
            word.kind = UInt32(Int(child.step) == LINUX_SPAWN_DONE ? KEEPER_RUNNING : KEEPER_FAILED)
            word.step = child.step
            word.error = child.error
            word.detail = child.detail
        } else {
            return nil
        }
        return word
    }

    /// One that has failed is told of when it is gone: until then its control group is not empty.
    private func isSure(_ child: Child) -> Bool {
        Int(child.step) == LINUX_SPAWN_DONE || child.pid < 0 || child.hasEnded
    }

    mutating func noteEnd(of place: Int) { all[place].hasEnded = true }

    mutating func told(_ place: Int) {
        if !all[place].isStartTold, all[place].pid > 0 {
            all[place].isStartTold = true
            // Not before: nothing that it does may be heard before its pid.
            if all[place].gate >= 0, !all[place].isLetGo { linux_let_go(all[place].gate) }
            all[place].isLetGo = true
            return
        }
        all[place].isOutcomeTold = true
        guard all[place].pid < 0 else { return }
        ends.add(lastWord(of: place, linux_exit()))
        forget(place)
    }

    /// What is told last of one that has ended.
    private func lastWord(of place: Int, _ end: linux_exit) -> keeper_word {
        var word = keeper_word()
        word.kind = UInt32(Int(all[place].step) == LINUX_SPAWN_DONE ? KEEPER_ENDED : KEEPER_FAILED)
        word.step = all[place].step
        word.error = all[place].error
        word.detail = all[place].detail
        word.id = all[place].id
        word.pid = all[place].pid
        word.code = end.code
        word.status = end.status
        word.cpu_ns = end.cpu_ns
        word.max_rss_bytes = end.max_rss_bytes
        return word
    }

    /// It has ended, and is about to be reaped; all before that was told. Returns what is left to tell.
    mutating func end(of place: Int, _ end: linux_exit) -> keeper_word? {
        // While it is not reaped, its session's number is its own.
        if !all[place].hasGroup, all[place].foreign < 0 { linux_kill_session(all[place].pid) }
        let word = lastWord(of: place, end)
        ends.add(word)
        return isRunning(place) ? word : nil
    }

    // MARK: The next loop

    /// It goes on with what an earlier one has asked for. Its place; or what is known of one that is no more.
    enum Claim {
        case place(Int)
        case over(keeper_word)
    }

    mutating func claim(_ id: Int64) -> Claim {
        guard let place = all.firstIndex(where: { $0.isUsed && $0.id == id }) else { return .over(ends.word(of: id)) }
        all[place].isAbandoned = false
        all[place].isStartTold = false
        all[place].isOutcomeTold = false
        return .place(place)
    }

    /// The loop is dead.
    mutating func abandon() {
        for place in all.indices where all[place].isUsed { all[place].isAbandoned = true }
    }

    func isAbandoned(_ place: Int) -> Bool { all[place].isUsed && all[place].isAbandoned }
    /// Whether any is left that no loop has claimed.
    var hasAbandoned: Bool { all.contains { $0.isUsed && $0.isAbandoned } }
    var hasClaimed: Bool { all.contains { $0.isUsed && !$0.isAbandoned } }

    /// No loop goes on with them; what is left in a control group is the next one's to end.
    mutating func endAbandoned() {
        for place in all.indices where all[place].isUsed && all[place].isAbandoned {
            close(place)
            if all[place].pid > 0 { send(SIGKILL, to: all[place]) } else { forget(place) }
        }
    }

    // MARK: The next version

    /// Writes down all of them, for the program that the keeper becomes. Returns what has to stay open for it.
    func leave(_ handover: inout Handover) -> [Int32] {
        var open: [Int32] = []
        for child in all where child.isUsed {
            let own = child.namespaces
            open += [child.gate, own.mounts, own.network, own.ipc, child.foreign].filter { $0 >= 0 }
            handover.add(
                .child,
                [
                    child.id, Int64(child.pid), Int64(child.gate), child.hasGroup ? 1 : 0, child.hasEnded ? 1 : 0,
                    child.isLetGo ? 1 : 0, Int64(child.step), Int64(child.error), Int64(child.detail),
                    Int64(own.mounts), Int64(own.network), Int64(own.ipc), Int64(bitPattern: child.identity),
                    Int64(child.foreign),
                ])
        }
        for word in ends.inOrder { handover.add(.end, word.numbers) }
        handover.add(.inherited, [mayLeaveOrphans ? 1 : 0] + inherited.map { Int64($0) })
        return open
    }

    /// What another program has left, which this process was. The loop before is gone.
    mutating func take(_ handover: Handover) {
        for record in handover.all(.child) {
            var child = Child(id: record[0], pid: record.short(1), gate: record.short(2), hasGroup: record[3] != 0)
            child.isAbandoned = true
            child.hasEnded = record[4] != 0
            child.isLetGo = record[5] != 0
            (child.step, child.error, child.detail) = (record.short(6), record.short(7), record.short(8))
            child.namespaces = linux_namespaces(
                mounts: record.short(9), network: record.short(10), ipc: record.short(11))
            child.identity = UInt64(bitPattern: record[12])
            child.foreign = record.numbers.count > 13 ? record.short(13) : -1
            let own = child.namespaces
            for descriptor in [child.gate, own.mounts, own.network, own.ipc, child.foreign] where descriptor >= 0 {
                _ = linux_keep_over_exec(descriptor, false)
            }
            all.append(child)
        }
        for record in handover.all(.end) { ends.add(keeper_word(record)) }
        guard let inherited = handover.all(.inherited).first else { return }
        mayLeaveOrphans = inherited[0] != 0
        self.inherited = inherited.numbers.dropFirst().map { Int32(truncatingIfNeeded: $0) }
    }

    // MARK: Signals

    func signal(_ id: Int64, _ number: Int32) {
        guard let place = all.firstIndex(where: { $0.isUsed && $0.id == id && !$0.isAbandoned }) else { return }
        send(number, to: all[place])
    }

    /// Where there are no control groups: ends what is our child, and was not started by us. What a dead loop had
    /// started is killed: as long as that dies it may leave us others. loop: the one that lives.
    /// False: there are some still.
    mutating func killOrphans(but loop: Int32) -> Bool {
        guard mayLeaveOrphans else { return true }
        for _ in 0..<Self.looks {
            var isAny = false
            for pid in Self.ours() where pid != loop && !inherited.contains(pid) {
                let place = place(of: pid)
                if let place, all[place].hasGroup { continue }
                isAny = true
                if place == nil { kill(pid, SIGKILL) }
                var end = linux_exit()
                guard linux_peek_end(pid, &end) == pid else { continue }
                if waitpid(pid, nil, WNOHANG) == pid, let place { forget(place) }
            }
            if !isAny { return true }
            poll(nil, 0, 5)
        }
        return false
    }

    /// Our children, by the kernel's list (CONFIG_PROC_CHILDREN).
    private static func ours() -> [Int32] {
        let own = getpid()
        let text = (try? Files.read("/proc/\(own)/task/\(own)/children", limit: listLimit)) ?? []
        var digits = text.split(separator: UInt8(ascii: " "))
        // The last may be cut.
        if text.count == listLimit { _ = digits.popLast() }
        return digits.compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
    }

    private func send(_ number: Int32, to child: Child) {
        if child.foreign >= 0 {
            let isThere = ProcessHandle.holdsPid(child.foreign)
            if number == SIGKILL, !child.hasGroup, isThere { linux_kill_session(child.pid) }
            _ = linux_pidfd_send_signal(child.foreign, number)
            return
        }
        if number == SIGKILL, !child.hasGroup { linux_kill_session(child.pid) }
        kill(child.pid, number)
    }
}
