/// What an app's background tasks have in all, until it becomes active again. Outlives the instance.
struct TaskPool: Equatable {
    private(set) var size: Nanoseconds
    /// As of when it last stopped running.
    private(set) var left: Nanoseconds
    /// What low power mode has taken of it.
    private(set) var cutOff = Nanoseconds.zero

    init(_ size: Nanoseconds) {
        self.size = size
        left = size
    }

    /// It has stopped running.
    mutating func stop(_ left: Nanoseconds) { self.left = left }

    /// No more than this from here.
    mutating func cut(to budget: Nanoseconds) {
        let cut = max(left - budget, .zero)
        left = left - cut
        cutOff = cutOff + cut
    }

    /// What it has come to when nothing is left of it.
    var spent: Nanoseconds { size - cutOff }

    /// How long before its end the expiration handlers are called.
    var lead: Nanoseconds { size < .seconds(50) ? size / 10 : .seconds(5) }

    mutating func archive(_ archive: inout StateArchive) {
        archive.value(1, &size)
        archive.value(2, &left)
        archive.value(3, &cutOff)
    }
}
