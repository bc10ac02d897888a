internal import SystemCalls
internal import Varlink

/// Calls io.curfew.Application, over a connection that is made when it is needed and made again when it was lost.
///
/// A call waits for the device as long as its patience lasts. What happens to it when the connection is lost on the way
/// depends on what it asks for: see `Kind`.
final class ApplicationClient {
    typealias Outcome = Result<JSONObject, CurfewError>

    enum Kind {
        /// Changes nothing, or the same whenever it is done: it is asked again.
        case question
        /// It may have been done, and is not asked again. When the grant comes after all the task is ended.
        case begin
        /// It is asked until the device answers, though the caller does not wait so long.
        case end
    }

    private final class Pending {
        let call: Call
        let kind: Kind
        var answer: ((Outcome) -> Void)?
        var patience: Timers.Identifier?

        init(_ call: Call, _ kind: Kind, _ answer: ((Outcome) -> Void)?) {
            self.call = call
            self.kind = kind
            self.answer = answer
        }
    }

    /// The device reads no more than 64 unanswered calls; more would only fill the connection's queue.
    private static let window = 32
    private static let busy = "it is there, but takes too long"

    private let path: String
    private let timers: Timers
    private(set) var connection: Connection?
    private var unsent: [Pending] = []
    private var sent: [Pending] = []
    private var backoff = Backoff()
    private var retry: Timers.Identifier?
    private var trouble = ApplicationClient.busy

    init(path: String, _ timers: Timers) {
        self.path = path
        self.timers = timers
    }

    /// Asks; `answer` is called once, at the latest when the patience (nanoseconds) is at its end.
    func submit(_ call: Call, _ kind: Kind, patience: Int64, _ answer: @escaping (Outcome) -> Void) {
        let pending = Pending(call, kind, answer)
        pending.patience = timers.after(patience) { [self] in giveUp(pending) }
        unsent.append(pending)
        sendUnsent()
    }

    func close() {
        connection?.onClosed = nil
        connection?.close()
        connection = nil
        let left = sent + unsent
        sent = []
        unsent = []
        for pending in left { complete(pending, .failure(.connectionLost("this app no longer talks to it"))) }
    }

    private func sendUnsent() {
        guard !unsent.isEmpty, retry == nil else { return }
        guard let connection = connection ?? connect() else { return }
        while sent.count < Self.window, let pending = unsent.first {
            let isSent = connection.call(pending.call) { [self] response in didAnswer(pending, response) }
            // It is about to be closed: `didLose` has the rest done.
            guard isSent else { return }
            unsent.removeFirst()
            sent.append(pending)
        }
    }

    private func connect() -> Connection? {
        do throws(SystemError) {
            let made = Connection(owning: try DeviceLink.connect(path), role: .client)
            made.onClosed = { [self] _, reason in didLose(reason) }
            connection = made
            trouble = Self.busy
            return made
        } catch {
            trouble = error.text
            tryLater()
            return nil
        }
    }

    private func tryLater() {
        retry = timers.after(backoff.next()) { [self] in
            retry = nil
            sendUnsent()
        }
    }

    private func didLose(_ reason: CloseReason) {
        trouble = reason.text
        connection = nil
        let lost = sent
        sent = []
        unsent = lost.filter { $0.kind != .begin } + unsent
        for pending in lost where pending.kind == .begin {
            complete(pending, .failure(.connectionLost("it was lost before the answer came: \(reason.text)")))
        }
        if !unsent.isEmpty, retry == nil { tryLater() }
    }

    private func didAnswer(_ pending: Pending, _ response: Response) {
        let outcome: Outcome
        switch response {
        case .reply(let parameters, _): outcome = .success(parameters)
        case .error(let name, let parameters): outcome = .failure(CurfewError(name, parameters))
        // `didLose` has seen to it.
        case .connectionClosed: return
        }
        backoff.reset()
        sent.removeAll { $0 === pending }
        if pending.kind == .begin, pending.answer == nil { endUnwanted(outcome) }
        complete(pending, outcome)
        sendUnsent()
    }

    private func complete(_ pending: Pending, _ outcome: Outcome) {
        if let patience = pending.patience { timers.cancel(patience) }
        pending.patience = nil
        let answer = pending.answer
        pending.answer = nil
        answer?(outcome)
    }

    private func giveUp(_ pending: Pending) {
        if pending.kind != .end { unsent.removeAll { $0 === pending } }
        complete(pending, .failure(.connectionLost(trouble)))
    }

    /// The caller waits for this task no more, and would not end it.
    private func endUnwanted(_ outcome: Outcome) {
        guard case .success(let parameters) = outcome, let identifier = parameters["identifier"] else { return }
        unsent.append(Pending(ApplicationClient.end(identifier), .end, nil))
    }

    static func end(_ identifier: JSON) -> Call {
        Call("io.curfew.Application.EndBackgroundTask", ["identifier": identifier])
    }
}
