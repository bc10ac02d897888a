import Configuration
import Foundation
import Lifecycle
import Testing

/// A root of its own, removed with the test.
final class TemporaryRoot {
    let path: String

    init() throws {
        var template = Array((NSTemporaryDirectory() + "/curfew-configuration-XXXXXX").utf8CString)
        path = String(cString: try #require(mkdtemp(&template)))
        for directory in ["/etc/curfew/apps", "/usr/lib/curfew/apps"] {
            try FileManager.default.createDirectory(atPath: path + directory, withIntermediateDirectories: true)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func vendor(_ file: String, _ text: String) throws { try write("/usr/lib/curfew/" + file, text) }
    func administrator(_ file: String, _ text: String) throws { try write("/etc/curfew/" + file, text) }
    func link(_ file: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path + file, withDestinationPath: target)
    }

    private func write(_ file: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + file))
    }

    func check(_ file: String) -> Configuration {
        Configuration.check(file: path + "/etc/curfew/" + file, accounts: anyone)
    }

    func load() -> Configuration { Configuration.load(paths: ConfigurationPaths(root: path), accounts: anyone) }

    /// "apps/x.toml:1: message", without what comes before "apps" or "curfew.toml".
    func short(_ errors: [ConfigurationError]) -> [String] {
        errors.map { $0.text.replacing(path + "/etc/curfew/", with: "").replacing(path, with: "") }
    }
}

@Suite struct LoaderTests {
    let root: TemporaryRoot
    private let quiet = "user = \"camera\"\n"

    init() throws { root = try TemporaryRoot() }

    @Test func nothingConfigured() throws {
        var none = Configuration.load(paths: ConfigurationPaths(root: "/nonexistent"))
        #expect(none.isWithoutFolder && none.isValid)
        none.missFolder(ConfigurationPaths(root: "/nonexistent"))
        #expect(none.errors.map(\.file) == ["/nonexistent/etc/curfew/apps"])
        #expect(root.load() == Configuration())
        #expect(Configuration().isValid)
    }

    @Test func anEmptyFileTakesTheVendorsAppAway_andIsAMistakeWithoutOne() throws {
        try root.vendor("apps/a.toml", "exec = [\"/vendor\"]")
        try root.administrator("apps/a.toml", "")
        #expect(root.load().apps.isEmpty && root.load().isValid)
        try root.administrator("apps/lost.toml", "")
        let errors = root.load().apps.flatMap { app -> [ConfigurationError] in
            if case .invalid("lost", let errors) = app { errors } else { [] }
        }
        #expect(errors.map { $0.message.contains("is empty") } == [true])
    }

    @Test func administratorsFileReplacesTheVendors() throws {
        try root.vendor("apps/b.toml", "exec = [\"/vendor\"]")
        try root.vendor("apps/a.toml", "exec = [\"/vendor\"]")
        try root.administrator("apps/b.toml", "exec = [\"/admin\"]")
        try root.administrator("apps/c.toml", "exec = [\"/admin\"]")
        try root.vendor("curfew.toml", "profile = \"vendor\"\nfront = \"one\"")
        #expect(root.load().device.profile == .named("vendor"))
        try root.administrator("curfew.toml", "profile = \"admin\"")
        let configuration = root.load()
        #expect(configuration.device.profile == .named("admin"))
        #expect(configuration.device.policy.front == .many)
        let programs = configuration.apps.map { entry -> [String] in
            if case .valid(let app) = entry { [app.name] + app.exec } else { [] }
        }
        #expect(programs == [["a", "/vendor"], ["b", "/admin"], ["c", "/admin"]])
    }

    @Test func maskedByEmptyFileOrNullDevice() throws {
        for name in ["a", "b", "c"] { try root.vendor("apps/\(name).toml", minimal) }
        try root.vendor("curfew.toml", "front = \"one\"")
        try root.administrator("apps/a.toml", "")
        try root.link("/etc/curfew/apps/b.toml", to: "/dev/null")
        try root.link("/etc/curfew/curfew.toml", to: "/dev/null")
        let configuration = root.load()
        #expect(configuration.apps.map { $0.name } == ["c"])
        #expect(configuration.isValid)
        #expect(configuration.device == DeviceConfiguration())
    }

