internal import EventLoop
internal import ProcessControl
internal import SystemCalls

/// Children that nothing else waits for, until they are reaped: hooks of apps that have ended, starts that were given
/// up. Left alone, they would stay zombies for as long as the daemon runs.
final class StrayChildren {
    /// Nanoseconds between two looks at a child whose end the loop cannot hear.
    private static let pause: Int64 = 1_000_000_000

    private unowned(unsafe) let loop: EventLoop
    private var all: [(child: ChildProcess, source: IOSource?)] = []
    var isEmpty: Bool { all.isEmpty }
    private var sweep: TimerSource?

    init(_ loop: EventLoop) { self.loop = loop }

    func take(_ child: ChildProcess) {
        let source = try? loop.watch(child.descriptor, .readable) { [unowned(unsafe) self] _ in collect() }
        all.append((child, source))
        if source == nil { sweepLater() }
    }

    private func collect() {
        all.removeAll { stray in
            do throws(SystemError) {
                return try stray.child.reap() != nil
            } catch {
                // Others have reaped it.
                return true
            }
        }
        if all.contains(where: { $0.source == nil }) { sweepLater() }
    }

    private func sweepLater() {
        if sweep == nil { sweep = try? loop.timer { [unowned(unsafe) self] in collect() } }
        sweep?.arm(at: Clocks.monotonic + Self.pause)
    }
}
