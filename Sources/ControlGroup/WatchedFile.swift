internal import CLinux
internal import SystemCalls

/// A file of a cgroup that the kernel announces changes of, with EPOLLPRI (and EPOLLERR); reading it through this very
/// descriptor ends that.
final class WatchedFile {
    private let file: FileDescriptor
    private let path: String

    var descriptor: Int32 { file.rawValue }

    init(_ path: String) throws(SystemError) {
        file = try FileDescriptor.open(path, O_RDONLY)
        self.path = path
    }

    /// What it says now, of which these files have a few lines; nil once the group has been removed.
    func read() throws(SystemError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 256)
        while true {
            let count = bytes.withUnsafeMutableBytes { pread(file.rawValue, $0.baseAddress, $0.count, 0) }
            if count >= 0 { return Array(bytes[0..<count]) }
            let errno = Errno.current
            if errno.rawValue == ENODEV { return nil }
            if errno != .interrupted { throw SystemError("read", path, errno: errno) }
        }
    }
}

/// Texts of the kernel with a number a line, behind its name: cgroup files, /proc/meminfo, /proc/PID/status.
enum NumberedLines {
    /// The digits behind `name` at the start of a line, blanks between left out; nil where there are none, or too many.
    static func number(_ name: String, in text: [UInt8]) -> Int64? {
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: name.utf8) {
            return number(line.dropFirst(name.utf8.count))
        }
        return nil
    }

    /// The digits that a text starts with.
    static func number(_ text: ArraySlice<UInt8>) -> Int64? {
        let digits = text.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        var value: Int64?
        for byte in digits {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { break }
            let (times, overflow) = (value ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, overflows) = times.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            if overflow || overflows { return nil }
            value = sum
        }
        return value
    }
}
