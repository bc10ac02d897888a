internal import Lifecycle

/// The shortest story that was found to break a checker's rule.
public struct ShrunkStory: Sendable {
    public let violation: Violation
    /// What is wrong with this board, and what happens, in the words of the core's own tests.
    public let lines: [String]
    /// How many boards were played for it.
    public let runs: Int
}

/// Looks for the shortest story that breaks the same checker as a seed does: one thing after the other is left out of
/// the board, in growing detail, for as long as the checker still objects and the story does not grow.
///
/// What is left out are causes: faults, apps, what people, conditions and apps' own wishes bring about. What follows
/// from them is played anew each time, so that each story is one that a board can tell, and checkers that know the
/// board's truth are right. (Events that are taken from what the core hears would make boards that cannot be: a lock
/// that is held and was never granted.) Whatever stays has the chance it had in the first run: see `Recollection`.
///
/// The same seed gives the same story, unless time runs out.
///
/// effort: how many transitions are played for it, about.
public func shrink(
    seed: UInt64, limits: SimulationLimits = SimulationLimits(), checker: CheckerName, effort: Int = 1_000_000,
    interposer: @escaping () -> (any CoreInterposer)? = { nil }, isOutOfTime: @escaping () -> Bool = { false }
) -> ShrunkStory? {
    Shrinker(
        seed: seed, limits: limits, checker: checker, effort: effort, interposer: interposer, isOutOfTime: isOutOfTime
    ).story()
}

final class Shrinker {
    private struct Best {
        var reduction: Reduction
        var length: Int
        var faults: [Fault]
        var happenings: [String]
        var apps: [String]
    }

    private let seed: UInt64
    private let limits: SimulationLimits
    private let checker: CheckerName
    private let interposer: () -> (any CoreInterposer)?
    private let isOutOfTime: () -> Bool
    private let recollection = Recollection()
    private var effort: Int
    private var runs = 0
    private var best: Best?

    init(
        seed: UInt64, limits: SimulationLimits, checker: CheckerName, effort: Int,
        interposer: @escaping () -> (any CoreInterposer)?, isOutOfTime: @escaping () -> Bool
    ) {
        self.seed = seed
        self.limits = limits
        self.checker = checker
        self.effort = effort
        self.interposer = interposer
        self.isOutOfTime = isOutOfTime
    }

    func story() -> ShrunkStory? {
        guard attempt(Reduction()) else { return nil }
        var length = Int.max
        while let best, best.length < length, !isOver {
            length = best.length
            leaveOut(\.faults) { $0.faults += $1 }
            leaveOut(\.apps) { $0.apps += $1 }
            leaveOut(\.happenings) { $0.happenings.formUnion($1) }
            leaveOut({ $0.apps.filter { !$0.isEmpty } }, { $0.plainApps += $1 })
            attemptChange { $0.hasPlainDevice = true }
            cutSteps()
        }
        return best.flatMap { told($0) }
    }

    private var isOver: Bool { effort <= 0 || isOutOfTime() }

    private func play(_ reduction: Reduction, keepsTrace: Bool = false) -> SimulatedBoard {
        var limits = limits
        limits.keepsTrace = keepsTrace
        let board = SimulatedBoard(
            seed: seed, limits: limits, interposer: interposer(), only: [checker], reduction: reduction,
            recollection: recollection)
        board.run()
        runs += 1
        effort -= board.steps
        return board
    }

    /// Whether the board still breaks the rule, with a story that is no longer: then it is the best one.
    @discardableResult
    private func attempt(_ reduction: Reduction) -> Bool {
        let board = play(reduction)
        guard board.inspection.violation != nil, board.storyLength <= best?.length ?? .max else { return false }
        best = Best(
            reduction: reduction, length: board.storyLength, faults: board.plan.active,
            happenings: recollection.spontaneous.filter { !reduction.happenings.contains($0) },
            apps: board.configuration.map(\.name).filter { !reduction.plainApps.contains($0) })
        return true
    }

    @discardableResult
    private func attemptChange(_ change: (inout Reduction) -> Void) -> Bool {
        guard var reduction = best?.reduction, !isOver else { return false }
        change(&reduction)
        return attempt(reduction)
    }

    /// Large parts first, then smaller ones, down to single things.
    private func leaveOut<Thing>(_ list: (Best) -> [Thing], _ take: (inout Reduction, [Thing]) -> Void) {
        guard let best else { return }
        var things = list(best)
        var size = max(things.count, 1)
        while size > 0, !isOver {
            var start = 0
            while start < things.count, !isOver {
                let end = min(start + size, things.count)
                if attemptChange({ take(&$0, Array(things[start..<end])) }) {
                    things.removeSubrange(start..<end)
                } else {
                    start = end
                }
            }
            size /= 2
        }
    }

    private func leaveOut<Thing>(_ list: KeyPath<Best, [Thing]>, _ take: (inout Reduction, [Thing]) -> Void) {
        leaveOut({ $0[keyPath: list] }, take)
    }

    /// The board is left in peace sooner.
    private func cutSteps() {
        var steps = best?.reduction.steps ?? limits.steps
        var cut = steps / 2
        while cut > 0, !isOver {
            if attemptChange({ $0.steps = steps - cut }) { steps -= cut } else { cut /= 2 }
            cut = min(cut, steps - 1)
        }
    }

    private func told(_ best: Best) -> ShrunkStory? {
        let board = play(best.reduction, keepsTrace: true)
        guard let violation = board.inspection.violation else { return nil }
        return ShrunkStory(violation: violation, lines: board.trace.story(board.directory), runs: runs)
    }
}
