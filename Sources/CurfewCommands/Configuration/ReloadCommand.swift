internal import ArgumentParser
internal import Varlink

struct ReloadCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Have curfewd read its configuration again.",
        discussion: """
            What runs goes on with what it was started with, and gets its new configuration with its next launch. An \
            app whose file is gone is ended. A file with an error changes nothing, nor does a folder of apps that is \
            not there at all. Prints what changed: apps by their names, curfew.toml, and the \
            hardware profile.
            """)

    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        let control = try session.control()
        let reply: JSONObject
        do throws(VarlinkError) {
            reply = try control.call("Reload", timeout: nil)
        } catch {
            throw .of(error, app: nil, doing: "reloaded", session: session)
        }
        if session.isJSON { return session.say(JSON.object(reply).prettyText()) }
        let changed = reply["changed"]?.arrayValue?.compactMap(\.stringValue) ?? []
        session.say(
            changed.isEmpty ? "nothing has changed" : "changed: \(changed.joined(separator: ", "))".printable)
    }
}
