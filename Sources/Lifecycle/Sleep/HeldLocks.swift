// Locks on sleep that apps hold at logind by themselves: it waits for them after ours is released.

/// The lock of an instance that runs through sleeps.
struct HeldLock: Equatable {
    /// MONOTONIC: when it should have let go; nil: it holds none on the sleep at hand, or has been judged for it.
    private(set) var due: Nanoseconds?

    /// Returns whether that is news.
    mutating func hold(until due: Nanoseconds) -> Bool {
        guard self.due == nil else { return false }
        self.due = due
        return true
    }

    /// Returns whether it was held.
    @discardableResult mutating func release() -> Bool {
        defer { due = nil }
        return due != nil
    }

    mutating func archive(_ archive: inout StateArchive) { archive.optional(1, &due, .zero) { $0.value(1, &$1) } }
}

extension DeviceLifecycle {
    /// One that is frozen in background cannot let go: it is thawed for that and frozen again, which the shell does
    /// when the lock is gone. One that runs through sleeps has as long as a freeze may take.
    mutating func hearHeldLock(_ id: InstanceID) {
        guard sleep.isYetToCome, sleep.isAnnouncedByLogin, !sleep.isDoubtful, let index = index(of: id) else { return }
        if canFreeze, apps[index].policy.suspend { return thawForLock(index) }
        guard apps[index].instance?.isAlive == true, apps[index].lockRecord.last != sleep.age else { return }
        let due = now.monotonic + apps[index].lockRecord.bound(inSleep: sleep.age)
        if apps[index].instance?.heldLock.hold(until: due) == true { touch(index) }
    }

    private mutating func thawForLock(_ index: Int) {
        guard let id = instanceID(index), apps[index].instance?.refreeze(at: now.monotonic) == true else { return }
        emit(.process(.thaw(id)))
        emit(.process(.freeze(id)))
        touch(index)
        touchNeighbours(index)
    }

    mutating func hearLockReleased(_ id: InstanceID) {
        guard let index = index(of: id), apps[index].instance?.heldLock.release() == true else { return }
        touch(index)
    }

    /// It is named, and ended where it has held up sleeps before.
    mutating func judgeHeldLock(_ index: Int) {
        guard let instance = apps[index].instance, instance.isAlive, let due = instance.heldLock.due,
            due <= now.monotonic
        else { return }
        apps[index].instance?.heldLock.release()
        touch(index)
        guard sleep.isYetToCome else { return }
        emit(.note(.app(.keepsLock(AppID(rawValue: index), instance.id))))
        if apps[index].lockRecord.count(sleep.age) { endForSleep(index, .sleepLockHeld) }
    }

    /// Without our lock no app is told of a sleep in time.
    mutating func endForLocks(_ id: InstanceID) {
        guard let index = index(of: id), apps[index].instance?.isAlive == true else { return }
        kill(index, Cause(reason: .lockTableFilled))
    }
}
