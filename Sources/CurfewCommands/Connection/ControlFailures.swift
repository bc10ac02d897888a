internal import Configuration
internal import Varlink

extension CommandFailure {
    private static let interface = "io.curfew.Control."

    /// What a failed call means for a person. doing: "activated", for "camera ended while it was being activated".
    static func of(_ error: VarlinkError, app: String?, doing: String, session: Session) -> CommandFailure {
        let subject = app ?? "the device"
        switch error {
        case .notRunning, .closed:
            return CommandFailure(
                code: .notRunning,
                text: "curfewd ended, or closed the connection, before it had answered (it keeps 32 connections of a "
                    + "user, and takes a thousand a second); see: journalctl -t curfewd")
        case .timedOut:
            return .failed("curfewd does not answer; see: journalctl -t curfewd, or: systemctl restart curfewd")
        case .system, .protocol: return .failed("talking to curfewd failed: \(error.text)")
        case .error(let name, let parameters):
            let short = name.hasPrefix(interface) ? String(name.dropFirst(interface.count)) : name
            return of(short, parameters, subject: subject, app: app, doing: doing, session: session)
        }
    }

    private static func of(
        _ error: String, _ parameters: JSONObject, subject: String, app: String?, doing: String, session: Session
    ) -> CommandFailure {
        switch error {
        case "NoSuchApp": return noSuchApp(parameters["app"]?.stringValue ?? subject, session)
        case "NotRunning":
            let name = parameters["app"]?.stringValue ?? subject
            return .failed("\(name) is not running; start it with: \(session.tool) launch \(name)")
        case "AppEnded":
            let end = parameters["termination"]?.objectValue.map { TerminationRecord(.object($0)) }
            let text = end?.briefly(session.tool) ?? "for an unknown reason"
            if end?.namespace == "launchFailure" { return .failed("\(subject) could not be started: \(text)") }
            return .failed("\(subject) ended while it was being \(doing): \(text)")
        case "Denied":
            let kind = parameters["kind"]?.stringValue.flatMap { DenialKind(rawValue: $0) }
            return denied(kind, parameters["reason"]?.stringValue ?? "", subject, app, doing, session)
        case "InvalidConfiguration":
            let line = parameters["line"]?.intValue.map { ":\($0)" } ?? ""
            let place = (parameters["file"]?.stringValue ?? "a file") + line
            let problem = parameters["message"]?.stringValue ?? "cannot be used"
            return .failed(
                "\(place): \(problem); the running configuration was kept; see: \(session.tool) check".printable)
        case "org.varlink.service.MethodNotFound", "org.varlink.service.MethodNotImplemented",
            "org.varlink.service.InterfaceNotFound":
            return .failed("the running curfewd does not know this command; restart it after an upgrade")
        case "org.varlink.service.PermissionDenied":
            return .failed(
                doing == "upgraded"
                    ? "only root, or the user who runs curfewd, can have it upgraded; use sudo"
                    : "curfewd does not permit this user to do that; use sudo, or join group curfew")
        case "org.varlink.service.InvalidParameter":
            return .failed("curfewd did not take the value of \(parameters["parameter"]?.stringValue ?? "a parameter")")
        default:
            let details =
                parameters.isEmpty ? "" : " " + String(decoding: JSON.object(parameters).bytes(), as: UTF8.self)
            return .failed("curfewd answered with an error: \(error)\(details)".printable)
        }
    }

    /// kind: nil where the daemon names none, or one that is newer than the tool.
    private static func denied(
        _ kind: DenialKind?, _ reason: String, _ subject: String, _ app: String?, _ doing: String, _ session: Session
    ) -> CommandFailure {
        switch kind {
        case .sleeping:
            return .failed(
                "\(subject) was not \(doing): the device is asleep or about to be; after curfew sleep it is woken with "
                    + "\(session.tool) wake")
        case .shuttingDown: return .failed("\(subject) was not \(doing): the device is shutting down")
        case .invalidConfiguration:
            let known = try? session.control().call("Describe", ["app": JSON(app)])
            let problem = known?["app"]?["invalid"]?.stringValue ?? "its configuration cannot be used"
            return .failed("\(subject) was not \(doing): \(problem); mend it, then: \(session.tool) reload".printable)
        case .nameTaken:
            return .failed("\(subject) was not \(doing): \(reason); give this one another: --name NAME".printable)
        case .notUpgraded: return .failed("not upgraded, and curfewd goes on as it was: \(reason)".printable)
        case .noSuchApp, .phaseChanged, .ended, .configurationRemoved, .condition, .taskHasNoFront, .taskEnded,
            .endedBeforeItBegan, .appEnding, .budgetSpent, .keepAwakeNotConfigured, .keepAwakeSpent,
            .loginPreparesSleep, .sleepCalledOff, .notYourProcess, .processOfAnApp, .tooManyTasks, .notSaved,
            nil:
            return .failed("\(subject) was not \(doing): \(reason)".printable)
        }
    }

    static func noSuchApp(_ name: String, _ session: Session) -> CommandFailure {
        // Not List: of thousands of apps that would be longer than a message may be.
        let list = (try? Snapshot.take(session))?.apps ?? []
        return noSuchApp(name, known: list.compactMap { $0["name"]?.stringValue }, tool: session.tool)
    }

    /// list: the command that lists the known ones.
    static func noSuchApp(
        _ name: String, known: [String], tool: String, list: String = "status"
    ) -> CommandFailure {
        let question = Suggestion.closest(to: name, among: known).map { "; did you mean '\($0)'?" } ?? ""
        let hint =
            known.isEmpty
            ? " (none is configured: see /etc/curfew/apps and curfew-app(5))" : " (\(tool) \(list) lists them)"
        return CommandFailure(code: .noSuchApp, text: "no app '\(name)'\(question)\(hint)".printable)
    }
}
