internal import Lifecycle

/// How an app goes about background tasks. Fixed for a seed, like its temper.
struct TaskHabits {
    /// Ends few of them.
    var forgets = false
    /// Begins more and more of them in the expiration handler, and at times as many as it can.
    var grabs = false
    /// Ends those of others, those that never were, and its own twice; begins in the name of who is gone.
    var lies = false
    /// Gives them limits of their own, some of them absurd.
    var limits = false
    /// Has processes do them: the end of the process is the task's, whether the app runs or is frozen.
    var delegates = false
    /// Does nothing but what is asked of it: the end of a run.
    var isIdle = true

    static let none = TaskHabits()

    private init() {}

    init(_ plan: FaultPlan, _ random: inout SeededGenerator) {
        forgets = plan.strikes(.appForgetsTasks, &random)
        grabs = plan.strikes(.appGrabsTasks, &random)
        lies = plan.strikes(.appLiesOfTasks, &random)
        limits = plan.strikes(.appLimitsTasks, &random)
        delegates = random.chance(perMille: 400)
        isIdle = random.chance(perMille: 100)
    }

    /// Until it thinks of a task again.
    func pause(_ random: inout SeededGenerator) -> Nanoseconds {
        random.chance(perMille: 200)
            ? random.magnitude(.microseconds(10), .milliseconds(100)) : random.span(.seconds(2), .seconds(90))
    }

    func wish(_ random: inout SeededGenerator) -> TaskParameters {
        var wish = TaskParameters(name: random.pick(["upload", "sync", "save"]))
        wish.keepAwake = random.pick([nil, nil, true, false])
        if limits, random.chance(perMille: 600) {
            wish.timeAllowed = random.pick([
                .zero, Nanoseconds(rawValue: 1), .milliseconds(100), .seconds(2), .seconds(20), .seconds(400), .max,
            ])
        }
        return wish
    }

    /// How long it is at a task; nil: for ever.
    func work(_ random: inout SeededGenerator) -> Nanoseconds? {
        if forgets, random.chance(perMille: 700) { return nil }
        return random.magnitude(.milliseconds(5), .seconds(200))
    }
}
