internal import CLinux
internal import EventLoop
internal import Journal
internal import SystemCalls

// Where an app's stdout and stderr go.

/// Descriptors for one start; they are the caller's to keep open until then.
struct OutputDescriptors: ~Copyable {
    var outputFile: FileDescriptor?
    var errorFile: FileDescriptor?

    var output: Int32? { Self.number(outputFile) }
    var error: Int32? { Self.number(errorFile) ?? output }

    private static func number(_ file: borrowing FileDescriptor?) -> Int32? {
        switch file {
        case .some(let open): open.rawValue
        case .none: nil
        }
    }
}

/// The last 64 KiB an app wrote, where there is no journal. Reads from a pipe that the app keeps over its instances, so
/// that one that fills its stdout is emptied, and never waits for us for long.
final class OutputRing {
    static let capacity = 65536

    private var bytes: [UInt8] = []
    private let reader: FileDescriptor
    let writer: FileDescriptor
    private var source: IOSource?

    init(_ supervisor: Supervisor) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard linux_pipe_cloexec(&ends) == 0 else { throw SystemError("pipe") }
        reader = FileDescriptor(owning: ends[0])
        writer = FileDescriptor(owning: ends[1])
        _ = linux_set_flags(ends[0], O_NONBLOCK | linux_get_flags(ends[0]))
        source = try supervisor.loop.watch(ends[0], .readable, priority: EventLoop.Priority.idle) {
            [unowned(unsafe) self, unowned(unsafe) supervisor] _ in
            drain()
            supervisor.wakeIfDue()
        }
    }

    private func drain() {
        let count = 8192
        let chunk = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, read(reader.rawValue, buffer.baseAddress, count))
        }
        if bytes.count + chunk.count > 2 * Self.capacity {
            bytes.removeFirst(bytes.count + chunk.count - Self.capacity)
        }
        bytes.append(contentsOf: chunk)
    }

    /// The last lines, oldest first, in so many bytes; those that are no UTF-8 are replaced.
    func lastLines(_ count: Int, bytes limit: Int) -> [String] {
        drain()
        let lines = bytes.suffix(limit).split(separator: UInt8(ascii: "\n"))
        return lines.suffix(count).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension Supervisor {
    /// The journal's stream where there is a journal, else the app's ring.
    func openOutput(_ app: SupervisedApp) throws(SystemError) -> OutputDescriptors {
        if let stream = log.openStream("curfew-\(app.name)", error: false) {
            return OutputDescriptors(
                outputFile: stream, errorFile: log.openStream("curfew-\(app.name)", error: true))
        }
        if app.output == nil { app.output = try OutputRing(self) }
        guard let ring = app.output else { return OutputDescriptors() }
        return OutputDescriptors(outputFile: try ring.writer.duplicate(), errorFile: nil)
    }
}