    @Test func emptyVendorFileIsAnError() throws {
        try root.vendor("apps/a.toml", "")
        #expect(!root.load().isValid)
    }

    @Test func badAppDoesNotDisturbTheOthers() throws {
        try root.administrator("apps/bad.toml", "exec = [\"relative\"]\nresart = 1\n")
        try root.administrator("apps/good.toml", minimal + quiet)
        let configuration = root.load()
        #expect(configuration.apps.map { $0.name } == ["bad", "good"])
        #expect(configuration.apps[1].errors.isEmpty)
        #expect(configuration.errors.isEmpty)
        #expect(!configuration.isValid)
        #expect(
            root.short(configuration.allErrors) == [
                "apps/bad.toml:1: 'exec' is the relative path 'relative'; expected an absolute path "
                    + "(there is no search path)",
                "apps/bad.toml:2: unknown key 'resart'; did you mean 'restart'?",
            ])
    }

    @Test func badDeviceFileMeansDefaultsAndErrors() throws {
        try root.administrator("curfew.toml", "front = \"one\"\nfornt = 1")
        try root.vendor("curfew.toml", "front = \"one\"")
        let configuration = root.load()
        #expect(configuration.device == DeviceConfiguration())
        #expect(root.short(configuration.errors) == ["curfew.toml:2: unknown key 'fornt'; did you mean 'front'?"])
    }

    @Test func whatIsNoRegularFile() throws {
        let apps = root.path + "/etc/curfew/apps"
        // Without a writer, opening this one the usual way would never return.
        #expect(mkfifo(apps + "/fifo.toml", 0o600) == 0)
        #expect(mkdir(apps + "/directory.toml", 0o700) == 0)
        try root.link("/etc/curfew/apps/dangling.toml", to: "/nonexistent")
        try root.link("/etc/curfew/apps/loop.toml", to: "loop.toml")
        try root.link("/etc/curfew/apps/zero.toml", to: "/dev/zero")
        try root.link("/etc/curfew/curfew.toml", to: "/nonexistent")
        #expect(
            root.short(root.load().allErrors) == [
                "curfew.toml: is a link to nothing",
                "apps/dangling.toml: is a link to nothing",
                "apps/directory.toml: is a directory; expected a file",
                "apps/fifo.toml: is a FIFO; expected a regular file",
                "apps/loop.toml: cannot be read: Too many levels of symbolic links",
                "apps/zero.toml: is not a regular file",
            ])
    }

    @Test func tenMegabytesAreNotRead() throws {
        let path = root.path + "/etc/curfew/apps/big.toml"
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.truncate(atOffset: 10 << 20)
        try file.close()
        #expect(root.short(root.load().allErrors) == ["apps/big.toml: is 10 MiB large; expected at most 1 MiB"])
    }

    @Test func appsIsAFile() throws {
        try FileManager.default.removeItem(atPath: root.path + "/etc/curfew/apps")
        try root.administrator("apps", "")
        #expect(root.short(root.load().errors) == ["apps: cannot be read: Not a directory"])
    }

    @Test func cyclesConcernOnlyTheirApps() throws {
        try root.administrator("apps/camera.toml", minimal + quiet + "after = [\"storage\"]")
        try root.administrator("apps/storage.toml", minimal + "after = [\"camera\"]")
        try root.administrator("apps/self.toml", minimal + "after = [\"self\"]")
        try root.administrator("apps/ui.toml", minimal + quiet + "after = [\"camera\"]")
        let configuration = root.load()
        #expect(
            root.short(configuration.allErrors) == [
                "apps/camera.toml:3: waits for itself: after: camera -> storage -> camera",
                "apps/self.toml:2: waits for itself: after: self -> self",
                "apps/storage.toml:2: waits for itself: after: storage -> camera -> storage",
            ])
        #expect(configuration.apps.last?.errors == [])
        #expect(configuration.warnings.isEmpty)
    }
}

