internal import CLinux
internal import ProcessControl
internal import SystemCalls

// What a keeper before this one has started, which was killed: the kernel has given it another parent, and it runs on.
// A pidfd shows that it ends; how, the kernel says where its parent has reaped it (Linux 6.15).

extension Children {
    /// So many nanoseconds its parent has for that.
    private static let patience: Int64 = 100_000_000

    /// The place of a process that a dead keeper has started; nil: it is not there any more.
    mutating func adopt(_ claim: keeper_claim) -> Int? {
        guard claim.pid > 0, claim.identity != 0 else { return nil }
        let pidfd = linux_pidfd_open(claim.pid)
        guard pidfd >= 0 else { return nil }
        guard linux_process_identity(claim.pid, pidfd) == claim.identity, ProcessHandle.holdsPid(pidfd) else {
            close(pidfd)
            return nil
        }
        var child = Child(id: claim.id, pid: claim.pid, gate: -1, hasGroup: claim.has_group != 0)
        child.identity = claim.identity
        child.foreign = pidfd
        child.isLetGo = true
        child.step = Int32(LINUX_SPAWN_DONE)
        child.namespaces = linux_namespaces_of(claim.pid, pidfd)
        return add(child)
    }

    /// Its pidfd; nil: the place is not that of such a process.
    func foreign(at place: Int) -> Int32? {
        place < all.count && all[place].isUsed && all[place].foreign >= 0 ? all[place].foreign : nil
    }

    /// Its pidfd has told. The end; nil: its parent has not reaped it, and may say more.
    mutating func foreignEnd(at place: Int, isReaped: Bool, now: Int64 = Clocks.monotonic) -> linux_exit? {
        if all[place].foreignEndDue == 0 { all[place].foreignEndDue = now + Self.patience }
        var end = linux_exit()
        if linux_pidfd_exit(all[place].foreign, &end) { return end }
        return isReaped || now >= all[place].foreignEndDue ? linux_exit() : nil
    }

    /// When the next of them is not waited for any longer (MONOTONIC, in nanoseconds); nil: none has ended.
    var foreignEndDue: (place: Int, at: Int64)? {
        var first: (place: Int, at: Int64)?
        for (place, child) in all.enumerated() where child.isUsed && child.foreignEndDue != 0 {
            if first.map({ child.foreignEndDue < $0.at }) ?? true { first = (place, child.foreignEndDue) }
        }
        return first
    }
}
