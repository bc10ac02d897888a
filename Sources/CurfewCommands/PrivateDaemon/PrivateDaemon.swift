internal import CLinux
internal import SystemCalls

/// A curfewd of a command's own.
final class PrivateDaemon {
    private let program: Program
    private let loop: DescriptorLoop
    private let errors: FileDescriptor
    private var sources: [DescriptorLoop.Source] = []
    /// What it logged, in lines.
    private(set) var log: [String] = []
    private var partial: [UInt8] = []
    private(set) var hasEnded = false

    /// $CURFEWD, else beside the tool, else by PATH.
    static func find(besides tool: String) throws(CommandFailure) -> String {
        if let named = Terminal.variable("CURFEWD"), !named.isEmpty {
            guard let path = absolute(named), access(path, X_OK) == 0 else {
                throw .failed("$CURFEWD names no program: \(named)")
            }
            return path
        }
        let beside = Files.directoryName(of: tool) + "/curfewd"
        if access(beside, X_OK) == 0 { return beside }
        if let found = Program.find("curfewd") { return found }
        throw .failed(
            "there is no curfewd beside \(tool) or in PATH; build it (deploy/build), or name it: CURFEWD=… curfew …")
    }

    private static func absolute(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    init(_ path: String, _ root: PrivateRoot, _ options: [String], output: Int32?, _ loop: DescriptorLoop)
        throws(SystemError)
    {
        self.loop = loop
        var ends: [Int32] = [-1, -1]
        guard linux_pipe_cloexec(&ends) == 0 else { throw SystemError("pipe") }
        errors = FileDescriptor(owning: ends[0])
        let writer = FileDescriptor(owning: ends[1])
        var arguments = [path, "--root", root.path, "--no-board"] + options
        if let group = root.controlGroup { arguments += ["--cgroup", group] }
        let environment = [
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SWIFT_BACKTRACE=enable=no",
            "DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(root.path)/no-bus",
        ]
        program = try Program(arguments, environment: environment, output: output, error: writer.rawValue)
        writer.close()
        sources.append(loop.watch(readable: ends[0]) { [unowned self] in readLog() })
        sources.append(
            loop.watch(readable: program.pidfd.rawValue) { [unowned self] in
                hasEnded = program.reap()
                if hasEnded { sources.last?.cancel() }
            })
    }

    deinit {
        for source in sources { source.cancel() }
    }

    private func readLog() {
        var chunk = [UInt8](repeating: 0, count: 16384)
        let count = read(errors.rawValue, &chunk, chunk.count)
        guard count > 0 else {
            sources.first?.cancel()
            return
        }
        partial += chunk[0..<count]
        while let end = partial.firstIndex(of: UInt8(ascii: "\n")) {
            log.append(String(decoding: partial[..<end], as: UTF8.self))
            partial.removeFirst(end + 1)
        }
    }

    func askToEnd() { program.signal(SIGTERM) }
    func kill() {
        program.kill()
        hasEnded = true
    }
}
