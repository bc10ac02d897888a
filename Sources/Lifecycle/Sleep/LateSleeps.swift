/// The last sleeps (`Sleep.age`) that an app has made late, by an end or a freeze that came in time and took long: the
/// next ten wait less for the same.
struct LateSleeps: Equatable {
    /// Its end: long after it was killed, or its main process was gone.
    var end: Int?
    /// Freezing it.
    private(set) var freeze: Int?
    /// The last before that.
    private(set) var freezeBefore: Int?

    mutating func noteFreeze(_ sleep: Int) {
        guard freeze != sleep else { return }
        freezeBefore = freeze
        freeze = sleep
    }

    /// The last before this sleep in which freezing it took long.
    func freeze(before sleep: Int) -> Int? { freeze == sleep ? freezeBefore : freeze }

    mutating func archive(_ archive: inout StateArchive) {
        archive.optional(1, &end, 0) { $0.value(1, &$1) }
        archive.optional(2, &freeze, 0) { $0.value(1, &$1) }
        archive.optional(3, &freezeBefore, 0) { $0.value(1, &$1) }
    }
}

extension DeviceLifecycle {
    /// It should have been gone long ago.
    mutating func noteLateEnd(_ index: Int) {
        guard apps[index].instance?.outlivesKill(at: now.monotonic) == true else { return }
        noteLate(index) { $0.end = $1 }
    }

    /// Within its bound, but so slowly that every sleep would be late by it.
    mutating func noteSlowFreeze(_ index: Int) {
        guard sleep.state == .preparing else { return }
        noteLate(index) { $0.noteFreeze($1) }
    }

    /// What is taken over is a new app each time: all of it has one memory.
    private mutating func noteLate(_ index: Int, _ note: (inout LateSleeps, Int) -> Void) {
        note(&apps[index].late, sleep.age)
        touch(index)
        guard apps[index].isAdopted else { return }
        note(&adoptedLate, sleep.age)
        touchAll()
    }

    /// Whether no sleep waits for its end.
    func endsLate(_ app: App) -> Bool {
        sleep.remembers(app.late.end) || app.isAdopted && sleep.remembers(adoptedLate.end)
    }

    /// Whether a sleep waits no longer than `leastFreezeBound` for it. It is named then, and may freeze later.
    func hasFrozenSlowly(_ app: App) -> Bool {
        func isRemembered(_ late: LateSleeps) -> Bool { sleep.remembers(late.freeze(before: sleep.age)) }
        return sleep.state == .preparing && (isRemembered(app.late) || app.isAdopted && isRemembered(adoptedLate))
    }
}
