import CLinux
import Foundation
import SystemCalls
import Testing

/// A process that a test has started: its output on a pipe, the null device for the rest. Not Foundation's Process:
/// that hears of an end by a descriptor, and one that a process started at the same time has inherited keeps it
/// waiting.
final class Program {
    let processID: pid_t
    private let output: FileDescriptor
    private var status: Int32?

    init(_ path: String, _ arguments: [String], environment: [String] = ["PATH=/usr/bin:/bin"]) throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe2(&ends, O_CLOEXEC) == 0)
        output = FileDescriptor(owning: ends[0])
        let writer = FileDescriptor(owning: ends[1])
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&files, writer.rawValue, 1)
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // This thread may have blocked signals for a loop.
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer { for word in words + variables { free(word) } }
        var identifier: pid_t = 0
        let failure = posix_spawn(&identifier, path, &files, &attributes, words, variables)
        guard failure == 0 else { throw SystemError("posix_spawn", path, errno: Errno(rawValue: failure)) }
        processID = identifier
    }

    deinit {
        signal(SIGKILL)
        _ = wait()
    }

    func signal(_ number: Int32) {
        if status == nil { kill(processID, number) }
    }

    /// Its exit status, once it has ended; 128 and the signal's number when that ended it.
    func wait() -> Int32 {
        if let status { return status }
        var raw: Int32 = 0
        while waitpid(processID, &raw, 0) < 0, Errno.current == .interrupted {}
        let code = raw & 0x7f == 0 ? (raw >> 8) & 0xff : 128 + (raw & 0x7f)
        status = code
        return code
    }

    /// What it has written next; empty at the end.
    func readSome() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(output.rawValue, &bytes, bytes.count)
        return Array(bytes[0..<max(count, 0)])
    }

    func readAll() -> String {
        var bytes: [UInt8] = []
        while true {
            let some = readSome()
            if some.isEmpty { return String(decoding: bytes, as: UTF8.self) }
            bytes += some
        }
    }
}
