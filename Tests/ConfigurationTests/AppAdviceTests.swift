import Configuration
import Foundation
import Testing

/// What `curfew check` says of an app's programs, folders and variables.
@Suite struct AppAdviceTests {
    let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    @Test func scripts() throws {
        try root.administrator("text", "echo\n")
        try root.administrator("windows", "#!/bin/sh\r\necho\r\n")
        try root.administrator("python", "#! /no/python -u\n")
        try root.administrator("good", "#! /bin/sh\n")
        try root.administrator("apps/awk.toml", "exec = [\"/bin/sh\", \"-F\", \"|\"]\nuser = \"awk\"\n")
        for name in ["text", "windows", "python", "good"] {
            let path = root.path + "/etc/curfew/" + name
            try #require(chmod(path, 0o755) == 0)
            try root.administrator("apps/\(name).toml", "exec = [\"\(path)\", \"|\", \"x\"]\nuser = \"\(name)\"\n")
        }
        let checked = Configuration.check(paths: ConfigurationPaths(root: root.path), accounts: anyone)
        let warnings = root.short(checked.warnings)
        let shell =
            "the argument \"|\" goes to the program as it is, as no shell reads it; for one: "
            + "[\"/bin/sh\", \"-c\", \"…\"]"
        #expect(
            warnings == [
                "apps/good.toml:1: \(shell)",
                "apps/python.toml:1: the program python needs /no/python, by its first line, which is not "
                    + "there",
                "apps/python.toml:1: \(shell)",
                "apps/text.toml:1: the program text is a text without a first line such as #!/bin/sh: it "
                    + "cannot be started",
                "apps/text.toml:1: \(shell)",
                "apps/windows.toml:1: the program windows has lines that end as on Windows (CR LF): it "
                    + "cannot be started; sed -i 's/\\r$//' mends it",
                "apps/windows.toml:1: \(shell)",
            ])
    }

    /// The folder is made for an app with a sandbox too, whatever its user.
    @Test func ownVariables() throws {
        let variables = "environment = { CURFEW_SOCKET = \"x\", STATE_DIRECTORY = \"y\", CURFEW_MINE = \"z\" }"
        try root.administrator("apps/a.toml", minimal + "user = \"u\"\nsandbox = \"default\"\n" + variables)
        try root.administrator("apps/b.toml", minimal + "user = \"v\"\nsandbox = \"off\"\n" + variables)
        let end = "in environment is not used: it is curfewd's own, which sets it or leaves it out"
        #expect(
            root.short(root.load().warnings).filter { $0.contains("environment") } == [
                "apps/a.toml: 'CURFEW_SOCKET' \(end)", "apps/a.toml: 'STATE_DIRECTORY' \(end)",
                "apps/b.toml: 'CURFEW_SOCKET' \(end)",
            ])
    }

    @Test func itsOwnFolder() throws {
        let folder = "user = \"auto\"\nworking-directory = \"/var/lib/curfew-apps/"
        try root.administrator("apps/a.toml", minimal + folder + "a\"")
        try root.administrator("apps/b.toml", minimal + folder + "none\"")
        #expect(
            root.short(root.check("apps/a.toml").warnings + root.check("apps/b.toml").warnings) == [
                "apps/b.toml: working-directory: /var/lib/curfew-apps/none is not there; without it the app is not "
                    + "started"
            ])
    }
}
