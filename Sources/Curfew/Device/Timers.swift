internal import SystemCalls

/// What is to be done later, by CLOCK_MONOTONIC in nanoseconds. There are few at a time.
final class Timers {
    typealias Identifier = Int

    private struct Entry {
        let identifier: Identifier
        let time: Int64
        let action: () -> Void
    }

    private var entries: [Entry] = []
    private var count = 0

    var next: Int64? { entries.map(\.time).min() }

    @discardableResult
    func after(_ nanoseconds: Int64, _ action: @escaping () -> Void) -> Identifier {
        count += 1
        let (time, isOver) = Clocks.monotonic.addingReportingOverflow(max(0, nanoseconds))
        entries.append(Entry(identifier: count, time: isOver ? .max : time, action: action))
        return count
    }

    func cancel(_ identifier: Identifier) {
        entries.removeAll { $0.identifier == identifier }
    }

    func fire(at now: Int64) {
        let due = entries.filter { $0.time <= now }
        entries.removeAll { $0.time <= now }
        for entry in due { entry.action() }
    }
}
