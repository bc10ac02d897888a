/// The apps, by AppID. Which of them may have changed is noted with each access that could change one, so that a step
/// costs no more to write down than what it has changed.
struct AppTable: RandomAccessCollection, MutableCollection, Sendable {
    private var all: [App] = []
    /// Since `takeChanges`; each once.
    private var changed: [Int] = []
    private var isChanged: [Bool] = []

    var startIndex: Int { 0 }
    var endIndex: Int { all.count }

    subscript(index: Int) -> App {
        // No `_read`: Swift 6.3 frees with it what a copy of a part still has.
        @inline(__always) get { all[index] }
        @inline(__always) _modify {
            if !isChanged[index] { note(index) }
            yield &all[index]
        }
    }

    @inline(never)
    private mutating func note(_ index: Int) {
        isChanged[index] = true
        changed.append(index)
    }

    mutating func append(_ app: App) {
        all.append(app)
        isChanged.append(false)
        note(all.count - 1)
    }

    /// In the order in which they were changed first.
    mutating func takeChanges() -> [Int] {
        for index in changed { isChanged[index] = false }
        defer { changed.removeAll(keepingCapacity: true) }
        return changed
    }

    // MARK: The archive

    mutating func archive(_ archive: inout StateArchive) {
        archive.list(3, &all, App(policy: AppPolicy(name: ""))) { $1.archive(&$0) }
        if archive.isReading { isChanged = [Bool](repeating: false, count: all.count) }
    }

    /// The same of those that have changed alone; reading, in the place of what was read before.
    mutating func archiveChanges(_ archive: inout StateArchive) {
        if archive.isReading { return readChanges(&archive) }
        var places = takeChanges()
        archive.list(3, &places, 0) { archive, place in
            var hasPolicy = !all[place].hasWrittenPolicy.value
            all[place].hasWrittenPolicy.value = true
            archive.value(1, &place)
            archive.value(2, &hasPolicy)
            // Where it lies: to copy it is dearer than to write it down.
            archive.group(3) { all[place].archive(&$0, hasPolicy: hasPolicy) }
        }
    }

    private struct Change {
        var place = 0
        /// Else it is as it was written before.
        var hasPolicy = false
        var app = App(policy: AppPolicy(name: ""))
    }

    private mutating func readChanges(_ archive: inout StateArchive) {
        var changes: [Change] = []
        archive.list(3, &changes, Change()) { archive, change in
            archive.value(1, &change.place)
            archive.value(2, &change.hasPolicy)
            archive.group(3) { change.app.archive(&$0, hasPolicy: change.hasPolicy) }
        }
        // New ones are in the order of their places.
        for change in changes {
            if all.indices.contains(change.place) {
                let policy = change.hasPolicy ? change.app.policy : all[change.place].policy
                all[change.place] = change.app
                all[change.place].policy = policy
            } else if change.place == all.count {
                append(change.app)
            } else {
                return archive.fail()
            }
        }
    }
}

extension AppTable: Equatable {
    static func == (one: AppTable, other: AppTable) -> Bool { one.all == other.all }
}
