internal import Lifecycle

/// What a board is spared of all that its seed has for it.
struct Reduction {
    /// Switched off. What was drawn for them is drawn all the same.
    var faults: [Fault] = []
    /// Things that do not happen, as `Recollection` names them.
    var happenings: Set<String> = []
    /// Apps that are not there.
    var apps: [String] = []
    /// Apps whose policy is the usual one.
    var plainApps: [String] = []
    var hasPlainDevice = false
    /// Transitions until the board is left in peace; nil: as many as in any run.
    var steps: Int?
}

/// What chance there was in a run, thing by thing: where some things are left out in another run, the rest of them find
/// the chance that they had before, and stay as they were.
final class Recollection {
    struct Chance {
        let random: SeededGenerator
        let dark: SeededGenerator
        let storm: SeededGenerator
        let hard: SeededGenerator
        let life: SeededGenerator
    }

    private var chances: [String: Chance] = [:]
    private var isComplete = false
    private var counts: [String: Int] = [:]
    /// What came by itself in the present run, in order.
    private(set) var spontaneous: [String] = []

    /// A run begins; the first of all is the one that is remembered.
    func begin() {
        isComplete = !chances.isEmpty
        counts = [:]
        spontaneous = []
    }

    /// "operates 3": the third of its kind.
    func name(_ happening: Happening, _ names: AppDirectory) -> String {
        let kind = happening.kind(names)
        let count = (counts[kind] ?? 0) + 1
        counts[kind] = count
        let name = "\(kind) \(count)"
        if happening.isSpontaneous { spontaneous.append(name) }
        return name
    }

    /// The chance that a thing of this name had in the first run; nil: there was none, or this is the first.
    func chance(of name: String, else now: Chance) -> Chance? {
        if isComplete { return chances[name] }
        chances[name] = now
        return nil
    }
}

extension Happening {
    /// It follows from nothing that the daemon, logind or the kernel has done, and may as well not happen.
    var isSpontaneous: Bool {
        switch self {
        case .disturbance, .storm, .hardship: true
        case .board(let move): !move.isAnswer
        case .process(_, let act): act == .urge
        case .deliver, .answer, .timer, .alarm, .loopResumes, .login, .daemonReturns: false
        }
    }

    /// What it is, without what varies from one to the next.
    fileprivate func kind(_ names: AppDirectory) -> String {
        switch self {
        case .deliver(let event): "deliver \(event.kind)"
        case .answer(let event): "answer \(event.kind)"
        case .timer: "timer"
        case .alarm: "alarm"
        case .loopResumes: "loopResumes"
        case .daemonReturns: "daemonReturns"
        case .process(let instance, let act): "\(names.ordinalName(instance)) \(Self.word(act))"
        case .login(let act): "login \(Self.word(act))"
        case .disturbance(let disturbance): "\(disturbance)"
        case .storm(let storm): "storm \(storm)"
        case .hardship(let hardship): "hardship \(hardship)"
        case .board(let move): "board \(Self.word(move))"
        }
    }

    private static func word(_ value: some Equatable) -> String { String("\(value)".prefix { $0 != "(" }) }
}
