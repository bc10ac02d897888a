internal import CLinux
internal import SystemCalls

/// A process that keeps its group from being frozen.
public struct UnfrozenProcess: Equatable, Sendable {
    public let pid: Int32
    /// comm of the thread in question.
    public let name: String
    /// "D", uninterruptible; "R", running, in the kernel if it stays so.
    public let state: String
    /// The kernel function it sleeps in (/proc/PID/wchan); nil where the kernel does not tell,
    /// or not soon.
    public let waitChannel: String?

    /// "dd[4711] (state D in nfs_wait_bit_killable)".
    public var text: String {
        let place = waitChannel.map { " in \($0)" } ?? ""
        return "\(name)[\(pid)] (state \(state)\(place))"
    }
}

extension ControlGroup {
    /// Who has not followed a `freeze`, at most `limit` of them. A sleep that a signal can interrupt cannot resist, so
    /// the culprits are threads in state D or R. (A parent that waits in vfork is in D as well, though it counts as
    /// frozen.)
    public func unfrozenProcesses(limit: Int = 8) -> [UnfrozenProcess] {
        var culprits: [UnfrozenProcess] = []
        for pid in processes() where culprits.count < limit {
            if !Self.findBusyThread(of: pid, &culprits) { break }
        }
        return culprits
    }

    /// Returns false where it is not known in time: what keeps one look waiting keeps the next one too.
    private static func findBusyThread(of pid: Int32, _ culprits: inout [UnfrozenProcess]) -> Bool {
        var busy = linux_busy_thread()
        guard linux_find_busy_thread(pid, &busy) else { return false }
        guard busy.tid != 0 else { return true }
        culprits.append(
            UnfrozenProcess(
                pid: pid, name: withUnsafePointer(to: &busy.status) { String(cString: linux_process_name($0)) },
                state: String(decoding: [UInt8(bitPattern: busy.status.state)], as: UTF8.self),
                waitChannel: waitChannel(pid, busy.tid)))
        return true
    }

    private static func waitChannel(_ pid: Int32, _ thread: Int32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { name in
            guard let base = name.baseAddress, linux_wait_channel(pid, thread, base) else { return nil }
            return String(cString: base)
        }
    }
}
