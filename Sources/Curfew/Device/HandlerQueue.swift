internal import Varlink

/// The device's calls in their order, one handler at a time. Of each kind of information one waits at the most: the
/// latest.
final class HandlerQueue {
    typealias Handle = @Sendable (HandlerCall) async -> HandlerOutcome

    private struct Entry {
        let call: HandlerCall
        let request: Request
    }

    private let thread: DeviceThread
    private let handle: Handle
    private var waiting: [Entry] = []
    private var running: Request?

    init(_ thread: DeviceThread, _ handle: @escaping Handle) {
        self.thread = thread
        self.handle = handle
    }

    /// A call whose parameters fit the interface.
    func take(_ request: Request) {
        guard let call = HandlerCall(request.method, request.parameters) else {
            return request.fail(.methodNotImplemented(method: request.method))
        }
        if let kind = call.information, let index = waiting.firstIndex(where: { $0.call.information == kind }) {
            waiting[index].request.reply()
            waiting[index] = Entry(call: call, request: request)
        } else {
            waiting.append(Entry(call: call, request: request))
        }
        startNext()
    }

    private func startNext() {
        // What the device does not wait for any more, because its connection was lost, it will call again.
        waiting.removeAll { $0.call.information == nil && !$0.request.isAlive }
        guard running == nil, !waiting.isEmpty else { return }
        let next = waiting.removeFirst()
        running = next.request
        let (call, handle, thread) = (next.call, handle, thread)
        Task {
            let outcome = await handle(call)
            thread.perform { $0.handlers.didReturn(outcome) }
        }
    }

    private func didReturn(_ outcome: HandlerOutcome) {
        running?.reply(outcome.parameters)
        running = nil
        // The reply is in the socket, so that the process may end now.
        outcome.onReplied?()
        startNext()
    }
}
