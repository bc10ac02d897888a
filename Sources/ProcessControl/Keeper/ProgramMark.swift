internal import CLinux

/// Which file lies at a path: what was tried is to be what is run.
public struct ProgramMark: Equatable {
    public var file: Int64
    /// In nanoseconds, of its device's clock.
    public var change: Int64

    public init(file: Int64, change: Int64) { (self.file, self.change) = (file, change) }

    /// nil: there is none.
    public init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        file = Int64(truncatingIfNeeded: status.st_ino)
        change = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    }
}
