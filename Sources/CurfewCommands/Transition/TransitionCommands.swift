internal import ArgumentParser
internal import Varlink

struct LaunchCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "launch", abstract: "Start an app and wait until it has launched.",
        discussion:
            "An app that runs already is no error. An app that was left down after repeated ends is tried again.")

    @Argument(help: "The app's name.", completion: .apps) var app: String
    @Flag(help: "Start it in background, not in front.") var background = false
    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        try Transition(
            method: "Launch", app: app, parameters: background ? ["background": true] : [:], participle: "launched",
            result: "is running"
        ).run(session)
    }
}

struct ActivateCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "activate", abstract: "Bring an app to the front, launching it if need be.",
        discussion: "On a device with one app in front (front = \"one\") the others go to background.")

    @Argument(help: "The app's name.", completion: .apps) var app: String
    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        try Transition(method: "Activate", app: app, participle: "activated", result: "is active").run(session)
    }
}

struct BackgroundCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "background", abstract: "Send an app to background.",
        discussion: "Its WillResignActive and DidEnterBackground handlers are called; then it is suspended.")

    @Argument(help: "The app's name.", completion: .apps) var app: String
    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        try Transition(
            method: "Background", app: app, participle: "sent to background", result: "is in background"
        ).run(session)
    }
}

struct TerminateCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "terminate", abstract: "End an app; it is not restarted.",
        discussion:
            "Its WillTerminate handler is called first, then SIGTERM is sent. With --force it is killed at once.")

    @Argument(help: "The app's name.", completion: .apps) var app: String
    @Flag(help: "Kill it at once, with all its processes.") var force = false
    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        try Transition(
            method: "Terminate", app: app, parameters: force ? ["force": true] : [:], participle: "ended",
            result: "has ended"
        ).run(session)
        if !force, !session.isJSON { tellOfKill(session) }
    }

    /// It had its time to end, and was killed when that was over: what it had not saved is lost.
    private func tellOfKill(_ session: Session) {
        let reply = try? session.control().call("Describe", ["app": .string(app)])
        guard let end = reply?["app"]?["lastTermination"]?.objectValue.map({ TerminationRecord(.object($0)) }),
            end.isKill
        else { return }
        let report = end.report.map { "; see: \(Session.tool(root: session.root)) report \($0)" } ?? ""
        session.console.error("it had to be killed: \(end.explanation)\(report)\n")
    }
}