@Suite struct WarningTests {
    let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    @Test(arguments: [
        (
            "",
            [
                ": 'user' is not set: it runs as curfewd's own user, which is usually root; user = \"auto\" gives it "
                    + "one of its own"
            ]
        ),
        ("user = \"auto\"", []),
        ("user = \"root\"", [":2: runs as root; give it a user of its own"]),
        ("user = \"u\"", []),
        ("user = \"u\"\nafter = [\"nobody\"]", [":3: 'after' names 'nobody', which is not configured"]),
        (
            "user = \"u\"\nlaunch = \"boot\"\nstart = \"background\"",
            [":4: is suspended as soon as it is launched; set suspend = false if it must run in background"]
        ),
        ("user = \"u\"\nlaunch = \"boot\"\nstart = \"background\"\nsuspend = false", []),
        ("user = \"u\"\nlaunch = \"boot\"\nstart = \"background\"\ndelegate = \"varlink\"", []),
        (
            "user = \"u\"\nlaunch = \"on-demand\"\nbackground.refresh = false",
            [": is never launched by itself: launch = \"on-demand\" needs refresh = true in [background]"]
        ),
        (
            "user = \"u\"\n[hooks]\nwill-terminate = [\"/x\"]\n[signals]\nwill-terminate = \"TERM\"",
            [
                ":3: [hooks] is not used without delegate = \"hooks\"",
                ":5: [signals] is not used without delegate = \"signals\"",
            ]
        ),
        (
            "user = \"u\"\ndelegate = \"signals\"\nsignals.did-finish-launching = \"USR1\"",
            [
                ":4: did-finish-launching is sent before the program can be ready for it; readiness = \"notify\" waits "
                    + "for READY=1"
            ]
        ),
        ("user = \"u\"\ndelegate = \"hooks\"", [": has delegate = \"hooks\" but no [hooks]"]),
        ("user = \"u\"\ndelegate = \"signals\"", [": has delegate = \"signals\" but no [signals]"]),
    ])
    func ofOneApp(text: String, expected: [String]) throws {
        try root.administrator("apps/a.toml", minimal + text)
        let configuration = root.load()
        #expect(configuration.isValid)
        #expect(root.short(configuration.warnings) == expected.map { "apps/a.toml" + $0 })
    }

    @Test func sharedUser() throws {
        for name in ["a", "b", "c"] { try root.administrator("apps/\(name).toml", minimal + "user = \"u\"") }
        #expect(
            root.short(root.load().warnings) == [
                "apps/b.toml:2: shares the user 'u' with 'a': the two are not protected from each other",
                "apps/c.toml:2: shares the user 'u' with 'a': the two are not protected from each other",
            ])
    }

    @Test func otherFiles() throws {
        for name in ["a.toml~", ".a.toml.swp", ".hidden.toml", "#a.toml#", "a.toml.dpkg-old", "README", "b.conf"] {
            try root.administrator("apps/" + name, "")
        }
        try root.administrator("apps/Bad.toml", minimal)
        let configuration = root.load()
        #expect(
            root.short(configuration.warnings) == [
                "apps/README: is not an app's file; expected NAME.toml",
                "apps/b.conf: is not an app's file; expected NAME.toml",
            ])
        #expect(configuration.apps.map { $0.name } == ["Bad"])
        #expect(!configuration.isValid)
    }

    @Test func aFileWhoseNameIsNotUTF8_isNamedInAWarning() throws {
        let bytes = Array((root.path + "/etc/curfew/apps/a").utf8) + [0xFF, 0xFE] + Array(".toml".utf8) + [0]
        let path = bytes.map { CChar(bitPattern: $0) }
        fclose(fopen(path, "w"))
        let configuration = root.load()
        #expect(configuration.apps.isEmpty && configuration.isValid)
        #expect(
            root.short(configuration.warnings) == [
                "apps/a\u{FFFD}\u{FFFD}.toml: is passed over: its name is not UTF-8; expected NAME.toml"
            ])
    }

    @Test func whatAFileIsCalled_doesNothingToATerminal() throws {
        try root.administrator("apps/a\u{1B}[31mb.toml", minimal)
        try root.administrator("apps/c\nd.toml", minimal)
        try FileManager.default.createDirectory(
            atPath: root.path + "/etc/curfew/apps/e\u{9B}.toml", withIntermediateDirectories: true)
        let errors = root.load().allErrors
        #expect(errors.count == 3)
        let text = errors.map(\.text).joined()
        #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }

    @Test func invalidAppIsStillKnownToOthers() throws {
        try root.administrator("apps/a.toml", minimal + "user = \"u\"\nafter = [\"b\"]")
        try root.administrator("apps/b.toml", "exec = 5")
        #expect(root.load().warnings.isEmpty)
    }
}

