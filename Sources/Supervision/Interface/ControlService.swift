internal import CLinux
internal import Configuration
internal import EventLoop
internal import Journal
internal import Lifecycle
internal import SystemCalls
internal import Varlink

/// `io.curfew.Control`: what an operator asks of the device.
final class ControlService {
    static let name = "io.curfew.Control"

    private unowned(unsafe) let supervisor: Supervisor
    let monitors: MonitorFeed
    /// Reloads that wait for the files to be read: once for all that were asked for before.
    private var reloads: [Request] = []

    init(_ supervisor: Supervisor) {
        self.supervisor = supervisor
        monitors = MonitorFeed(supervisor)
    }

    /// The methods that are served. Push and SetBackgroundRefresh are described, and not served yet.
    func handle(_ request: Request) {
        if request.methodName == "Reload" { return reload(request) }
        // What a client asks after a reload, it asks of what that has read.
        if reloads.contains(where: { $0.connection === request.connection }) { reloadAll() }
        switch request.methodName {
        case "List": request.reply(["apps": .array(supervisor.appValues)])
        case "Describe": describe(request)
        case "DescribeDevice": request.reply(["device": supervisor.deviceValue])
        case "Launch":
            let background = request.parameters["background"]?.boolValue ?? false
            ask(request) { .launch($0, background: background) }
        case "Activate": ask(request) { .activate($0) }
        case "Background": ask(request) { .background($0) }
        case "Terminate":
            let force = request.parameters["force"]?.boolValue ?? false
            ask(request) { .terminate($0, force: force) }
        case "PrepareForSleep": prepareForSleep(request)
        case "AdoptTask": adopt(request)
        case "SetLowPowerMode": setLowPower(request)
        case "ListTerminations": listTerminations(request)
        case "Monitor": monitors.add(request)
        case "Upgrade": upgrade(request)
        default: request.fail(.methodNotImplemented(method: request.method))
        }
    }

    private func prepareForSleep(_ request: Request) {
        let kind = request.parameters["kind"]?.stringValue
        let start = request.parameters["start"]?.boolValue ?? false
        let isLogical = kind == nil || kind == "logical"
        // What the kernel does the sleep hook says. Apps that were told of no sleep would run in one.
        guard isLogical || isOwners(request) else { return request.fail(.permissionDenied) }
        // The board has gone to sleep without its apps, and may be awake again: the word on that is in another
        // connection, and may be read before this one.
        if start, !isLogical, !request.oneway, request.connection?.hasHungUp != false {
            return supervisor.log.unheardSleep(
                "a sleep is not prepared for: the client that announced it has hung up")
        }
        if !start { supervisor.tellIfKernelSlept() }
        let about = request.parameters["sleepId"]?.intValue.map { Int($0) }
        submit(request, .sleep(start: start, logical: isLogical, about: about))
    }

    // MARK: Answers

    private func answer(_ request: Request, _ outcome: RequestOutcome) {
        switch outcome {
        case .app(.done), .setLowPower: request.reply()
        case .app(.notRunning):
            request.fail(error: "io.curfew.Control.NotRunning", ["app": request.parameters["app"] ?? ""])
        case .app(.ended(let termination)), .adopt(.ended(let termination)):
            let report = supervisor.lastReports[termination.app.rawValue]
            request.fail(error: "io.curfew.Control.AppEnded", ["termination": report?.control ?? .null])
        case .app(.denied(let denial)), .sleep(.denied(let denial)), .adopt(.denied(let denial)):
            deny(request, denial.kind, denial.explanation)
        case .sleep(.ready(let sleep, let killed)):
            request.reply(["sleepId": .integer(Int64(sleep)), "killed": .array(killed.map { .string($0) })])
        case .adopt(.begun(let task, _)): request.reply(["identifier": .integer(task.rawValue)])
        // Apps alone ask for these, at the other interface.
        case .beginBackgroundTask, .endBackgroundTask: request.fail(.methodNotImplemented(method: request.method))
        }
    }

    private func deny(_ request: Request, _ kind: DenialKind, _ reason: String) {
        request.fail(
            error: "io.curfew.Control.Denied", ["reason": .string(reason), "kind": .string(kind.rawValue)])
    }

    func appDidChange(_ id: AppID) { monitors.appDidChange(id) }
    func deviceDidChange() { monitors.deviceDidChange() }
    func didTerminate(_ report: Report) { monitors.didTerminate(report) }

