import Configuration
import Foundation
import Testing

@Suite struct BoardMatchTests {
    private func profile(_ name: String, _ match: BoardMatch) -> HardwareProfile {
        var profile = HardwareProfile(name: name)
        profile.match = match
        return profile
    }

    private func match(compatible: [String] = [], dmi: [[String]] = [], architecture: String = "") -> BoardMatch {
        var match = BoardMatch()
        match.compatible = compatible
        match.dmi = dmi.map { $0 + [String](repeating: "", count: BoardIdentity.dmiKeys.count - $0.count) }
        match.architecture = architecture
        return match
    }

    private func board(
        _ compatible: [String] = [], dmi: [String] = [], architecture: String = "aarch64"
    ) -> BoardIdentity {
        BoardIdentity(
            compatible: compatible,
            dmi: dmi + [String](repeating: "", count: BoardIdentity.dmiKeys.count - dmi.count),
            architecture: architecture)
    }

    @Test func theMostSpecificNameOfTheTreeWins() {
        let profiles = HardwareProfiles(profiles: [
            profile("chip", match(compatible: ["v,chip"])), profile("board", match(compatible: ["v,board", "v,new"])),
            profile("any", match(architecture: "aarch64")), profile("dmi", match(dmi: [["Vendor"]])),
        ])
        #expect(profiles.match(board(["v,board", "v,chip"])).profile?.name == "board")
        #expect(profiles.match(board(["v,other", "v,chip"], dmi: ["Vendor"])).profile?.name == "chip")
        #expect(profiles.match(board(["w,x"], dmi: ["Vendor"])).profile?.name == "dmi")
        #expect(profiles.match(board(["w,x"])).profile?.name == "any")
        #expect(profiles.match(board(["w,x"], architecture: "riscv64")).profile == nil)
        #expect(profiles.match(board(["w,x"], architecture: "riscv64")).alike == [])
    }

    @Test func moreDMITextsWin() {
        let profiles = HardwareProfiles(profiles: [
            profile("vendor", match(dmi: [["Vendor"]])), profile("model", match(dmi: [["Vendor", "M1"]])),
            profile("series", match(dmi: [["Vendor", "M*"]])), profile("two", match(dmi: [["A"], ["B"]])),
        ])
        #expect(profiles.match(board(dmi: ["Vendor", "M1"])).profile?.name == "model")
        #expect(profiles.match(board(dmi: ["Vendor", "M"])).profile?.name == "series")
        #expect(profiles.match(board(dmi: ["Vendor", "N1"])).profile?.name == "vendor")
        #expect(profiles.match(board(dmi: ["B"])).profile?.name == "two")
        #expect(profiles.match(board(dmi: ["vendor", "M1"])).profile == nil, "DMI's letters have a case")
        #expect(profiles.match(board(dmi: ["", "M1"])).profile == nil, "all texts must be the board's")
    }

    @Test func aStarNeedsSomething() {
        let star = match(dmi: [["*"]])
        #expect(star.rank(board(dmi: [""])) == 0 && star.rank(board(dmi: ["x"])) > 0)
        #expect(match(dmi: [["ab*"]]).rank(board(dmi: ["a"])) == 0)
    }

    @Test func alikeMeansTheGenericOne() {
        let alike = [profile("one", match(compatible: ["v,b"])), profile("two", match(compatible: ["v,a", "v,b"]))]
        let (none, names) = HardwareProfiles(profiles: alike).match(board(["v,b"]))
        #expect(none == nil && names == ["one", "two"])
        let generic = profile("any", match(architecture: "aarch64"))
        #expect(HardwareProfiles(profiles: alike + [generic]).match(board(["v,b"])).profile?.name == "any")
        #expect(HardwareProfiles(profiles: [generic, generic]).match(board()).profile == nil)
    }

    // MARK: files

    @Test func identityIsReadFromTheSystem() throws {
        let root = try ProfileRoot()
        #expect(BoardIdentity.read(root: root.path).compatible == [])
        try root.write("proc/device-tree/compatible", "v,board\0v,chip\0")
        try root.write("sys/class/dmi/id/sys_vendor", " Vendor \n")
        try root.write("sys/class/dmi/id/board_name", "B 1\n")
        try root.write("proc/sys/kernel/arch", "riscv64\n")
        let board = BoardIdentity.read(root: root.path)
        #expect(board.compatible == ["v,board", "v,chip"] && board.architecture == "riscv64")
        #expect(board.dmi == ["Vendor", "", "", "", "", "", "B 1"])
        try root.write("sys/firmware/devicetree/base/compatible", "w,board\0")
        #expect(BoardIdentity.read(root: root.path).compatible == ["w,board"])
        #expect(!BoardIdentity.read(root: root.path + "/none").architecture.isEmpty, "uname(2) knows it")
    }

