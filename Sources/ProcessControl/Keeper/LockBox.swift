internal import CLinux
public import SystemCalls

/// A socket with a copy of a lock of logind's in it: that is given back when it is taken out, whatever process has
/// the socket too.
public enum LockBox {
    /// What the names begin with by which the keeper has them.
    public static let names = "lock/"

    /// nil: there is no room for it.
    public static func make(of lock: Int32) -> FileDescriptor? {
        var ends: [Int32] = [-1, -1]
        guard linux_packet_pair(&ends) == 0 else { return nil }
        let entry = FileDescriptor(owning: ends[0])
        let box = FileDescriptor(owning: ends[1])
        guard linux_packet_send(entry.rawValue, "x", 1, [lock], 1) == 0 else { return nil }
        return box
    }

    /// Gives it back, if that was not done yet.
    public static func empty(_ box: Int32) {
        var (byte, lock, count, isLost) = (UInt8(0), Int32(-1), 1, false)
        if linux_packet_receive(box, &byte, 1, &lock, &count, &isLost, false) == 1, count == 1 { close(lock) }
    }
}
