internal import ArgumentParser
internal import Configuration
internal import Varlink

struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile", abstract: "Hardware profiles: what Curfew knows of boards, and of this one.",
        discussion: """
            A profile says what a kind of board cannot say of itself: how its watchdog behaves in sleep, whether it \
            can sleep at all, where under-voltage shows. curfewd need not run.

            No profile for your board? `curfew profile detect` prints the beginning of one.
            """,
        subcommands: [
            ProfileListCommand.self, ProfileShowCommand.self, ProfileDetectCommand.self, ProfileCheckCommand.self,
        ],
        defaultSubcommand: ProfileListCommand.self)

    @OptionGroup var global: GlobalOptions
}

struct ProfileListCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "All profiles; this board's has a star.")

    @Flag(help: "Print README's table.") var markdown = false
    @OptionGroup var options: ProfileOptions
    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        let known = options.known(session)
        let summaries = known.profiles.profiles.map { ProfileSummary(profile: $0) }
        if session.isJSON {
            session.say(json(known, summaries).prettyText())
        } else if markdown {
            let sorted = summaries.sorted { $0.profile.description < $1.profile.description }
            for line in ProfileSummary.markdownHead + sorted.map(\.markdown) { session.say(line) }
        } else if summaries.isEmpty {
            session.say("No profiles in \(known.directories.joined(separator: " or ")).")
        } else {
            var table = Table([
                Table.Column(title: ""), Table.Column(title: "NAME"), Table.Column(title: "BOARD"),
                Table.Column(title: "WATCHDOG", dispensability: 2), Table.Column(title: "SLEEP", dispensability: 1),
                Table.Column(title: "KNOWN BY", dispensability: 3),
            ])
            for summary in summaries {
                let isUsed = summary.profile.name == known.used?.name
                table.add([
                    Table.Cell(isUsed ? "*" : "", .good), Table.Cell(summary.profile.name, isUsed ? .bold : .plain),
                    Table.Cell(summary.profile.description), Table.Cell(summary.profile.watchdog.driver ?? "-"),
                    Table.Cell(summary.sleep ?? "-"), Table.Cell(summary.match),
                ])
            }
            for line in table.lines(session.style, width: session.console.width) { session.say(line) }
        }
        for error in known.profiles.errors { session.console.error(error.text.printable + "\n") }
    }

    private func json(_ known: KnownProfiles, _ summaries: [ProfileSummary]) -> JSON {
        [
            "profiles": .array(
                summaries.map { summary in
                    [
                        "name": .string(summary.profile.name), "description": .string(summary.profile.description),
                        "match": .string(summary.match), "inUse": .bool(summary.profile.name == known.used?.name),
                        "watchdog": summary.watchdog.map { .string($0) } ?? .null,
                        "sleep": summary.sleep.map { .string($0) } ?? .null,
                        "power": summary.power.map { .string($0) } ?? .null,
                    ]
                }),
            "errors": .array(known.profiles.errors.map { .string($0.text) }),
        ]
    }
}

struct ProfileShowCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "A profile, every value with its source; without NAME this board's.")

    @Argument(help: "The profile.", completion: .profiles) var name: String?
    @OptionGroup var options: ProfileOptions
    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        let known = options.known(session)
        guard let wanted = try name.map({ name throws(CommandFailure) in try known.find(name) }) ?? known.used else {
            throw .failed("no profile fits this board; see curfew profile detect")
        }
        guard let path = known.path(wanted.name) else { throw .failed("the profile \(wanted.name) has gone") }
        let listing = ProfileListing.read(file: path)
        if session.isJSON { return session.say(json(wanted, path, listing).prettyText()) }
        session.say(session.style.paint(wanted.name, .bold) + "  " + wanted.description.printable)
        session.say(session.style.paint("  " + path.printable, .dim))
        var section = ""
        let width = listing.items.reduce(0) { max($0, $1.key.count + $1.value.count) } + 3
        for item in listing.items where !item.section.isEmpty {
            if item.section != section { session.say(session.style.paint("[\(item.section.printable)]", .accent)) }
            section = item.section
            let text = "\(item.key) = \(item.value)".printable.padded(min(width, 44))
            session.say("  " + text + "  " + session.style.paint("# " + item.source.printable, .dim))
        }
    }

    private func json(_ profile: HardwareProfile, _ path: String, _ listing: ProfileListing) -> JSON {
        [
            "name": .string(profile.name), "description": .string(profile.description), "file": .string(path),
            "values": .array(
                listing.items.filter { !$0.section.isEmpty }.map {
                    [
                        "section": .string($0.section), "key": .string($0.key), "value": .string($0.value),
                        "source": .string($0.source),
                    ]
                }),
        ]
    }
}
