internal import ArgumentParser
internal import SystemCalls
internal import Varlink

struct StatusCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "The device and its apps; with APP, all about that app.",
        discussion: """
            States: active and inactive (in front), background, suspended (frozen in background), not running, \
            terminating, invalid (its configuration cannot be used).
            """)

    @Argument(help: "An app's name.", completion: .apps) var app: String?
    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        if let app { return try describe(app, session) }
        let state = try Snapshot.take(session)
        if session.isJSON {
            let object: JSONObject = [
                "device": state.device, "apps": .array(state.apps), "tasks": .array(state.tasks),
            ]
            return session.say(JSON.object(object).prettyText())
        }
        let view = StatusView(
            device: DeviceRecord(state.device), apps: state.apps.map { AppRecord($0) },
            tasks: state.tasks.map { BackgroundTaskRecord($0) }, root: session.root,
            now: LocalTime(milliseconds: Clocks.realtime / 1_000_000))
        for line in view.lines(session.style, width: session.console.width) { session.say(line) }
    }

    private func describe(_ name: String, _ session: Session) throws(CommandFailure) {
        let control = try session.control()
        let reply: JSONObject
        do throws(VarlinkError) {
            reply = try control.call("Describe", ["app": .string(name)])
        } catch {
            throw .of(error, app: name, doing: "described", session: session)
        }
        let app = AppRecord(reply["app"] ?? .null)
        let log = LastLines.of(app, session)
        if session.isJSON {
            var object = reply
            object["lines"] = .array(log.lines.map { .string($0) })
            return session.say(JSON.object(object).prettyText())
        }
        let now = LocalTime(milliseconds: Clocks.realtime / 1_000_000)
        let tasks = (reply["tasks"]?.arrayValue ?? []).map { BackgroundTaskRecord($0) }
        let view = AppStatus(app: app, tasks: tasks, log: log, root: session.root, now: now)
        for line in view.lines(session.style, width: session.console.width) { session.say(line) }
    }
}
