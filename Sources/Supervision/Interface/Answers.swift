internal import Lifecycle
internal import Varlink

/// The calls that the core answers, at once or when a transition is complete.
final class Answers {
    private unowned(unsafe) let supervisor: Supervisor
    /// By RequestID.
    private var waiting: [Int64: (request: Request, answer: (Request, RequestOutcome) -> Void)] = [:]
    private var lastRequest: Int64 = 0

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    /// Puts what is asked before the core. answer: called with its outcome, if its client still waits for it then.
    func submit(
        _ request: Request, _ asked: ClientRequest,
        answer: @escaping (Request, RequestOutcome) -> Void
    ) {
        let id = nextID()
        if request.isAlive {
            waiting[id.rawValue] = (request, answer)
            request.onCancelled = { [unowned(unsafe) self] in
                waiting[id.rawValue] = nil
                supervisor.dispatch(.client(.abandoned(id)))
            }
        }
        supervisor.dispatch(.client(.requested(id, asked)))
        // Who asked for no answer may ask as often as there is room in its socket.
        if request.oneway, waiting.removeValue(forKey: id.rawValue) != nil {
            request.onCancelled = nil
            supervisor.dispatch(.client(.abandoned(id)))
        }
    }

    /// What the shell itself asks, which waits for no outcome.
    func submit(_ asked: ClientRequest) { supervisor.dispatch(.client(.requested(nextID(), asked))) }

    func answer(_ id: RequestID, _ outcome: RequestOutcome) {
        guard let (request, answer) = waiting.removeValue(forKey: id.rawValue) else { return }
        request.onCancelled = nil
        answer(request, outcome)
    }

    private func nextID() -> RequestID {
        lastRequest += 1
        return RequestID(rawValue: lastRequest)
    }
}
