/// A value that follows what is wanted at once, but turns back only after `window`: what bounces or hovers at a
/// threshold changes it at most once in that time, and its last word is never lost. Below 0 it is unknown. When a
/// reading first counts as a condition is decided before, in `Conditions`.
struct Debounced: Equatable {
    private(set) var value: Int
    var wanted: Int
    /// MONOTONIC, of the last change.
    private var changedAt = Nanoseconds.zero
    /// 1: that was a rise; -1: a fall; 0: it never changed.
    private var direction = 0

    init(_ value: Int) {
        self.value = value
        wanted = value
    }

    /// Takes the value over that is wanted, if it may; whether it did.
    mutating func settle(at now: Nanoseconds, _ window: Nanoseconds) -> Bool {
        guard let due = due(window), due <= now else { return false }
        // The first known value is no change of direction.
        direction = value < 0 ? 0 : wanted > value ? 1 : -1
        value = wanted
        changedAt = now
        return true
    }

    /// When it will change, if nothing else is heard.
    func due(_ window: Nanoseconds) -> Nanoseconds? {
        if wanted == value { return nil }
        return direction == (wanted > value ? -1 : 1) ? changedAt + window : changedAt
    }

    mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &value)
        archive.value(2, &wanted)
        archive.value(3, &changedAt)
        archive.value(4, &direction)
    }
}
