public import SystemCalls

/// What became of the groups that an earlier daemon had left behind.
public struct Leftovers: Equatable, Sendable {
    /// Instances that were ended and removed.
    public let ended: [String]
    /// Those of them in which nothing ran any more: they had ended by themselves.
    public let empty: [String]
    /// Instances that are still there, each with what is known about it: "camera.3: dd[4711] (state D)".
    public let remaining: [String]

    public init(ended: [String], empty: [String], remaining: [String]) {
        (self.ended, self.empty, self.remaining) = (ended, empty, remaining)
    }
}

extension ControlGroupRoot {
    /// Ends what a dead predecessor left running here, so that there are never two copies of an app: kills each
    /// instance's group, waits until it is empty, removes it. Blocks for at most `bound` nanoseconds in all: for the
    /// daemon's start, before its loop runs and before anything is launched. didKill: is called where there were
    /// any, before they are waited for. kept: instances that are left alone.
    public func endLeftovers(
        keeping kept: [String] = [], bound: Int64 = 2_000_000_000, didKill: () -> Void = {}
    ) throws(SystemError) -> Leftovers {
        let deadline = Clocks.monotonic + bound
        let groups = try instances().filter { !kept.contains($0) }.compactMap { open($0) }
        let empty = groups.filter { (try? $0.state())?.populated == false }.map { $0.name }
        // All get their signal before the first is waited for.
        for group in groups { try? group.kill() }
        if !groups.isEmpty { didKill() }
        var ended: [String] = []
        var remaining: [String] = []
        for group in groups {
            do throws(SystemError) {
                let events = try group.openEvents()
                if try events.wait(until: deadline, { !$0.populated }) {
                    try group.remove()
                    ended.append(group.name)
                } else {
                    let names = group.unfrozenProcesses().map { $0.text }
                    remaining.append(
                        "\(group.name): " + (names.isEmpty ? "still running" : names.joined(separator: ", ")))
                }
            } catch {
                if error.errno == .noEntry {
                    ended.append(group.name)
                } else {
                    remaining.append("\(group.name): \(error.text)")
                }
            }
        }
        return Leftovers(ended: ended, empty: empty, remaining: remaining)
    }
}
