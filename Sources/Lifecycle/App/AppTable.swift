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

    private struct Change {
        var index = 0
        var app = App(policy: AppPolicy(name: ""))

        mutating func archive(_ archive: inout StateArchive) {
            archive.value(1, &index)
            archive.group(2) { app.archive(&$0) }
        }
    }

    /// The same of those that have changed alone; reading, in the place of what was read before.
    mutating func archiveChanges(_ archive: inout StateArchive) {
        var changes: [Change] = []
        if !archive.isReading { changes = takeChanges().map { Change(index: $0, app: all[$0]) } }
        archive.list(3, &changes, Change()) { $1.archive(&$0) }
        guard archive.isReading else { return }
        for change in changes.sorted(by: { $0.index < $1.index }) {
            if all.indices.contains(change.index) {
                all[change.index] = change.app
            } else if change.index == all.count {
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
