internal import ArgumentParser
internal import Configuration
internal import SystemCalls
internal import Varlink

struct CheckCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Validate configuration: all of it, or the files given.",
        discussion: """
            Each problem is a line: file:line: what is wrong, and what was expected. curfewd need not run. A file is \
            taken as the device's when it is called curfew.toml, as an app's otherwise.
            """)

    @Argument(help: "Files to check; none: all under /etc/curfew and /usr/lib/curfew.", completion: .file())
    var files: [String] = []
    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        let isSystems = session.root.isEmpty
        let paths = ConfigurationPaths(root: isSystems ? nil : session.root, isForRootsDaemon: isSystems)
        let found =
            files.isEmpty
            ? [Configuration.check(paths: paths)] : files.map { Configuration.check(file: $0, paths: paths) }
        let result = CheckResult(
            errors: found.flatMap(\.allErrors),
            warnings: found.flatMap(\.warnings)
                + (files.isEmpty ? Self.absence(paths) + Self.profile(found[0].device, paths) : []),
            subject: files.isEmpty
                ? Amounts.count(found.reduce(0) { $0 + $1.apps.count }, "app") : Amounts.count(files.count, "file"))
        if session.isJSON {
            session.say(result.json.prettyText())
        } else {
            for line in result.lines(session.style) { session.say(line) }
        }
        if !result.errors.isEmpty { throw CommandFailure(code: .failed, text: "") }
    }
}

extension CheckCommand {
    /// No place to look into: a root that is mistyped, say, in which nothing is wrong.
    private static func absence(_ paths: ConfigurationPaths) -> [ConfigurationError] {
        if [paths.administrator, paths.vendor].contains(where: Files.exists) { return [] }
        return [ConfigurationError(file: paths.administrator, line: nil, message: "is not there: no app is configured")]
    }

    /// What is wrong with this board's hardware profile: curfewd goes on with another one.
    private static func profile(_ device: DeviceConfiguration, _ paths: ConfigurationPaths) -> [ConfigurationError] {
        HardwareProfiles.select(device.profile, for: BoardIdentity.read(), paths: paths).errors
    }
}

/// What is wrong with some configuration.
struct CheckResult {
    let errors: [ConfigurationError]
    let warnings: [ConfigurationError]
    /// "3 apps", "1 file".
    let subject: String

    func lines(_ style: Style) -> [String] {
        let lines =
            errors.map { style.paint(place($0), .bold) + $0.message.printable }
            + warnings.map { style.paint(place($0), .bold) + style.paint("warning: ", .caution) + $0.message.printable }
        let found = [
            errors.isEmpty ? nil : Amounts.count(errors.count, "error"),
            warnings.isEmpty ? nil : Amounts.count(warnings.count, "warning"),
        ].compactMap { $0 }
        let verdict = found.isEmpty ? "nothing wrong" : found.joined(separator: ", ")
        return lines + ["\(subject): " + style.paint(verdict, errors.isEmpty ? .good : .bad)]
    }

    /// As compilers write it, so that editors find the place.
    private func place(_ problem: ConfigurationError) -> String {
        problem.file.printable + ":" + (problem.line.map { "\($0):" } ?? "") + " "
    }

    var json: JSON {
        func list(_ problems: [ConfigurationError]) -> JSON {
            .array(
                problems.map { problem in
                    [
                        "file": .string(problem.file), "line": JSON(problem.line.map { Int64($0) }),
                        "message": .string(problem.message),
                    ]
                })
        }
        return ["errors": list(errors), "warnings": list(warnings)]
    }
}
