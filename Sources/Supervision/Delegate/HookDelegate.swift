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
    private var child: ChildProcess?
    private var source: IOSource?

    init(_ process: AppProcess, _ supervisor: Supervisor, _ credentials: Credentials?) {
        self.process = process
        self.supervisor = supervisor
        self.credentials = credentials
    }

    var inherited: Int32? { nil }
    func didSpawn() {}
    func didBecomeReady() {}

    func deliver(_ call: CallID, _ handler: HandlerCall, allowance: Nanoseconds) {
        guard let command = process.app.configuration.hook(for: handler.handler) else {
            return supervisor.dispatch(.app(.handlerReturned(process.instance, call)))
        }
        do throws(LaunchFailure) {
            try run(command, call, handler, allowance: allowance)
        } catch {
            // A hook that cannot be run is no reason to end the app: it counts as handled.
            supervisor.log.handlerFailed(process.app.name, handler.handler, "hook: \(error.text)")
            supervisor.dispatch(.app(.handlerReturned(process.instance, call)))
        }
    }

    private func run(_ command: [String], _ call: CallID, _ handler: HandlerCall, allowance: Nanoseconds)
        throws(LaunchFailure)
    {
        let app = process.app
        do throws(SystemError) {
            var request = SpawnRequest(
                arguments: command,
                environment: app.baseEnvironment(credentials, supervisor.paths, notify: nil) + [
                    "CURFEW_EVENT=\(handler.handler.method)", "CURFEW_DEADLINE=\(allowance.secondsText)",
                ])
            if case .didFinishLaunching(let reason) = handler {
                request.environment.append("CURFEW_LAUNCH_REASON=\(reason.name)")
            }
            if case .backgroundTaskWillExpire(let task, let name) = handler {
                request.environment += ["CURFEW_TASK=\(task.rawValue)", "CURFEW_TASK_NAME=\(name)"]
            }
            if let pid = process.mainPID { request.environment.append("MAINPID=\(pid)") }
            request.credentials = credentials
            request.limits = supervisor.appLimits
            request.workingDirectory = app.configuration.workingDirectory ?? "/"
            request.umask = app.configuration.umask ?? 0o022
            let output = try supervisor.openOutput(app)
            request.standardOutput = output.output
            request.standardError = output.error
            let directory = try process.group?.openDirectory()
            switch directory {
            case .some(let open): request.controlGroupDescriptor = open.rawValue
            case .none: break
            }
            let hook: ChildProcess
            do throws(SpawnError) {
                hook = try ChildProcess.spawn(request)
            } catch {
                throw error.systemError
            }
            child = hook
            do throws(SystemError) {
                source = try supervisor.loop.watch(hook.descriptor, .readable) { [unowned(unsafe) self] _ in
                    didEnd(call, handler.handler)
                }
            } catch {
                // Its end would not be heard.
                close()
                throw error
            }
        } catch {
            throw LaunchFailure(code: error.errno.rawValue, text: error.text)
        }
    }

    private func didEnd(_ call: CallID, _ handler: Handler) {
        let end: ProcessExit?
        var isReapedElsewhere = false
        do throws(SystemError) {
            end = try child?.reap()
        } catch {
            // It is no child any more: nothing more will be heard of it.
            end = nil
            isReapedElsewhere = true
        }
        guard end != nil || isReapedElsewhere else { return }
        child = nil
        source = nil
        switch end?.cause {
        case nil: supervisor.log.handlerFailed(process.app.name, handler, "how its hook ended cannot be known")
        case .exited(0): break
        case .exited(let code):
            supervisor.log.handlerFailed(process.app.name, handler, "its hook exited with status \(code)")
        case .signalled(let number, _):
            supervisor.log.handlerFailed(process.app.name, handler, "its hook was killed by signal \(number)")
        }
        supervisor.dispatch(.app(.handlerReturned(process.instance, call)))
    }

    func close() {
        guard let child else { return }
        // In the control group it dies with the app; in any case it is ours to reap.
        self.child = nil
        source = nil
        if (try? child.reap()) != nil { return }
        if process.group == nil { linux_kill_session(child.pid) }
        try? child.signal(SIGKILL)
        supervisor.strays.take(child)
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
