internal import Varlink

/// A transition by hand: asks for it, waits until it is complete, says so.
struct Transition {
    let method: String
    let app: String
    var parameters: JSONObject = [:]
    /// "launched", for "camera was not launched: …".
    let participle: String
    /// "is running", for "camera is running".
    let result: String

    func run(_ session: Session) throws(CommandFailure) {
        let control = try session.control()
        var parameters = self.parameters
        parameters["app"] = .string(app)
        let isTerminal = Terminal.isTerminal(2)
        do throws(VarlinkError) {
            _ = try control.call(method, parameters, timeout: nil) {
                if isTerminal {
                    session.console.error(session.console.errorStyle.paint("waiting for \(app) …\n", .dim))
                }
            }
        } catch {
            // The loop that was asked has died after it was done.
            if control.isRepeated, error.isDone(method) { return saySo(session) }
            throw .of(error, app: app, doing: participle, session: session)
        }
        saySo(session)
    }

    private func saySo(_ session: Session) {
        guard session.isJSON else { return session.say("\(session.style.paint(app, .bold)) \(result)") }
        session.say(JSON.object(["app": .string(app), "done": true]).line)
    }
}

extension VarlinkError {
    /// What was asked for is so.
    fileprivate func isDone(_ method: String) -> Bool {
        if case .error("io.curfew.Control.NotRunning", _) = self { method == "Terminate" } else { false }
    }
}

extension JSON {
    /// Compact, without a newline.
    var line: String { String(decoding: bytes(), as: UTF8.self) }
}
