import Lifecycle
import Testing

@testable import Configuration
@testable import Supervision

@Suite struct ReloadTests {
    private static func valid(_ name: String, _ executable: String = "/bin/true") throws -> AppEntry {
        let text = "exec = [\"\(executable)\"]\nuser = \"root\"\n"
        return AppFile.parse(
            Array(text.utf8), name: name, file: "\(name).toml", accounts: KnownAccounts(.system)
        ).entry
    }

    @Test func changedApps_areTheNew_theGone_andTheDifferent() throws {
        let broken = AppEntry.invalid(name: "broken", errors: [])
        let before = Configuration(apps: try [broken, Self.valid("gone"), Self.valid("other"), Self.valid("same")])
        let next = Configuration(
            apps: try [broken, Self.valid("new"), Self.valid("other", "/bin/false"), Self.valid("same")])
        #expect(before.names(changedIn: next) == ["gone", "new", "other"])
        #expect(next.names(changedIn: before) == ["gone", "new", "other"])
        #expect(before.names(changedIn: before) == [])
    }
}
