internal import CLinux
internal import SystemCalls

/// Who traces a process (ptrace(2)), and so may hold back its end: PTRACE_O_TRACEEXIT keeps even SIGKILL from it, and
/// what has ended stays the tracer's zombie, hidden from its parent, until the tracer waits for it or ends.
public enum Tracers {
    /// Bytes of /proc/PID/task/TID/status; the line is near its beginning.
    private static let statusLimit = 4096
    private static let key = Array("TracerPid:\t".utf8)

    /// Those of all its threads, each once.
    public static func of(_ pid: Int32) -> [Int32] {
        var found: [Int32] = []
        for thread in (try? Files.list("/proc/\(pid)/task")) ?? [] {
            guard let status = try? Files.read("/proc/\(pid)/task/\(thread)/status", limit: statusLimit),
                let tracer = tracer(in: status), !found.contains(tracer)
            else { continue }
            found.append(tracer)
        }
        return found
    }

    /// nil: there is none.
    static func tracer(in status: [UInt8]) -> Int32? {
        for line in status.split(separator: UInt8(ascii: "\n")) where line.starts(with: key) {
            return Int32(String(decoding: line.dropFirst(key.count), as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
        }
        return nil
    }

    /// The same of one that runs as that real user, held so that it is no other; nil: it is another's, or gone.
    public static func open(_ tracer: Int32, of pid: Int32, user: UInt32) -> ProcessHandle? {
        guard let handle = try? ProcessHandle.open(tracer), of(pid).contains(tracer), handle.user == user else {
            return nil
        }
        return handle
    }
}
