internal import Configuration
internal import Lifecycle

/// For programs that know a signal: a handler is a signal to the main process, and has returned when the app says
/// READY=1 (or at once, with `acknowledge = false`).
final class SignalDelegate: DelegateChannel {
    private unowned(unsafe) let process: AppProcess
    private unowned(unsafe) let supervisor: Supervisor
    /// The call that the next READY=1 answers.
    private var outstanding: CallID?

    init(_ process: AppProcess, _ supervisor: Supervisor) {
        self.process = process
        self.supervisor = supervisor
    }

    var inherited: Int32? { nil }
    func didSpawn() {}

    func deliver(_ call: CallID, _ handler: HandlerCall, allowance: Nanoseconds) {
        if let number = process.configuration.signal(for: handler.handler) { process.signal(number) }
        goOn(call, handler)
    }

    func goOn(_ call: CallID, _ handler: HandlerCall) {
        if process.configuration.acknowledge, process.configuration.signal(for: handler.handler) != nil {
            outstanding = call
        } else {
            supervisor.dispatch(.app(.handlerReturned(process.instance, call)))
        }
    }

    func didBecomeReady() {
        guard let call = outstanding else { return }
        outstanding = nil
        supervisor.dispatch(.app(.handlerReturned(process.instance, call)))
    }

    func close() { outstanding = nil }
}
