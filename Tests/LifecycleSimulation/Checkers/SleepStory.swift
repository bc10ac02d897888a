internal import Lifecycle

/// Where the board stands between being awake and asleep, as the core has said by its notices.
struct SleepStory {
    enum Stage { case awake, preparing, asleep, dark }

    private(set) var stage = Stage.awake
    /// Before the step at hand.
    private(set) var former = Stage.awake
    /// Said in the step at hand.
    private(set) var hasBegun = false
    private(set) var hasEnded = false
    private(set) var hasDarkened = false
    /// The kernel has nothing to do with it, as far as has been heard.
    private(set) var isLogical = false
    private(set) var announced = Instant(monotonic: .zero, boottime: .zero)
    private(set) var released = Instant(monotonic: .zero, boottime: .zero)
    /// MONOTONIC: when the board was said to be awake last.
    private(set) var awakeSince = Nanoseconds.zero

    mutating func hear() {
        former = stage
        hasBegun = false
        hasEnded = false
        hasDarkened = false
    }

    /// Who announces a sleep of the kernel's joins a logical one, and makes it one.
    mutating func hear(_ event: Event, _ scene: Scene) {
        hear()
        if scene.announcesRealSleep { isLogical = false }
    }

    mutating func see(_ effect: Effect, _ scene: Scene) {
        guard case .note(let notice) = effect else { return }
        switch notice {
        case .sleep(.preparing):
            stage = .preparing
            isLogical = !scene.saysRealSleep
            hasBegun = true
            announced = scene.step.at
        case .sleep(.released):
            stage = .asleep
            released = scene.step.at
        case .sleep(.ended):
            stage = .awake
            hasEnded = true
            awakeSince = scene.now
        case .sleep(.darkWake):
            stage = .dark
            hasDarkened = true
        default: break
        }
    }
}
