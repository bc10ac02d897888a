internal import CLinux
public import SystemCalls

/// What memory.events has counted since the group was made, in the group and in those below it.
public struct MemoryEvents: Equatable, Sendable {
    /// The group was slowed down, being above memory.high. Once for every attempt to take more.
    public let high: Int64
    /// It was about to go above memory.max.
    public let max: Int64
    /// Nothing could be reclaimed any more; the kernel killed, or refused.
    public let oom: Int64
    /// Processes killed by the kernel's OOM killer, for lack of memory on the board too.
    public let oomKill: Int64
    /// Kills of the group as a whole (memory.oom.group, Linux 5.17).
    public let oomGroupKill: Int64

    /// A line that is missing counts 0.
    init(parsing text: [UInt8]) {
        high = NumberedLines.number("high ", in: text) ?? 0
        max = NumberedLines.number("max ", in: text) ?? 0
        oom = NumberedLines.number("oom ", in: text) ?? 0
        oomKill = NumberedLines.number("oom_kill ", in: text) ?? 0
        oomGroupKill = NumberedLines.number("oom_group_kill ", in: text) ?? 0
    }
}

/// An open memory.events: EPOLLPRI when it has changed. A group above memory.high changes it up to 100 times a second,
/// so that who has heard of it should not listen for a while.
public final class ControlGroupMemoryEvents {
    private let file: WatchedFile

    /// To be watched for EPOLLPRI; owned by this object.
    public var descriptor: Int32 { file.descriptor }

    init(_ file: WatchedFile) { self.file = file }

    /// The counts now; arms the watch for the next change. nil once the group has been removed.
    public func read() throws(SystemError) -> MemoryEvents? {
        try file.read().map { MemoryEvents(parsing: $0) }
    }
}

extension ControlGroup {
    /// A watch on memory.events, for an event loop; nil without the memory controller.
    public func openMemoryEvents() throws(SystemError) -> ControlGroupMemoryEvents? {
        guard controllers.contains(.memory) else { return nil }
        return ControlGroupMemoryEvents(try WatchedFile(path + "/memory.events"))
    }

    /// What there would be back without this group: memory.current, or without the controller what its processes have
    /// that is backed by no file, and what of it is swapped out (/proc/PID/status, which waits for none of the locks
    /// that a process short of memory holds). Costs a file a process: for a decision, not for watching.
    public var footprintBytes: Int64 {
        if let memoryBytes { return memoryBytes }
        var sum: Int64 = 0
        for pid in processes() {
            sum &+= max(0, linux_own_memory(pid))
        }
        return sum
    }

    /// How often systemd-oomd has killed this group, which it notes at the group before it does so (user.oomd_ooms).
    public var oomdKills: Int64 {
        var value = [UInt8](repeating: 0, count: 24)
        let count = value.withUnsafeMutableBytes { getxattr(path, "user.oomd_ooms", $0.baseAddress, $0.count) }
        return count > 0 ? NumberedLines.number(value[0..<count]) ?? 0 : 0
    }
}