    @Test func theAdministratorsReplacesTheVendors() throws {
        let root = try ProfileRoot()
        try root.write("usr/share/curfew/hardware-profiles/a.toml", ProfileSample.with(""))
        try root.write("usr/share/curfew/hardware-profiles/b.toml", ProfileSample.with(""))
        try root.write("usr/share/curfew/hardware-profiles/c.toml", ProfileSample.with(""))
        try root.write("usr/share/curfew/hardware-profiles/d.toml", "description = 1")
        try root.write("usr/share/curfew/hardware-profiles/e.toml~", "leftover")
        try root.write("etc/curfew/hardware-profiles/a.toml", "description = \"Mine\"\nmatch.arch = \"x\"")
        try root.write("etc/curfew/hardware-profiles/b.toml", "")
        try FileManager.default.createSymbolicLink(
            atPath: root.path + "/etc/curfew/hardware-profiles/c.toml", withDestinationPath: "/dev/null")
        let profiles = HardwareProfiles.load(paths: root.paths)
        #expect(profiles.profiles.map(\.name) == ["a"] && profiles.profiles.first?.description == "Mine")
        #expect(Set(profiles.errors.map(\.file)) == [root.path + "/usr/share/curfew/hardware-profiles/d.toml"])
    }

    @Test func onlyWhatCanFitIsParsed() throws {
        let root = try ProfileRoot()
        let directory = "usr/share/curfew/hardware-profiles/"
        try root.write(directory + "bad.toml", "a broken file for some other board, by Linux arch/arm64")
        try root.write(directory + "fits.toml", ProfileSample.with(""))
        try root.write(directory + "escaped.toml", "description = \"B\"\nmatch.compatible = [\"v\\u002Cb\", \"w,b\"]")
        #expect(HardwareProfiles.load(paths: root.paths).errors.count == 1)
        let some = HardwareProfiles.load(paths: root.paths, for: board(["v,b", "v,chip"]))
        #expect(some.errors == [] && some.profiles.map(\.name) == ["escaped", "fits"])
    }

    @Test func selectTakesTheNamedOne() throws {
        let root = try ProfileRoot()
        try root.write("usr/share/curfew/hardware-profiles/a.toml", ProfileSample.with(""))
        try root.write("etc/curfew/hardware-profiles/b.toml", "description = \"B\"\nmatch.arch = \"none\"")
        let board = board(["v,b"])
        #expect(HardwareProfiles.select(.automatic, for: board, paths: root.paths).profile?.name == "a")
        let named = HardwareProfiles.select(.named("b"), for: board, paths: root.paths)
        #expect(named.profile?.name == "b" && named.errors == [])
        let unknown = HardwareProfiles.select(.named("x"), for: board, paths: root.paths)
        #expect(unknown.profile?.name == "a")
        #expect(unknown.errors.map(\.message) == ["there is no hardware profile 'x'"])
        try root.write("etc/curfew/hardware-profiles/b.toml", "descriptoin = \"B\"")
        let bad = HardwareProfiles.select(.named("b"), for: board, paths: root.paths)
        #expect(bad.profile?.name == "a" && bad.errors.contains { $0.message.contains("did you mean 'description'?") })
    }

    @Test func selectNamesProfilesThatFitAlike() throws {
        let root = try ProfileRoot()
        try root.write("usr/share/curfew/hardware-profiles/a.toml", ProfileSample.with(""))
        try root.write("usr/share/curfew/hardware-profiles/b.toml", ProfileSample.with(""))
        try root.write("usr/share/curfew/hardware-profiles/any.toml", "description = \"A\"\nmatch.arch = \"aarch64\"")
        let (profile, errors) = HardwareProfiles.select(.automatic, for: board(["v,b"]), paths: root.paths)
        #expect(profile?.name == "any")
        #expect(errors.map(\.message) == ["several hardware profiles fit this board alike: a or b"])
    }

    @Test func noFilesNoProfileNoErrors() throws {
        let root = try ProfileRoot()
        let (profile, errors) = HardwareProfiles.select(.automatic, for: board(["v,b"]), paths: root.paths)
        #expect(profile == nil && errors == [])
    }
}

/// A root with files, for one test.
final class ProfileRoot {
    let path = NSTemporaryDirectory() + "curfew-profiles-\(UUID().uuidString.prefix(8))"
    var paths: ConfigurationPaths { ConfigurationPaths(root: path) }

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: String) throws {
        let file = path + "/" + name
        let directory = (file as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    }
}
