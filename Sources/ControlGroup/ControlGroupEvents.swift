internal import CLinux
public import SystemCalls

/// What cgroup.events says.
public struct ControlGroupState: Equatable, Sendable {
    /// There is a living process here or below.
    public let populated: Bool
    /// Every process is frozen. A group whose processes were killed while frozen stays so, with `populated` false.
    public let frozen: Bool

    public init(populated: Bool, frozen: Bool) {
        self.populated = populated
        self.frozen = frozen
    }

    init(parsing text: [UInt8]) {
        let lines = text.split(separator: UInt8(ascii: "\n"))
        populated = lines.contains { $0.elementsEqual("populated 1".utf8) }
        frozen = lines.contains { $0.elementsEqual("frozen 1".utf8) }
    }
}

/// An open cgroup.events. The kernel makes it ready with EPOLLPRI (and EPOLLERR) when the file has changed; reading it
/// through this very descriptor ends that. One descriptor per group, no inotify. "frozen" comes at once; changes that
/// follow another within 10 ms come up to 18 ms late, so a process's end is better heard from its pidfd.
public final class ControlGroupEvents {
    private let file: WatchedFile

    /// To be watched for EPOLLPRI; owned by this object.
    public var descriptor: Int32 { file.descriptor }

    init(_ file: WatchedFile) { self.file = file }

    /// The state now; arms the watch for the next change. nil once the group has been removed.
    public func read() throws(SystemError) -> ControlGroupState? {
        try file.read().map { ControlGroupState(parsing: $0) }
    }

    /// Blocks until `condition` holds, the group is gone, or the clock has reached `deadline` (CLOCK_MONOTONIC, ns):
    /// for the daemon's start, before there is a loop. Whether it holds, or the group is gone.
    package func wait(until deadline: Int64, _ condition: (ControlGroupState) -> Bool) throws(SystemError) -> Bool {
        while true {
            guard let state = try read(), !condition(state) else { return true }
            let left = deadline - Clocks.monotonic
            if left <= 0 { return false }
            var entry = pollfd(fd: descriptor, events: Int16(POLLPRI), revents: 0)
            _ = poll(&entry, 1, Int32(min((left + 999_999) / 1_000_000, 60_000)))
        }
    }
}
