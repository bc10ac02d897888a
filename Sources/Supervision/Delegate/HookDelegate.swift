internal import CLinux
internal import Configuration
internal import ControlGroup
internal import EventLoop
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

/// For any program: a handler is a command, run as the app's user in its control group, and has returned when the
/// command has exited.
final class HookDelegate: DelegateChannel {
    private unowned(unsafe) let process: AppProcess
    private unowned(unsafe) let supervisor: Supervisor
    private let credentials: Credentials?
    private var child: KeptProcess? { didSet { process.wasChanged() } }
    private var running: (call: CallID, handler: Handler)?

    /// regained: what an earlier loop has started.
    init(_ process: AppProcess, _ supervisor: Supervisor, _ credentials: Credentials?, regained: KeptApps.Hook?) {
        self.process = process
        self.supervisor = supervisor
        self.credentials = credentials
        guard let regained else { return }
        running = (regained.call, regained.handler)
        child = supervisor.keeper.claim(regained.child, regained.started, hasGroup: process.group != nil) {
            [unowned(unsafe) self] in hear($0, regained.call, regained.handler)
        }
    }

    var keptHook: KeptApps.Hook? {
        guard let child, let running else { return nil }
        return KeptApps.Hook(
            child: child.id, call: running.call, handler: running.handler, started: child.known)
    }

    func goOn(_ call: CallID, _ handler: HandlerCall) {
        // Whether it was run is not known: as one that cannot be run, it is no reason to end the app.
        if child == nil { supervisor.dispatch(.app(.handlerReturned(process.instance, call))) }
    }

    var inherited: Int32? { nil }
    var isBusyWithoutMain: Bool { child != nil }
    func didSpawn() {}
    func didBecomeReady() {}

    func deliver(_ call: CallID, _ handler: HandlerCall, allowance: Nanoseconds) {
        guard let command = process.configuration.hook(for: handler.handler) else {
            return supervisor.dispatch(.app(.handlerReturned(process.instance, call)))
        }
        do throws(LaunchFailure) {
            try run(command, call, handler, allowance: allowance)
        } catch {
            // A hook that cannot be run is no reason to end the app: it counts as handled.
            didFail(handler.handler, "hook: \(error.text)")
            supervisor.dispatch(.app(.handlerReturned(process.instance, call)))
        }
    }

    private func run(_ command: [String], _ call: CallID, _ handler: HandlerCall, allowance: Nanoseconds)
        throws(LaunchFailure)
    {
        let app = process.app
        do throws(SystemError) {
            var environment = app.baseEnvironment(process.configuration, credentials, supervisor.paths, notify: nil)
            environment.setVariable("CURFEW_EVENT", handler.handler.method)
            environment.setVariable("CURFEW_DEADLINE", allowance.secondsText)
            var request = SpawnRequest(arguments: command, environment: environment)
            if case .didFinishLaunching(let reason) = handler {
                request.environment.setVariable("CURFEW_LAUNCH_REASON", reason.name)
            }
            if case .backgroundTaskWillExpire(let task, let name) = handler {
                request.environment.setVariable("CURFEW_TASK", "\(task.rawValue)")
                request.environment.setVariable("CURFEW_TASK_NAME", name)
            }
            if let pid = process.mainPID { request.environment.setVariable("MAINPID", "\(pid)") }
            request.credentials = credentials
            try supervisor.confine(&request, app, process.configuration, credentials)
            request.workingDirectory = process.configuration.workingDirectory ?? "/"
            request.umask = process.configuration.umask ?? SupervisedApp.usualUmask
            request.companion = process.child
            let output = try supervisor.openOutput(app, process.instance, forHook: true)
            request.standardOutput = output.output
            request.standardError = output.error
            let directory = try process.group?.openDirectory()
            switch directory {
            case .some(let open): request.controlGroupDescriptor = open.rawValue
            case .none: break
            }
            running = (call, handler.handler)
            do throws(SpawnError) {
                child = try supervisor.keeper.start(request) { [unowned(unsafe) self] in
                    hear($0, call, handler.handler)
                }
            } catch {
                throw error.systemError
            }
            supervisor.dispatch(.app(.handlerStarting(process.instance, call)))
        } catch {
            throw LaunchFailure(code: error.errno.rawValue, text: error.text)
        }
    }

    private func hear(_ word: KeptProcess.Word, _ call: CallID, _ handler: Handler) {
        switch word {
        case .running:
            process.wasChanged()
            return supervisor.dispatch(.app(.handlerStarted(process.instance, call)))
        case .failed(let error): didFail(handler, "hook: \(error.text)")
        case .endedUnseen: didFail(handler, "how its hook has ended is not known")
        case .unknown: didFail(handler, "how its hook has ended went with curfewd's loop")
        case .ended(let end):
            switch end.cause {
            case .exited(0): didSucceed(handler)
            case .exited(let code): didFail(handler, "its hook exited with status \(code)")
            case .signalled(let number, _): didFail(handler, "its hook was killed by signal \(number)")
            }
        }
        if running?.call == call { child = nil }
        supervisor.dispatch(.app(.handlerReturned(process.instance, call)))
    }

    /// What it was to save may not be: it shows in the app's status until it succeeds, unless the app has said
    /// something of itself (STATUS=).
    private func didFail(_ handler: Handler, _ text: String) {
        supervisor.log.handlerFailed(process.app.name, handler, text)
        process.app.failedHook = (handler, "\(handler.method): \(text)")
        supervisor.detailsDidChange(process.app.id)
    }

    private func didSucceed(_ handler: Handler) {
        guard process.app.failedHook?.handler == handler else { return }
        process.app.failedHook = nil
        supervisor.detailsDidChange(process.app.id)
    }

    func giveUp(_ call: CallID) {
        guard let running, running.call == call else { return }
        didFail(running.handler, "its command did not get to run in time")
        close()
    }

    func close() {
        guard let child else { return }
        self.child = nil
        child.hear = nil
        // In the control group it dies with the app, once it is in there.
        try? child.signal(SIGKILL)
    }
}

extension Nanoseconds {
    /// "4.490" seconds, for programs.
    var secondsText: String {
        let milliseconds = Swift.max(rawValue, 0) / 1_000_000
        let fraction = milliseconds % 1000
        return "\(milliseconds / 1000)." + (fraction < 100 ? "0" : "") + (fraction < 10 ? "0" : "") + "\(fraction)"
    }
}
