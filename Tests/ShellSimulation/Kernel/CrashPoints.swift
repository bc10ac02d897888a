internal import CLinux
internal import PlayedKernel

/// What the loop does that others can see, call by call: it may die before each.
final class CrashPoints {
    /// So many there have been.
    private(set) var count = 0
    /// It dies before the one of this number; 0: it does not.
    var fatal = 0

    /// Before one of the next calls.
    func dieSoon(_ after: Int) { fatal = count + 1 + after }

    /// Returns, or the loop dies here.
    func pass(_ kernel: Kernel, _ call: String) {
        count += 1
        guard count == fatal else { return }
        kernel.judge.note("the loop dies before \(call)")
        Kernel.playing = nil
        Life.end()
    }
}

extension Kernel {
    /// For the calls themselves; nil where it is the world's, not the loop's.
    static func atPoint(_ call: String) -> Kernel? {
        if let playing { playing.points.pass(playing, call) }
        return playing
    }
}
