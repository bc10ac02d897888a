internal import CLinux
internal import SystemCalls

/// What the app writes to stdout and stderr, line by line: a pipe without a name, so that what comes is the app's own,
/// and comes from a sandbox too.
final class AppOutput {
    private static let longestLine = 4096
    private static let kept = 20

    private let reader: FileDescriptor
    /// The daemon's stdout, which that hands on to the app. Open here too: so the pipe never ends for its reader.
    let writer: FileDescriptor
    private var partial: [UInt8] = []
    /// The last lines, for reports.
    private(set) var lastLines: [String] = []
    var onLine: ((String) -> Void)?

    init(_ loop: DescriptorLoop) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard linux_pipe_cloexec(&ends) == 0 else { throw SystemError("pipe") }
        reader = FileDescriptor(owning: ends[0])
        writer = FileDescriptor(owning: ends[1])
        loop.watch(readable: reader.rawValue) { [unowned self] in onReadable() }
    }

    private func onReadable() {
        var chunk = [UInt8](repeating: 0, count: 16384)
        let count = read(reader.rawValue, &chunk, chunk.count)
        guard count > 0 else { return }
        partial += chunk[0..<count]
        while let end = partial.firstIndex(of: UInt8(ascii: "\n")) {
            say(partial[..<end])
            partial.removeFirst(end + 1)
        }
        if partial.count > Self.longestLine { flush() }
    }

    /// What it wrote last, though it did not end the line.
    func flush() {
        if !partial.isEmpty { say(partial[...]) }
        partial = []
    }

    private func say(_ bytes: ArraySlice<UInt8>) {
        let line = String(decoding: bytes, as: UTF8.self)
        lastLines.append(line)
        if lastLines.count > Self.kept { lastLines.removeFirst() }
        onLine?(line)
    }
}
