/// How soon the keeper looks again after a signal. Any app can have its main process stopped and continued without end,
/// and the kernel tells its parent each time: what leads to nothing, again and again, is looked at less often.
struct SignalPace {
    /// In a row, within the window.
    private static let mostInVain = 16
    /// Nanoseconds.
    private static let window: Int64 = 50_000_000
    private static let rest: Int64 = 20_000_000

    private var vain = 0
    private var since: Int64 = 0
    /// MONOTONIC, in nanoseconds; 0: it does not rest.
    private var until: Int64 = 0

    /// A signal was heard. isUseful: it has led to something. True: none is to be heard for a while.
    mutating func rests(isUseful: Bool, at now: Int64) -> Bool {
        if isUseful || now - since > Self.window { (vain, since) = (0, now) }
        if isUseful { return false }
        vain += 1
        guard vain > Self.mostInVain else { return false }
        until = now + Self.rest
        return true
    }

    /// For epoll_wait(2); -1: it does not rest.
    func millisecondsLeft(at now: Int64) -> Int32 {
        until == 0 ? -1 : Int32(clamping: max(0, (until - now + 999_999) / 1_000_000))
    }

    /// Once, when the rest is over.
    mutating func isOver(at now: Int64) -> Bool {
        guard until != 0, now >= until else { return false }
        // The next in vain begins the next rest.
        (until, vain, since) = (0, Self.mostInVain, now)
        return true
    }
}
