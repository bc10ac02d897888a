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

    @Argument(help: "An app's name.") var app: String?
    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        if let app { return try describe(app, session) }
        let control = try session.control()
        let device: JSON
        let apps: JSON
        do throws(VarlinkError) {
            device = try control.call("DescribeDevice")["device"] ?? .null
            apps = try control.call("List")["apps"] ?? []
        } catch {
            throw .of(error, app: nil, doing: "described", session: session)
        }
        if session.isJSON { return session.say(JSON.object(["device": device, "apps": apps]).prettyText()) }
        let view = StatusView(
            device: DeviceRecord(device), apps: (apps.arrayValue ?? []).map { AppRecord($0) }, root: session.root,
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
        let view = AppView(app: app, log: log, root: session.root, now: now)
        for line in view.lines(session.style, width: session.console.width) { session.say(line) }
    }
}
