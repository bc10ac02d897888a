public import Lifecycle

/// How far one seed goes.
public struct SimulationLimits: Sendable {
    /// Transitions of the core until the board is left in peace.
    public var steps = 400
    /// Virtual MONOTONIC time until then.
    public var duration = Nanoseconds.seconds(1200)
    /// How long the board then has to settle.
    public var settling = Nanoseconds.seconds(900)
    /// How often the state might be written down and read back, out of 1000 steps; one such occasion in `archiveShare`
    /// is taken.
    public var archivePerMille = 40
    public var archiveShare = 10
    /// Keeps the whole trace, not only its tail.
    public var keepsTrace = false
    /// Keeps a recording for `curfew replay`.
    public var records = false
    /// The board has conditions, and they do not leave it in peace.
    public var storms = true
    /// Every checker is called for everything, whatever it says that it wants: slower, and never different.
    public var tellsAll = false
    /// Half of the boards are rough: questions are not answered, sensors go blank, the daemon dies.
    public var hardships = true
    /// More faults at once, and those that disturb most more often: finds what is rare, and plays other boards than the
    /// same seed does without.
    public var isDense = false

    public init() {}
}

/// What one seed came to.
public struct SimulationOutcome: Sendable {
    public let seed: UInt64
    public let steps: Int
    public let virtualTime: Nanoseconds
    public let violation: Violation?
    /// What happened, or the last of it, one line an event or effect.
    public let trace: [String]
    /// Empty: none was wanted.
    public let recording: [UInt8]
}

/// Stands between board and core to break it on purpose: checkers that do not notice are not worth having.
public protocol CoreInterposer: AnyObject {
    /// What the core hears in place of an event; nil: nothing.
    func event(_ event: Event, at instant: Instant) -> Event?
    /// What the board is asked for in place of what the core wants.
    func effects(_ effects: [Effect], after event: Event, at instant: Instant, _ core: DeviceLifecycle) -> [Effect]
    /// What is read back of a core that was written down.
    func reread(_ core: DeviceLifecycle) -> DeviceLifecycle?
}

extension CoreInterposer {
    public func event(_ event: Event, at instant: Instant) -> Event? { event }
    public func effects(
        _ effects: [Effect], after event: Event, at instant: Instant, _ core: DeviceLifecycle
    ) -> [Effect] { effects }
    public func reread(_ core: DeviceLifecycle) -> DeviceLifecycle? { DeviceLifecycle(archive: core.archived()) }
}

/// Runs one seed to its end, or to the first violation. The same arguments always give the same outcome.
///
/// only: the checkers that look; nil for all.
public func simulate(
    seed: UInt64, limits: SimulationLimits = SimulationLimits(), interposer: (any CoreInterposer)? = nil,
    only: Set<CheckerName>? = nil
) -> SimulationOutcome {
    let board = SimulatedBoard(seed: seed, limits: limits, interposer: interposer, only: only)
    let start = board.monotonic
    board.run()
    let violation = board.inspection.violation
    let wantsTrace = violation != nil || limits.keepsTrace
    return SimulationOutcome(
        seed: seed, steps: board.steps, virtualTime: board.monotonic - start, violation: violation,
        trace: wantsTrace ? board.trace.lines(board.directory) : [], recording: board.recording?.bytes ?? [])
}
