internal import Configuration
internal import ControlGroup
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls
internal import Varlink

/// `io.curfew.Application`: what an app asks of the device. Who asks is settled when its connection is accepted.
final class ApplicationService {
    static let name = "io.curfew.Application"
    /// Seconds between background fetches, at least.
    private static let leastFetchInterval = 900.0

    private unowned(unsafe) let supervisor: Supervisor

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    func handle(_ request: Request, from instance: InstanceID?) {
        guard let instance, let process = supervisor.processes[instance.rawValue],
            let view = supervisor.core.view(of: instance, ofApp: process.app.id)
        else { return request.fail(error: "io.curfew.Application.NotAnApp") }
        process.isHeard()
        switch request.methodName {
        case "GetState":
            request.reply([
                "state": supervisor.applicationState(process.app.id, view),
                "tasks": supervisor.ownTaskValues(process.app.id),
            ])
        case "BeginBackgroundTask": begin(request, process)
        case "EndBackgroundTask":
            let task = BackgroundTaskID(rawValue: request.parameters["identifier"]?.intValue ?? 0)
            supervisor.answers.submit(request, .endBackgroundTask(instance, task)) { [unowned(unsafe) self] in
                answer($0, $1)
            }
        case "GetBackgroundTimeRemaining":
            request.reply(["seconds": JSON(supervisor.timeRemaining(process.app.id))])
        case "AttachDelegate": attach(request, process)
        case "SetMinimumBackgroundFetchInterval": setFetchInterval(request, process.app)
        default: request.fail(.methodNotImplemented(method: request.method))
        }
    }

    // MARK: Background tasks

    private func begin(_ request: Request, _ process: AppProcess) {
        let name = request.parameters["name"]?.stringValue ?? ""
        guard Self.isTaskName(name) else { return request.fail(.invalidParameter(parameter: "name")) }
        var wish = TaskParameters(name: name, keepAwake: request.parameters["keepAwake"]?.boolValue)
        if let seconds = request.parameters["timeAllowed"]?.doubleValue {
            guard let time = Self.duration(seconds) else {
                return request.fail(.invalidParameter(parameter: "timeAllowed"))
            }
            wish.timeAllowed = time
        }
        var named: ProcessHandle?
        if let pid = request.parameters["processIdentifier"]?.intValue {
            named = Int32(exactly: pid).flatMap { process.member($0) }
            if named == nil { return request.fail(.invalidParameter(parameter: "processIdentifier")) }
        }
        supervisor.answers.submit(request, .beginBackgroundTask(process.instance, wish)) {
            [unowned(unsafe) self] request, outcome in
            if case .beginBackgroundTask(.begun(let task, let remaining)) = outcome {
                begun(request, process.instance, task, remaining, named)
            } else {
                answer(request, outcome)
            }
        }
    }

    private func begun(
        _ request: Request, _ instance: InstanceID, _ task: BackgroundTaskID, _ remaining: Nanoseconds?,
        _ named: ProcessHandle?
    ) {
        let reply: JSONObject = ["identifier": .integer(task.rawValue), "timeRemaining": JSON(remaining?.seconds)]
        if request.wantsMore {
            request.reply(continuing: reply)
            supervisor.taskFollowers.keep(request, untilExpiring: task)
        } else {
            request.reply(reply)
        }
        if let named { supervisor.taskFollowers.follow(named, task, of: instance) }
    }

    private func answer(_ request: Request, _ outcome: RequestOutcome) {
        switch outcome {
        case .endBackgroundTask(.ended): request.reply()
        case .beginBackgroundTask(.denied(let denial)):
            request.fail(error: "io.curfew.Application.BackgroundTimeDenied", ["reason": .string(denial.explanation)])
        case .beginBackgroundTask(.tooMany(let limit)):
            request.fail(error: "io.curfew.Application.TooManyBackgroundTasks", ["limit": .integer(Int64(limit))])
        case .endBackgroundTask(.noSuchTask):
            let task = request.parameters["identifier"] ?? 0
            request.fail(error: "io.curfew.Application.NoSuchBackgroundTask", ["identifier": task])
        // Operators alone ask for the others, at the other interface.
        case .beginBackgroundTask(.begun), .app, .sleep, .adopt, .setLowPower:
            request.fail(.methodNotImplemented(method: request.method))
        }
    }

    static func isTaskName(_ name: String) -> Bool {
        // C1 too: a terminal takes U+009B for the start of a command.
        name.utf8.count <= ApplicationInterface.taskNameLimit
            && name.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }

    /// More than nothing, and no more than a year, which is as good as no limit.
    static func duration(_ seconds: Double) -> Nanoseconds? {
        guard seconds > 0 else { return nil }
        return Nanoseconds(rawValue: Int64(min(seconds, 31_536_000) * 1e9))
    }

    // MARK: The rest

    private func attach(_ request: Request, _ process: AppProcess) {
        guard let delegate = process.delegate, process.configuration.delegate == .varlink else {
            return request.fail(
                error: "io.curfew.Application.DelegateDenied",
                ["reason": .string("the app is not configured with delegate = \"varlink\"")])
        }
        guard delegate.takesConnections else {
            return request.fail(
                error: "io.curfew.Application.DelegateDenied",
                ["reason": "the app is being ended, or was started with another kind of delegate"])
        }
        guard let connection = request.connection, request.acceptUpgrade() else { return }
        delegate.attach(connection)
    }

    private func setFetchInterval(_ request: Request, _ app: SupervisedApp) {
        var effective: Double?
        if let asked = request.parameters["seconds"]?.doubleValue {
            guard asked >= 0 else { return request.fail(.invalidParameter(parameter: "seconds")) }
            let configured = app.configuration.background.fetchInterval?.seconds ?? 0
            effective = max(asked, configured, Self.leastFetchInterval)
        }
        app.fetchInterval = effective
        request.reply(["effective": JSON(effective)])
    }
}
