internal import CLinux
internal import SystemCalls

/// What the app writes to stdout and stderr, line by line.
final class AppOutput {
    static let file = "/output"
    private static let longestLine = 4096
    private static let kept = 20

    private let fifo: FileDescriptor
    private var partial: [UInt8] = []
    /// The last lines, for reports.
    private(set) var lastLines: [String] = []
    var onLine: ((String) -> Void)?

    init(_ root: PrivateRoot, _ loop: DescriptorLoop) throws(SystemError) {
        fifo = try root.makeFIFO(Self.file)
        loop.watch(readable: fifo.rawValue) { [unowned self] in onReadable() }
    }

    private func onReadable() {
        var chunk = [UInt8](repeating: 0, count: 16384)
        let count = read(fifo.rawValue, &chunk, chunk.count)
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
