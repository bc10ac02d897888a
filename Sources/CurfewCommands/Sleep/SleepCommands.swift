internal import ArgumentParser
internal import SystemCalls
internal import Varlink

struct SleepCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "sleep", abstract: "Have all apps get ready for sleep, as before a suspend.",
        discussion: """
            A logical sleep: apps hear what they hear before a real one, within the same bounds, and are suspended; \
            the board itself stays up. Returns when all are ready. `curfew wake` ends it.
            """)

    @OptionGroup var options: SleepEdgeOptions
    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        let edge = try SleepEdge.give(start: true, kind: options.kind, session)
        guard !session.isJSON else { return session.say(edge.json.line) }
        var text = "asleep (sleep \(edge.sleep)) after \(Amounts.duration(edge.seconds))"
        if !edge.killed.isEmpty {
            text += "; killed: " + session.style.paint(edge.killed.joined(separator: ", ").printable, .bad)
            text += " (why: \(session.tool) reports)"
        }
        session.say(text)
    }
}

struct WakeCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "wake", abstract: "End a sleep that `curfew sleep` began.",
        discussion: """
            Apps are thawed, and those that were in front come back to the front. A sleep that logind has begun is \
            not ended by this before the board has slept.
            """)

    @OptionGroup var options: SleepEdgeOptions
    @Option(
        help: ArgumentHelp(
            "For the system-sleep hook: which sleep is over; no other is ended.", valueName: "number",
            visibility: .hidden))
    var sleep: Int64?
    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        let control = try session.control()
        // The hook's word goes out at once, whether or not the daemon is quick to answer.
        let before = options.kind == "logical" ? (try? control.call("DescribeDevice")) : nil
        let wasAwake = before?["device"].map { DeviceRecord($0).sleepState } == "awake"
        let edge = try SleepEdge.give(start: false, kind: options.kind, about: sleep, session)
        guard !session.isJSON else { return session.say(edge.json.line) }
        session.say(wasAwake ? "was awake already" : "awake (after sleep \(edge.sleep))")
    }
}

struct SleepEdgeOptions: ParsableArguments {
    /// A sleep of the board's is over when its clocks or logind say so too: no app is left asleep when the hook's
    /// second word is lost.
    @Option(
        help: ArgumentHelp(
            "For the system-sleep hook: the board itself sleeps, and this is how (suspend, hibernate, …).",
            valueName: "kind", visibility: .hidden))
    var kind = "logical"
}

/// One edge of a sleep.
struct SleepEdge {
    let sleep: Int64
    let killed: [String]
    let seconds: Double

    var json: JSON {
        [
            "sleepId": .integer(sleep), "killed": .array(killed.map { .string($0) }),
            "seconds": .number((seconds * 1000).rounded() / 1000),
        ]
    }

    static func give(
        start: Bool, kind: String, about: Int64? = nil, _ session: Session
    ) throws(CommandFailure) -> SleepEdge {
        let control = try session.control()
        let begun = Clocks.monotonic
        var parameters: JSONObject = ["start": .bool(start), "kind": .string(kind)]
        if let about { parameters["sleepId"] = .integer(about) }
        let reply: JSONObject
        do throws(VarlinkError) {
            reply = try control.call("PrepareForSleep", parameters, timeout: start ? nil : 10_000_000_000) {
                guard Terminal.isTerminal(2) else { return }
                session.console.error(session.console.errorStyle.paint("waiting for the apps …\n", .dim))
            }
        } catch {
            throw .of(error, app: nil, doing: start ? "put to sleep" : "woken", session: session)
        }
        return SleepEdge(
            sleep: reply["sleepId"]?.intValue ?? 0,
            killed: reply["killed"]?.arrayValue?.compactMap(\.stringValue) ?? [],
            seconds: Double(Clocks.monotonic - begun) / 1e9)
    }
}
