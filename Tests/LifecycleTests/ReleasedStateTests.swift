import Foundation
import Testing

@testable import Lifecycle

/// What each version has written of one story, state by state: a loop of this one goes on from it, or refuses it. A
/// file comes with each release: CURFEW_WRITE_STATES=VERSION has this suite write it.
@Suite struct ReleasedStateTests {
    struct Version: Sendable {
        let name: String
        /// False from the change on that gave another meaning to something (`DeviceLifecycle.formatVersion`).
        let isRead: Bool
    }

    static let versions = [Version(name: "0.1.0", isRead: true)]

    private let story = StateArchiveTests()
    private let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "States")

    private func file(_ version: String) -> URL { folder.appending(path: version + ".states") }

    /// The core after each step, from the first on.
    private func cores() throws -> [DeviceLifecycle] {
        var board = Board(story.apps)
        return try story.steps.map { step in
            _ = try step(&board)
            return board.core
        }
    }

    @Test(arguments: versions) func isGoneOnFromOrRefused(_ version: Version) throws {
        let cores = try cores()
        if ProcessInfo.processInfo.environment["CURFEW_WRITE_STATES"] == version.name {
            let lines = cores.map { Data($0.archived()).base64EncodedString() + "\n" }
            try Data(lines.joined().utf8).write(to: file(version.name))
        }
        let states = try String(contentsOf: file(version.name), encoding: .utf8).split(separator: "\n")
        #expect(states.count == cores.count)
        for (state, core) in zip(states, cores) {
            let read = DeviceLifecycle(archive: Array(try #require(Data(base64Encoded: String(state)))))
            // What it does not say of a state has come since, and stands at what it is in the beginning.
            #expect((read == core) == version.isRead)
        }
    }
}
