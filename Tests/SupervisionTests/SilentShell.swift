import CLinux
import Configuration
import EventLoop
import Glibc
import Journal
import SystemCalls
import Testing

@testable import Supervision

/// A shell without anything around it, and what it says.
final class SilentShell {
    let loop: EventLoop
    let keeper: TestKeeper
    let supervisor: Supervisor
    private let reader: FileDescriptor
    private let writer: FileDescriptor

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        reader = FileDescriptor(owning: ends[0])
        writer = FileDescriptor(owning: ends[1])
        let journal = Journal(identifier: "curfewd", socketPath: nil, standardError: writer.rawValue)
        loop = try EventLoop()
        keeper = try TestKeeper(loop)
        supervisor = try Supervisor(
            loop: loop, keeper: keeper.loopSide, paths: RuntimePaths(root: "/nonexistent"), log: Log(journal: journal),
            groups: nil, configuration: Configuration.load(paths: ConfigurationPaths(root: "/nonexistent")))
    }

    /// All that it has said so far.
    func said() throws -> String {
        _ = linux_set_flags(reader.rawValue, linux_get_flags(reader.rawValue) | O_NONBLOCK)
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(reader.rawValue, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}
