internal import ArgumentParser
internal import SystemCalls
internal import Varlink

struct UpgradeCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade", abstract: "Have the curfewd that is installed go on where the one that runs is.",
        discussion: """
            No app is ended or told; calls, tasks and budgets go on. The program is the one that lies where curfewd \
            was started from; the package does this by itself when it is upgraded. It is tried first, beside the \
            daemon that runs. One that cannot read its state, is not ready within 5 s, or dies within 10 s is given \
            up again, and the one before goes on. For root, or the user who runs curfewd.
            """)

    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        let before = try version(session)
        let control = try session.control()
        let begun = Clocks.monotonic
        do throws(VarlinkError) {
            _ = try control.call("Upgrade", timeout: Self.patience, mayRepeat: false)
        } catch {
            throw .of(error, app: nil, doing: "upgraded", session: session)
        }
        let milliseconds = (Clocks.monotonic - begun) / 1_000_000
        session.disconnect()
        let after = try version(session)
        if session.isJSON {
            let outcome: JSONObject = [
                "before": .string(before), "version": .string(after), "milliseconds": .integer(milliseconds),
            ]
            return session.say(JSON.object(outcome).prettyText())
        }
        let change = before == after ? "curfewd \(after) was started anew" : "curfewd \(before) has become \(after)"
        session.say("\(change) in \(milliseconds) ms; what runs was not touched".printable)
    }

    /// A rehearsal, and a version that has to be given up, take 5 s each at most.
    private static let patience: Int64 = 20_000_000_000

    /// Of the daemon that answers.
    private func version(_ session: Session) throws(CommandFailure) -> String {
        let control = try session.control()
        let version = Reference<String?>(nil)
        control.begin("GetInfo", of: ServiceInterface.name) { response in
            if case .reply(let info, _) = response { version.value = info["version"]?.stringValue ?? "" }
        }
        _ = session.loop.run(patience: DaemonConnection.patience) { version.value != nil }
        guard let version = version.value else { throw .failed("curfewd does not say its version") }
        return version
    }
}
