internal import ArgumentParser
internal import Configuration
internal import Lifecycle
internal import Varlink

struct ProfileDetectCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "detect", abstract: "What this board says and has, which profile fits, and why.",
        discussion: """
            For a board without a profile of its own it prints the beginning of one: save that as \
            /etc/curfew/hardware-profiles/NAME.toml, complete it, check it with `curfew profile check`, and please \
            send it to us.

            Example: curfew profile detect --skeleton > my-board.toml
            """)

    @Flag(help: "Print the beginning of a profile, and nothing else.") var skeleton = false
    @OptionGroup var options: ProfileOptions
    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        let facts = BoardFacts(SystemTree(root: options.system ?? ""))
        let known = options.known(session)
        let beginning = ProfileSkeleton(facts: facts)
        if skeleton {
            for line in beginning.lines { session.say(line) }
            return
        }
        let isOwn = known.used.map { !Self.isGeneric($0, known.board) } ?? false
        if session.isJSON {
            return session.say(json(facts, known, isOwn ? nil : beginning).prettyText())
        }
        for line in facts.lines(session.style, width: session.console.width) { session.say(line) }
        for line in verdict(known, session.style) { session.say(line) }
        if let used = known.used {
            for line in Self.differences(used, facts) { session.say("  " + session.style.paint(line, .caution)) }
        }
        if isOwn { return }
        session.say("The beginning of a profile for it, \(beginning.name).toml (or: curfew profile detect --skeleton):")
        session.say("")
        for line in beginning.lines { session.say(line.isEmpty ? "" : "    " + line) }
    }

    /// Whether only the architecture speaks for a profile.
    private static func isGeneric(_ profile: HardwareProfile, _ board: BoardIdentity) -> Bool {
        var others = profile.match
        others.architecture = ""
        return others.rank(board) == 0
    }

    private func verdict(_ known: KnownProfiles, _ style: Style) -> [String] {
        var lines: [String] = []
        if let missing = known.missing {
            lines.append(style.paint("curfew.toml names the profile \(missing.printable), which there is not", .bad))
        }
        if !known.alike.isEmpty {
            lines.append(
                style.paint("Several profiles fit alike: \(known.alike.joined(separator: ", "))", .bad)
                    + "; set 'profile' in curfew.toml to one of them")
        }
        if let used = known.used {
            lines.append("Profile: \(style.paint(used.name, .bold)), \(used.description.printable); \(known.why)")
            let others = known.fitting.filter { $0.name != used.name && !known.alike.contains($0.name) }
            for other in others {
                let why = KnownProfiles.why(other, known.board)
                lines.append("  fits too: \(other.name), \(other.description.printable); \(why)")
            }
        } else {
            lines.append("Profile: \(style.paint("none fits", .caution)); the defaults are taken")
        }
        return lines + known.profiles.errors.map { style.paint($0.text.printable, .bad) }
    }

    /// Where the board is not as its profile says.
    static func differences(_ profile: HardwareProfile, _ facts: BoardFacts) -> [String] {
        var lines: [String] = []
        let watchdog = facts.watchdogs.first { $0.identity == profile.watchdog.identity && $0.identity != nil }
        if let identity = profile.watchdog.identity, watchdog == nil {
            lines.append("no watchdog is called “\(identity.printable)”: its driver may have to be loaded")
        }
        if let limit = profile.watchdog.maxTimeout, let seconds = watchdog?.maxTimeout, seconds > 0,
            Int64(seconds) * 1_000_000_000 != limit.rawValue
        {
            let known = Amounts.duration(Double(limit.rawValue) / 1e9)
            lines.append("\(watchdog?.name ?? "the watchdog") takes at most \(seconds) s; the profile says \(known)")
        }
        let supplies = facts.supplies.map(\.name)
        for name in profile.power.batteries where !supplies.contains(name) {
            lines.append("there is no battery \(name.printable)")
        }
        if profile.sleep.isLogical, let states = facts.sleepStates, !states.isEmpty {
            lines.append("the kernel offers \(states.joined(separator: " ")); the profile does not trust it")
        }
        return lines
    }

    private func json(_ facts: BoardFacts, _ known: KnownProfiles, _ skeleton: ProfileSkeleton?) -> JSON {
        [
            "board": facts.json, "profile": known.used.map { .string($0.name) } ?? .null, "why": .string(known.why),
            "fitting": .array(known.fitting.map { .string($0.name) }),
            "alike": .array(known.alike.map { .string($0) }),
            "differences": .array((known.used.map { Self.differences($0, facts) } ?? []).map { .string($0) }),
            "errors": .array(known.profiles.errors.map { .string($0.text) }),
            "skeleton": skeleton.map { .string($0.lines.joined(separator: "\n") + "\n") } ?? .null,
        ]
    }
}
