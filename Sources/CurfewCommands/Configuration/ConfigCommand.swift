internal import ArgumentParser
internal import Configuration
internal import Varlink

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "What is configured: every value, and where it comes from.",
        discussion: """
            Files are read as curfewd reads them; it need not run. After a change: curfew check, then curfew reload.
            """,
        subcommands: [ConfigShowCommand.self, ConfigKeysCommand.self], defaultSubcommand: ConfigShowCommand.self)

    @OptionGroup var global: GlobalOptions
}

struct ConfigShowCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "The effective configuration of the device and all apps, or of APP.",
        discussion: """
            Each value comes with the file and line that sets it, or as the default. A value that is wrong is shown \
            with what curfew check says of it. What is printed of an app is a file for it.
            """)

    @Argument(help: "An app's name.", completion: .configuredApps) var app: String?
    @Flag(help: "Leave out what no file sets.") var noDefaults = false
    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        let paths = ConfigurationPaths(root: session.root.isEmpty ? nil : session.root)
        let effective = EffectiveConfiguration.load(paths: paths, board: BoardIdentity.read())
        let apps = effective.apps.filter { app == nil || $0.name == app }
        if let app, apps.isEmpty {
            throw .noSuchApp(app, known: effective.apps.map(\.name), tool: session.tool, list: "config show")
        }
        let view = ConfigView(isShort: noDefaults, tool: session.tool)
        if session.isJSON {
            let found = JSON.array(apps.map { view.json($0) })
            session.say((app == nil ? view.json(effective, found) : ["apps": found]).prettyText())
            return
        }
        var parts = apps.map { view.lines(app: $0, session.style) }
        if app == nil {
            parts.insert(view.lines(profile: effective, session.style), at: 0)
            parts.insert(view.lines(device: effective, session.style), at: 0)
        }
        for (place, lines) in parts.enumerated() {
            if place > 0 { session.say("") }
            for line in lines { session.say(line) }
        }
    }
}

/// For deploy/docs: the manual's lists of keys are made of it.
struct ConfigKeysCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "All keys of all files, as JSON.", shouldDisplay: false)

    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        let files: JSONObject = [
            "curfew-app.5": Self.json(ConfigurationKey.app), "curfew.toml.5": Self.json(ConfigurationKey.device),
            "curfew-profile.5": Self.json(ConfigurationKey.profile),
        ]
        session.say(JSON.object(files).prettyText())
    }

    private static func json(_ keys: [ConfigurationKey]) -> JSON {
        .array(
            keys.map { key in
                var words = JSON.null
                if case .word(let choices) = key.kind { words = .array(choices.map { .string($0) }) }
                return [
                    "section": .string(key.table), "name": .string(key.name), "group": .string(key.group),
                    "bounds": JSON(key.kind.bounds), "words": words, "default": .string(key.standard.toml),
                    "text": .string(key.about.text), "example": .string(key.about.example ?? ""),
                    "since": .string(key.about.since),
                ]
            })
    }
}
