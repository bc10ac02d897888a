import CLinux
import ProcessControl
import SystemCalls
import Testing

/// Waits for the event, not for a time: the bound is there only so that a broken test ends.
func waitReadable(_ descriptor: Int32, events: Int32 = POLLIN, bound: Int32 = 10_000) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    return poll(&entry, 1, bound) == 1
}

func waitForEnd(of child: ChildProcess) throws -> ProcessExit {
    #expect(waitReadable(child.descriptor), "the process did not end")
    let exit = try child.reap()
    return try #require(exit)
}

struct Pipe: ~Copyable {
    let reading: FileDescriptor
    let writing: FileDescriptor

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(linux_pipe_cloexec(&ends) == 0)
        reading = FileDescriptor(owning: ends[0])
        writing = FileDescriptor(owning: ends[1])
    }

    consuming func close() {}

    /// What comes until every writer has closed, ours first.
    consuming func readToEnd() throws -> String {
        writing.close()
        return String(decoding: try reading.readAll(), as: UTF8.self)
    }
}

/// Runs a program to its end and returns what it wrote.
func output(of request: SpawnRequest) throws -> String {
    let pipe = try Pipe()
    var request = request
    request.standardOutput = pipe.writing.rawValue
    request.standardError = pipe.writing.rawValue
    let child = try ChildProcess.spawn(request)
    let text = try pipe.readToEnd()
    #expect(try waitForEnd(of: child).cause == .exited(0))
    return text
}

/// A script for /bin/sh with the PATH it needs.
func shell(_ script: String) -> SpawnRequest {
    SpawnRequest(arguments: ["/bin/sh", "-c", script], environment: ["PATH=/usr/bin:/bin"])
}

func withTemporaryDirectory(_ body: (String) throws -> Void) throws {
    var template = Array("/tmp/curfew-XXXXXX".utf8CString)
    try #require(
        template.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.flatMap { mkdtemp($0.assumingMemoryBound(to: CChar.self)) } != nil
        })
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer {
        for name in (try? Files.list(path)) ?? [] { try? Files.remove(path + "/" + name) }
        rmdir(path)
    }
    try body(path)
}

/// Written by another process: a descriptor that is open for writing here could be with some other test's child for a
/// moment, and exec would say ETXTBSY.
func writeProgram(_ path: String, _ text: String, mode: String) throws {
    _ = try output(of: shell("printf '\(text)' > '\(path)' && chmod \(mode) '\(path)'"))
}

let isRoot = geteuid() == 0
