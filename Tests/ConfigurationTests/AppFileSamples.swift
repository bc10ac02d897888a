import Configuration
import Testing

/// Every user and group exists but "nosuch".
let anyone = Accounts(
    user: { $0 == "nosuch" ? .missing : .exists(id: $0 == "root" ? 0 : 1000) },
    group: { $0 == "nosuch" ? .missing : .exists(id: 1000) })

let minimal = "exec = [\"/bin/true\"]\n"

func entry(_ toml: String, name: String = "camera") -> AppEntry {
    AppConfiguration.parse(Array(toml.utf8), name: name, file: "camera.toml", accounts: anyone)
}

/// The app of a file that must be right.
func app(_ toml: String, name: String = "camera", _ location: SourceLocation = #_sourceLocation) throws
    -> AppConfiguration
{
    switch entry(toml, name: name) {
    case .valid(let app): return app
    case .invalid(_, let errors):
        Issue.record("\(errors.map { $0.text })", sourceLocation: location)
        throw errors[0]
    }
}

/// A file with something wrong in it, and what must be said about it.
struct BadFile: CustomTestStringConvertible, Sendable {
    let toml: String
    let line: Int?
    let message: String

    init(_ toml: String, _ line: Int?, _ message: String) {
        self.toml = toml
        self.line = line
        self.message = message
    }

    var testDescription: String { message }
}
