internal import Lifecycle

/// What is on its way to the daemon, and does not come, comes late, or comes twice.
extension SimulatedBoard {
    /// Whether it is not passed on now.
    func isWithheld(_ event: Event) -> Bool {
        guard isRough, !plan.isOver, let answer = AnswerKind(event) else { return false }
        if answer == .spawn, plan.strikes(.spawnUnanswered, &hardRandom) {
            say("lost: \(event.text(directory))")
            return true
        }
        if plan.strikes(.answersLate, &hardRandom) {
            schedule(.answer(event), after: hardRandom.magnitude(.milliseconds(5), answer.patience))
            return true
        }
        if plan.strikes(.answersDoubled, &hardRandom) {
            schedule(.answer(event), after: hardRandom.magnitude(.microseconds(1), .seconds(3)))
        }
        return false
    }
}

/// What the daemon has asked for, and waits for.
private enum AnswerKind {
    case spawn, end, freezer, reading, login

    init?(_ event: Event) {
        switch event {
        case .process(.spawned), .process(.spawnFailed): self = .spawn
        case .process(.exited), .process(.groupEmptied): self = .end
        case .process(.frozen): self = .freezer
        case .memory(.read): self = .reading
        case .login(.suspendRefused), .login(.powerOffRefused): self = .login
        default: return nil
        }
    }

    var patience: Nanoseconds {
        switch self {
        case .spawn: .seconds(60)
        case .end, .freezer, .login: .seconds(8)
        case .reading: .seconds(20)
        }
    }
}
