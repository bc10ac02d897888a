import CLinux
import Configuration
import Foundation
import Testing

/// What another user can write is refused by name.
@Suite struct OwnershipTests {
    let root: TemporaryRoot

    init() throws {
        root = try TemporaryRoot()
        try root.administrator("apps/camera.toml", minimal)
        try root.administrator("curfew.toml", "front = \"one\"")
    }

    private var apps: String { root.path + "/etc/curfew/apps" }
    private var camera: String { apps + "/camera.toml" }

    private var errors: [String] {
        let configuration = root.load()
        return root.short(configuration.errors + configuration.apps.flatMap { $0.errors })
    }

    @Test func rootsOwnAreTaken() { #expect(errors == []) }

    @Test(arguments: [
        (0o666, "can be written by every user; expected by its owner alone (chmod go-w)"),
        (0o662, "can be written by every user; expected by its owner alone (chmod go-w)"),
    ])
    func fileThatOthersCanWrite(mode: Int, why: String) throws {
        #expect(chmod(camera, mode_t(mode)) == 0)
        #expect(errors == ["apps/camera.toml: " + why])
        #expect(chmod(camera, 0o644) == 0)
        #expect(errors == [])
        #expect(chmod(root.path + "/etc/curfew/curfew.toml", mode_t(mode)) == 0)
        #expect(errors == ["curfew.toml: " + why])
        #expect(root.load().device == DeviceConfiguration())
    }

    @Test(.enabled(if: geteuid() == 0)) func fileThatIsAnothersOrAnotherGroups() throws {
        #expect(chown(camera, 1234, 0) == 0)
        #expect(errors == ["apps/camera.toml: belongs to user 1234; expected root's"])
        #expect(chown(camera, 0, 1234) == 0)
        #expect(chmod(camera, 0o664) == 0)
        #expect(
            errors == ["apps/camera.toml: can be written by group 1234; expected by its owner alone (chmod go-w)"])
        // To be read by a group gives no rights; to be written by root's neither.
        #expect(chmod(camera, 0o640) == 0)
        #expect(errors == [])
        #expect(chown(camera, 0, 0) == 0)
        #expect(chmod(camera, 0o664) == 0)
        #expect(errors == [])
    }

    @Test(arguments: ["/etc/curfew/apps", "/etc/curfew"]) func folderThatOthersCanWrite(folder: String) throws {
        let place = root.path + folder
        #expect(chmod(place, 0o777) == 0)
        let why = "which can be written by every user; expected by its owner alone (chmod go-w)"
        #expect(errors.contains { $0.hasPrefix("apps/camera.toml: lies in ") && $0.hasSuffix(why) })
        // What others put into a sticky folder is theirs, and refused for that.
        #expect(chmod(place, 0o1777) == 0)
        #expect(errors == [])
    }

    @Test(.enabled(if: geteuid() == 0)) func folderThatIsAnothers() throws {
        #expect(chown(apps, 1234, 0) == 0)
        let found = errors
        #expect(found.count == 1)
        #expect(found.first?.hasSuffix("which belongs to user 1234; expected root's") == true)
    }

    @Test func linkToAFileThatOthersCanWrite() throws {
        let target = root.path + "/target.toml"
        try Data(minimal.utf8).write(to: URL(fileURLWithPath: target))
        #expect(chmod(target, 0o666) == 0)
        try root.link("/etc/curfew/apps/linked.toml", to: target)
        #expect(errors.map { $0.prefix(17) } == ["apps/linked.toml:"])
    }

    @Test func linkIntoAFolderThatOthersCanWrite() throws {
        let folder = root.path + "/elsewhere"
        #expect(mkdir(folder, 0o755) == 0)
        try Data(minimal.utf8).write(to: URL(fileURLWithPath: folder + "/target.toml"))
        try root.link("/etc/curfew/apps/linked.toml", to: folder + "/target.toml")
        #expect(errors == [])
        #expect(chmod(folder, 0o777) == 0)
        #expect(errors.map { $0.prefix(26) } == ["apps/linked.toml: lies in "])
        #expect(errors.first?.contains("/elsewhere, which can be written by every user") == true)
    }

    @Test func fileThatIsAskedForByName_isCheckedAllTheSame_withAWarning() throws {
        #expect(chmod(camera, 0o666) == 0)
        let configuration = Configuration.check(file: camera, accounts: anyone)
        #expect(configuration.isValid)
        #expect(configuration.warnings.contains { $0.text.hasSuffix("(chmod go-w); curfewd refuses it") })
    }

    @Test func programThatOthersCanWrite_isAWarning() throws {
        let program = root.path + "/program"
        try Data("#!/bin/sh\n".utf8).write(to: URL(fileURLWithPath: program))
        try root.administrator("apps/camera.toml", "exec = [\"\(program)\"]\nuser = \"camera\"")
        func warnings() -> [String] {
            Configuration.check(paths: ConfigurationPaths(root: root.path), accounts: anyone).warnings.map { $0.text }
                .filter { $0.contains("the program") }
        }
        #expect(chmod(program, 0o755) == 0)
        #expect(warnings() == [])
        #expect(chmod(program, 0o757) == 0)
        #expect(warnings().count == 1)
        #expect(
            warnings().first?.hasSuffix("can be written by every user; expected by its owner alone (chmod go-w)")
                == true)
    }
}