    // MARK: Methods

    private func submit(_ request: Request, _ wish: ClientRequest) {
        supervisor.answers.submit(request, wish) { [unowned(unsafe) self] in answer($0, $1) }
    }

    private func ask(_ request: Request, _ wish: (AppID) -> ClientRequest) {
        guard let name = request.parameters["app"]?.stringValue else {
            return request.fail(.invalidParameter(parameter: "app"))
        }
        if let id = supervisor.core.id(of: name) { return submit(request, wish(id)) }
        if supervisor.configuration.apps.contains(where: { $0.name == name && !$0.errors.isEmpty }) {
            return deny(request, .invalidConfiguration, "invalid configuration")
        }
        request.fail(error: "io.curfew.Control.NoSuchApp", ["app": .string(name)])
    }

    private func describe(_ request: Request) {
        let name = request.parameters["app"]?.stringValue ?? ""
        if let id = supervisor.core.id(of: name), let view = supervisor.core.view(of: id) {
            let tasks = supervisor.taskValues(id).map { JSON.object($0) }
            return request.reply(["app": supervisor.appValue(id, view), "tasks": .array(tasks)])
        }
        if let app = supervisor.configuration.apps.first(where: { $0.name == name }) {
            return request.reply(["app": supervisor.invalidAppValue(name, app.errors), "tasks": []])
        }
        request.fail(error: "io.curfew.Control.NoSuchApp", ["app": .string(name)])
    }

    private func adopt(_ request: Request) {
        switch supervisor.adoption(request) {
        case .success(let wish): submit(request, wish)
        case .failure(.parameter(let name)): request.fail(.invalidParameter(parameter: name))
        case .failure(.denied(let refusal)): deny(request, refusal.kind, refusal.explanation)
        }
    }

    private func setLowPower(_ request: Request) {
        let enabled = request.parameters["enabled"]?.boolValue
        do throws(SystemError) {
            try supervisor.saveLowPower(enabled)
        } catch {
            return deny(request, .notSaved, error.text)
        }
        submit(request, .setLowPower(enabled))
    }

    /// Not at once: what many ask for in one turn of the loop is done once, and paid for by the first of them.
    private func reload(_ request: Request) {
        reloads.append(request)
        guard reloads.count == 1 else { return }
        let payer = supervisor.interfaces?.payer(of: request.connection)
        supervisor.loop.post { [self] in
            let begun = payer?.clock ?? 0
            reloadAll()
            if let payer { supervisor.shares.pay(payer, payer.clock - begun) }
        }
    }

    private func reloadAll() {
        let requests = reloads
        reloads = []
        guard !requests.isEmpty else { return }
        switch supervisor.reload() {
        case .success(let changed):
            for request in requests { request.reply(["changed": .array(changed.map { .string($0) })]) }
        case .failure(let error):
            let details: JSONObject = [
                "file": .string(error.file), "line": JSON(error.line.map { Int64($0) }),
                "message": .string(error.message),
            ]
            for request in requests { request.fail(error: "io.curfew.Control.InvalidConfiguration", details) }
        }
    }

    private func upgrade(_ request: Request) {
        guard isOwners(request) else { return request.fail(.permissionDenied) }
        supervisor.upgrading?.begin(request)
    }

    /// Of root, or of the user whose daemon it is.
    private func isOwners(_ request: Request) -> Bool {
        request.peer.map { $0.uid == 0 || $0.uid == geteuid() } ?? false
    }

    private func listTerminations(_ request: Request) {
        let app = request.parameters["app"]?.stringValue
        var since: String?
        if let text = request.parameters["since"]?.stringValue {
            guard let moment = Timestamp.sortable(text) else {
                return request.fail(.invalidParameter(parameter: "since"))
            }
            since = moment
        }
        // The disk may have room again.
        try? supervisor.reports.catchUp()
        let kept = supervisor.reports.all().filter { report in
            if let app, report["app"]?.stringValue != app { return false }
            guard let since else { return true }
            return Timestamp.sortable(report["time"]?.stringValue ?? "").map { $0 >= since } ?? false
        }
        let terminations = kept.map { report in
            var object = JSONObject()
            for member in Report.controlMembers { object[member] = report[member] ?? .null }
            return JSON.object(object)
        }
        request.reply(["terminations": .array(terminations)])
    }
}
