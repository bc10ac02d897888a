internal import CLinux
internal import SystemCalls

/// Another program, started and watched by the tool.
final class Program {
    let pid: Int32
    let pidfd: FileDescriptor
    private(set) var hasEnded = false

    /// Starts a program in a session of its own. arguments: the first is its absolute path. output, error: descriptors
    /// for its stdout and stderr; nil is /dev/null.
    init(_ arguments: [String], environment: [String], output: Int32?, error: Int32?) throws(SystemError) {
        var result = linux_spawn_result()
        var environmentBytes = Self.block(environment)
        let argumentBytes = Self.block(arguments)
        let descriptors = [
            linux_spawn_descriptor(source: -1, target: 0), linux_spawn_descriptor(source: output ?? -1, target: 1),
            linux_spawn_descriptor(source: error ?? -1, target: 2),
        ]
        argumentBytes.withUnsafeBufferPointer { argumentBuffer in
            environmentBytes.withUnsafeMutableBufferPointer { environmentBuffer in
                descriptors.withUnsafeBufferPointer { descriptorBuffer in
                    var request = linux_spawn_request()
                    request.arguments = argumentBuffer.baseAddress
                    request.argument_count = arguments.count
                    request.environment = environmentBuffer.baseAddress
                    request.environment_count = environment.count
                    request.group = -1
                    request.umask = -1
                    request.descriptors = descriptorBuffer.baseAddress
                    request.descriptor_count = descriptorBuffer.count
                    linux_spawn(&request, &result)
                }
            }
        }
        guard result.step == Int32(LINUX_SPAWN_DONE) else {
            throw SystemError("start", arguments.first ?? "", errno: Errno(rawValue: result.error))
        }
        pid = result.pid
        pidfd = FileDescriptor(owning: result.pidfd)
    }

    deinit { kill() }

    private static func block(_ strings: [String]) -> [CChar] {
        strings.flatMap { $0.utf8.map { CChar(bitPattern: $0) } + [0] } + [0]
    }

    func signal(_ number: Int32) {
        if !hasEnded { _ = linux_pidfd_send_signal(pidfd.rawValue, number) }
    }

    /// Ends it at once and reaps it.
    func kill() {
        signal(SIGKILL)
        reap(waiting: true)
    }

    /// Whether it has ended; then it is reaped.
    @discardableResult
    func reap(waiting: Bool = false) -> Bool {
        if hasEnded { return true }
        var exit = linux_exit()
        hasEnded = linux_reap(pidfd.rawValue, waiting, &exit) != 0
        return hasEnded
    }

    // MARK: Finding and reading

    /// A program's absolute path, by PATH.
    static func find(_ name: String) -> String? {
        let path = Terminal.variable("PATH") ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        return path.split(separator: ":").map { "\($0)/\(name)" }.first { $0.hasPrefix("/") && access($0, X_OK) == 0 }
    }

    /// The tool's own program.
    static var ownPath: String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &buffer, buffer.count)
        guard length > 0, length < buffer.count else { return nil }
        return String(decoding: buffer[0..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// All it wrote to stdout (256 KiB at most), if it has ended in time; nil else.
    static func output(of arguments: [String], within nanoseconds: Int64) -> [UInt8]? {
        var ends: [Int32] = [-1, -1]
        guard linux_pipe_cloexec(&ends) == 0 else { return nil }
        let reader = FileDescriptor(owning: ends[0])
        let writer = FileDescriptor(owning: ends[1])
        let environment = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"]
        guard let program = try? Program(arguments, environment: environment, output: writer.rawValue, error: nil)
        else { return nil }
        writer.close()
        let loop = DescriptorLoop()
        let bytes = Reference<[UInt8]>([])
        let isOver = Reference(false)
        let number = reader.rawValue
        loop.watch(number, { POLLIN }) { _ in
            var chunk = [UInt8](repeating: 0, count: 16384)
            let count = read(number, &chunk, chunk.count)
            if count > 0 { bytes.value += chunk[0..<count] }
            isOver.value = count <= 0 || bytes.value.count > 256 << 10
        }
        let isComplete = loop.run(until: Clocks.monotonic + nanoseconds) { isOver.value }
        program.kill()
        withExtendedLifetime(reader) {}
        return isComplete ? bytes.value : nil
    }
}
