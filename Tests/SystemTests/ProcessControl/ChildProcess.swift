import CLinux
import SystemCalls

@testable import ProcessControl

/// A child of the test itself, started as the keeper starts one, by the packet that it would be sent. `descriptor`
/// becomes readable when it has ended; then `reap` it.
final class ChildProcess {
    let pid: Int32
    private let pidfd: FileDescriptor
    private var exitStatus: ProcessExit?

    var descriptor: Int32 { pidfd.rawValue }

    private init(pid: Int32, pidfd: consuming FileDescriptor) {
        self.pid = pid
        self.pidfd = pidfd
    }

    static func spawn(_ request: SpawnRequest) throws(SpawnError) -> ChildProcess {
        let packet = try StartPacket(request, id: 7)
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: packet.bytes.count, alignment: 8)
        defer { bytes.deallocate() }
        bytes.copyBytes(from: packet.bytes)
        var result = linux_spawn_result()
        result.step = Int32(LINUX_SPAWN_PREPARE)
        result.error = EBADMSG
        _ = ReceivedStart.read(bytes, packet.descriptors[...]) { raw, _ in linux_spawn(&raw, &result) }
        guard Int(result.step) == LINUX_SPAWN_DONE else {
            throw SpawnError(step: result.step, errno: result.error, detail: result.detail, request)
        }
        return ChildProcess(pid: result.pid, pidfd: FileDescriptor(owning: result.pidfd))
    }

    func signal(_ number: Int32) throws(SystemError) {
        if linux_pidfd_send_signal(pidfd.rawValue, number) != 0 { throw SystemError("kill", "\(pid)") }
    }

    /// nil while it runs.
    func reap() throws(SystemError) -> ProcessExit? {
        if let exitStatus { return exitStatus }
        var end = linux_exit()
        while true {
            switch linux_reap(pidfd.rawValue, false, &end) {
            case 0: return nil
            case 1:
                var word = keeper_word()
                word.code = end.code
                word.status = end.status
                word.cpu_ns = end.cpu_ns
                word.max_rss_bytes = end.max_rss_bytes
                exitStatus = ProcessExit(word)
                return exitStatus
            default:
                let errno = Errno.current
                if errno != .interrupted { throw SystemError("waitid", "\(pid)", errno: errno) }
            }
        }
    }
}
