internal import CLinux
internal import SystemCalls

/// What the keeper has started and not reaped, and what of it the loop was not told yet.
struct Children {
    private struct Child {
        var id: Int64
        var pid: Int32
        /// -1 once what became of its start is known.
        var gate: Int32
        var hasGroup: Bool
        var isUsed = true
        /// The loop that asked for it has died.
        var isAbandoned = false
        /// Nothing of it runs: it waits to be reaped.
        var hasEnded = false
        var isStartTold = false
        var isOutcomeTold = false
        /// Known when the gate is closed.
        var step: Int32 = 0
        var error: Int32 = 0
        var detail: Int32 = 0
        /// What it has for itself.
        var namespaces = linux_namespaces(mounts: -1, network: -1, ipc: -1)
    }

    private var all: [Child] = []
    private var firstFree = 0
    /// Without a control group, what an app's processes leave us is known as ours alone.
    private var mayLeaveOrphans = false
    /// What the program that has become us had started: no orphans.
    private let inherited = Self.ours()
    /// Bytes of the kernel's list of them.
    private static let listLimit = 1 << 16
    /// Looks for orphans, 5 ms between two: what is large takes its time to die.
    private static let looks = 200

    var places: Range<Int> { all.indices }

    /// The place stays that of the child until it is forgotten.
    mutating func add(_ id: Int64, pid: Int32, gate: Int32, hasGroup: Bool) -> Int {
        let child = Child(id: id, pid: pid, gate: gate, hasGroup: hasGroup)
        if !hasGroup { mayLeaveOrphans = true }
        while firstFree < all.count, all[firstFree].isUsed { firstFree += 1 }
        firstFree += 1
        if firstFree > all.count { all.append(child) } else { all[firstFree - 1] = child }
        return firstFree - 1
    }

    func place(of pid: Int32) -> Int? { all.firstIndex { $0.isUsed && $0.pid == pid } }

    mutating func forget(_ place: Int) {
        linux_leave_namespaces(&all[place].namespaces)
        all[place].isUsed = false
        firstFree = min(firstFree, place)
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
            if all[place].gate >= 0 { linux_let_go(all[place].gate) }
            return
        }
        all[place].isOutcomeTold = true
        if all[place].pid < 0 { forget(place) }
    }

    func end(of place: Int, _ end: linux_exit) -> keeper_word {
        // While it is not reaped, its session's number is its own.
        if !all[place].hasGroup { linux_kill_session(all[place].pid) }
        var word = keeper_word()
        word.kind = UInt32(KEEPER_ENDED)
        word.id = all[place].id
        word.pid = all[place].pid
        word.code = end.code
        word.status = end.status
        word.cpu_ns = end.cpu_ns
        word.max_rss_bytes = end.max_rss_bytes
        return word
    }

    // MARK: Signals

    func signal(_ id: Int64, _ number: Int32) {
        guard let place = all.firstIndex(where: { $0.isUsed && $0.id == id && !$0.isAbandoned }) else { return }
        send(number, to: all[place])
    }

    /// The loop is dead; what it has started ends with it, and what is left in a control group by the next one.
    mutating func abandon() {
        for place in all.indices where all[place].isUsed {
            all[place].isAbandoned = true
            close(place)
            if all[place].pid > 0 { send(SIGKILL, to: all[place]) } else { forget(place) }
        }
    }

    /// Where there are no control groups: ends what is our child, and was not started by us. The loop has ended, and
    /// what it had started is killed: as long as that dies it may leave us others.
    /// False: there are some still.
    mutating func killOrphans() -> Bool {
        guard mayLeaveOrphans else { return true }
        for _ in 0..<Self.looks {
            var isAny = false
            for pid in Self.ours() where !inherited.contains(pid) {
                let place = place(of: pid)
                if let place, all[place].hasGroup { continue }
                isAny = true
                if place == nil { kill(pid, SIGKILL) }
                if waitpid(pid, nil, WNOHANG) == pid, let place { forget(place) }
            }
            if !isAny { return true }
            poll(nil, 0, 5)
        }
        return false
    }

    /// Our children, by the kernel's list (CONFIG_PROC_CHILDREN).
    private static func ours() -> [Int32] {
        let text = (try? Files.read("/proc/thread-self/children", limit: listLimit)) ?? []
        var digits = text.split(separator: UInt8(ascii: " "))
        // The last may be cut.
        if text.count == listLimit { _ = digits.popLast() }
        return digits.compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
    }

    private func send(_ number: Int32, to child: Child) {
        if number == SIGKILL, !child.hasGroup { linux_kill_session(child.pid) }
        kill(child.pid, number)
    }
}