@Suite struct CheckTests {
    let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    @Test func appFile() throws {
        try root.administrator("apps/a.toml", "exec = [\"/nonexistent\"]\nuser = \"u\"\nafter = [\"storage\"]")
        let checked = root.check("apps/a.toml")
        #expect(checked.isValid)
        #expect(checked.apps.map { $0.name } == ["a"])
        #expect(root.short(checked.warnings) == ["apps/a.toml:1: the program /nonexistent is not there"])
    }

    @Test func programs() throws {
        try root.administrator("apps/a.toml", "exec = [\"/etc/passwd\"]\nuser = \"u\"\n")
        try root.administrator(
            "apps/b.toml", minimal + "user = \"w\"\ndelegate = \"hooks\"\nhooks.will-terminate = [\"/none\"]")
        let checked = Configuration.check(paths: ConfigurationPaths(root: root.path), accounts: anyone)
        #expect(
            root.short(checked.warnings) == [
                "apps/a.toml:1: /etc/passwd is not an executable file",
                "apps/b.toml:4: the program /none is not there",
            ])
        #expect(root.load().warnings.isEmpty)
    }

    @Test func itself() throws {
        try root.administrator("apps/a.toml", minimal + "after = [\"a\"]")
        #expect(root.short(root.check("apps/a.toml").allErrors) == ["apps/a.toml:2: waits for itself: after: a -> a"])
    }

    @Test func deviceFile() throws {
        try root.administrator("curfew.toml", "front = 5")
        #expect(
            root.short(root.check("curfew.toml").errors) == [
                "curfew.toml:1: 'front' is the integer 5; expected \"many\" or \"one\""
            ])
    }

    /// In apps/ that name is an app's.
    @Test func appNamedCurfew() throws {
        try root.administrator("apps/curfew.toml", minimal)
        #expect(root.check("apps/curfew.toml").apps.map { $0.name } == ["curfew"])
    }

    @Test func missingAndOther() throws {
        try root.administrator("apps/README", "")
        try root.administrator("apps/empty.toml", "")
        #expect(root.short(root.check("apps/a.toml").allErrors) == ["apps/a.toml: is not there"])
        #expect(root.short(root.check("curfew.toml").allErrors) == ["curfew.toml: is not there"])
        #expect(
            root.short(root.check("apps/README").allErrors) == [
                "apps/README: is not an app's file; expected NAME.toml"
            ])
        #expect(root.check("apps/empty.toml").isValid)
        #expect(
            root.short(root.check("apps/empty.toml").warnings) == [
                "apps/empty.toml: is empty: it only takes away the vendor's app"
            ])
    }

    @Test func systemsAccounts() {
        let accounts = Accounts.system
        #expect(accounts.user("root") == .exists(id: 0))
        #expect(accounts.group("root") == .exists(id: 0))
        #expect(accounts.user("no-such-user-here") == .missing)
        #expect(accounts.group("no-such-group-here") == .missing)
    }

    @Test func rootIsPutBeforeEveryPath() {
        #expect(ConfigurationPaths(root: "/x/").administrator == "/x/etc/curfew")
        #expect(ConfigurationPaths(root: "/").vendor == "/usr/lib/curfew")
        #expect(ConfigurationPaths().vendor == "/usr/lib/curfew")
    }
}
