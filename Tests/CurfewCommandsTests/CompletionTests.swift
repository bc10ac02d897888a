import Foundation
import Testing
import Varlink

@testable import CurfewCommands

/// What a shell is told when its user presses Tab.
@Suite struct CompletionTests {
    /// As the scripts ask: the command, its argument, and the words of the line.
    private func offered(_ command: [String], _ words: [String]) -> PlayedDaemon.Outcome {
        PlayedDaemon.run(["---completion"] + command + ["--", "positional@0", "\(words.count - 1)", "0"] + words)
    }

    @Test func appsAreThoseOfTheDaemon() throws {
        let daemon = try PlayedDaemon { method, _ in
            #expect(method == "List")
            return .reply(["apps": [Sample.app("camera"), Sample.app("task-backup")]])
        }
        for root in [["--root", daemon.root], ["--root=\(daemon.root)/"], ["--root", "=", daemon.root]] {
            let told = offered(["launch"], ["curfew"] + root + ["launch", ""])
            #expect(told.output == "camera\ntask-backup\n" && told.error.isEmpty && told.code == 0)
        }
    }

    @Test func reportsAreTheNewestFirst() throws {
        let ends = (1...30).map { Sample.overrun.with("report", .string("\($0)")) }
        let daemon = try PlayedDaemon { _, _ in .reply(["terminations": .array(ends)]) }
        let told = offered(["report"], ["curfew", "--root", daemon.root, "report", ""])
        #expect(told.output.split(separator: "\n") == (11...30).reversed().map { Substring("\($0)") })
    }

    @Test func theDiskIsAsked_whenNoDaemonAnswers() throws {
        let root = NSTemporaryDirectory() + "curfew-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: root) }
        for file in ["etc/curfew/apps/camera.toml", "usr/lib/curfew/apps/radio.toml", "etc/curfew/apps/.hidden.toml"] {
            let url = URL(fileURLWithPath: "\(root)/\(file)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: url)
        }
        try PlayedDaemon.store([Sample.overrun], root: root)
        let line = ["curfew", "--root", root]
        #expect(offered(["status"], line + ["status", ""]).output == "camera\nradio\n")
        #expect(offered(["report"], line + ["report", ""]).output == "17\n")
        let nothing = offered(["profile", "show"], line + ["profile", "show", ""])
        #expect(nothing.output.allSatisfy(\.isNewline) && nothing.error.isEmpty && nothing.code == 0)
    }

    @Test func theShellDoesNotWaitLong_whenTheDaemonIsStuck() throws {
        let daemon = try PlayedDaemon { _, _ in .open(["apps": .null]) }
        let start = ContinuousClock.now
        let told = offered(["launch"], ["curfew", "--root", daemon.root, "launch", ""])
        #expect(told.output.allSatisfy(\.isNewline) && told.error.isEmpty)
        #expect(ContinuousClock.now - start < .seconds(5))
    }
}
