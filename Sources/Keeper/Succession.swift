internal import CLinux
internal import Journal
internal import ProcessControl
internal import SystemCalls

// A keeper after one that was killed: the service manager has kept what that one had kept, and the processes run on.

extension Keeper {
    /// For a service manager that is slow to read, in nanoseconds.
    private static let lastPatience: Int64 = 1_000_000_000

    // MARK: The store

    /// At the start. What it has no state for is of no use to a loop.
    func takeStored(_ stored: [(name: String, descriptor: Int32)]) {
        kept = KeptDescriptors(stored)
        if kept.has(KeptDescriptors.state) { loop.followsKilled() }
    }

    func keep(_ name: String, _ descriptor: Int32) {
        drop(name)
        kept.keep(name, descriptor)
        // Locks of logind's hold the board up, and nothing is to do that while no curfewd runs.
        if kept.has(name), !name.utf8.starts(with: LockBox.names.utf8) { store.put(name, descriptor) }
    }

    func drop(_ name: String) {
        if kept.has(name) { store.remove(name) }
        kept.drop(name)
    }

    /// This end was in order: the next start is a new one.
    func emptyStore() {
        for (name, _) in kept.list { store.remove(name) }
        let end = Clocks.monotonic + Self.lastPatience
        while store.isBehind, Clocks.monotonic < end {
            poll(nil, 0, store.millisecondsLeft)
            store.flush()
        }
    }

    // MARK: Children of the one before

    /// Whether it runs.
    func adopt(_ claim: keeper_claim) -> Bool {
        guard let place = children.adopt(claim), let pidfd = children.foreign(at: place) else { return false }
        do throws(SystemError) {
            try watch(pidfd, UInt64(place), EPOLLIN)
        } catch {
            children.forget(place)
            return false
        }
        if !isLoopSlow { tellAll(of: place) }
        return true
    }

    func hearChild(_ place: Int, hasHungUp: Bool) {
        guard let pidfd = children.foreign(at: place) else {
            if hasHungUp { gateHungUp(place) }
            return
        }
        if let end = children.foreignEnd(at: place, isReaped: hasHungUp) {
            endForeign(place, end)
        } else {
            // It hangs up when it is reaped.
            try? control(EPOLL_CTL_MOD, pidfd, UInt64(place), 0)
        }
    }

    /// Where the loop has no room for that, it is due as soon as it reads again.
    private func endForeign(_ place: Int, _ end: linux_exit) {
        if let pidfd = children.foreign(at: place) { try? control(EPOLL_CTL_DEL, pidfd, 0, 0) }
        children.noteEnd(of: place)
        guard !isLoopSlow, tellAll(of: place) else { return }
        if let word = children.end(of: place, end), !tell(word) { return }
        children.forget(place)
    }

    func endOverdueForeign() {
        while !isLoopSlow, let next = children.foreignEndDue, next.at <= Clocks.monotonic {
            let end = children.foreignEnd(at: next.place, isReaped: true) ?? linux_exit()
            endForeign(next.place, end)
        }
    }

    var foreignMillisecondsLeft: Int32 {
        guard !isLoopSlow, let next = children.foreignEndDue else { return -1 }
        return Int32(clamping: max(0, (next.at - Clocks.monotonic + 999_999) / 1_000_000))
    }
}
