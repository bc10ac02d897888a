internal import LifecycleSimulation

/// An app of the board: how it is configured, and how it behaves.
struct AppPlan {
    enum Delegate: String {
        case varlink, hooks, signals, none
    }

    enum Answer: Equatable {
        case prompt
        /// Nanoseconds.
        case slow(Int64)
        case never
        case error
        case garbage
        case hangUp
    }

    let name: String
    var delegate = Delegate.varlink
    var notifies = false
    var acknowledges = true
    /// Seconds; nil: no liveness.
    var liveness: Int64?
    var restart = "on-failure"
    var isSuspendable = true
    var isManual = false
    // Its temper.
    var answers: [Answer] = [.prompt]
    var launchTime: Int64 = 50_000_000
    /// nil: it does not heed SIGTERM.
    var exitTime: Int64? = 20_000_000
    /// It ends by itself after about so long; nil: it does not.
    var life: Int64?
    var children = 0
    /// Per mille of its calls that find it stuck in the kernel for a while.
    var stuck = 0
    var doesTasks = false
    var pings = true
    /// Says more with sd_notify(3) than that it is ready.
    var says = false
    var attaches = false

    static func make(_ number: Int, _ random: inout SeededGenerator) -> AppPlan {
        var plan = AppPlan(name: "app\(number)")
        plan.delegate = random.pick([.varlink, .varlink, .hooks, .signals, .none])
        plan.notifies = random.chance(perMille: 400)
        plan.acknowledges = random.chance(perMille: 700)
        if random.chance(perMille: 250) { plan.liveness = 10 }
        plan.restart = random.pick(["always", "on-failure", "never"])
        plan.isSuspendable = random.chance(perMille: 850)
        plan.isManual = random.chance(perMille: 200)
        let tempers: [[Answer]] = [
            [.prompt], [.prompt], [.prompt], [.prompt, .slow(2_000_000_000)], [.slow(300_000_000)],
            [.prompt, .prompt, .prompt, .never], [.prompt, .error], [.prompt, .prompt, .garbage],
            [.prompt, .prompt, .hangUp],
        ]
        plan.answers = random.pick(tempers)
        plan.launchTime = random.pick([1_000_000, 200_000_000, 3_000_000_000, 30_000_000_000])
        plan.exitTime = random.pick([1_000_000, 20_000_000, 900_000_000, nil])
        if random.chance(perMille: 300) { plan.life = random.pick([300_000_000, 5_000_000_000, 40_000_000_000]) }
        if random.chance(perMille: 300) { plan.children = 1 + random.below(3) }
        if random.chance(perMille: 200) { plan.stuck = 50 }
        plan.doesTasks = random.chance(perMille: 500)
        plan.says = random.chance(perMille: 300)
        plan.attaches = plan.delegate == .varlink && random.chance(perMille: 200)
        plan.pings = random.chance(perMille: 900)
        return plan
    }

    /// Its file.
    var configuration: String {
        var text = "exec = [\"/bin/app\", \"\(name)\"]\ndelegate = \"\(delegate.rawValue)\"\nrestart = \"\(restart)\"\n"
        text += "priority-band = 100\n"
        if notifies { text += "readiness = \"notify\"\n" }
        if let liveness { text += "liveness = \"\(liveness)s\"\n" }
        if !isSuspendable { text += "suspend = false\n" }
        if isManual { text += "launch = \"manual\"\n" }
        if delegate == .hooks {
            text += "[hooks]\ndid-enter-background = [\"/bin/hook\", \"\(name)\"]\n"
            text += "did-become-active = [\"/bin/hook\", \"\(name)\"]\nwill-terminate = [\"/bin/hook\", \"\(name)\"]\n"
        }
        if delegate == .signals {
            text += "[signals]\n" + (acknowledges ? "" : "acknowledge = false\n")
            text += "did-enter-background = \"SIGUSR1\"\ndid-become-active = \"SIGUSR2\"\n"
        }
        return text
    }
}
