internal import CLinux

/// What may never come back, done by a thread of its own (`linux_do_in_time`): a read of files whose directories other
/// users can hold, a question to a name service.
public enum Errand {
    /// What it may hang at: while one does, no other is sent there.
    public enum Subject: UInt64, Sendable {
        case users = 1
        case configuration, profiles, folders
    }

    private final class Box {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }

        static func at(_ context: UnsafeMutableRawPointer?) -> Unmanaged<Box>? {
            context.map { Unmanaged.fromOpaque($0.load(as: UnsafeMutableRawPointer.self)) }
        }
    }

    private final class Slot<Value> {
        var value: Value?
    }

    /// What it returns; nil: not within so many milliseconds, or one hangs there already. It must share nothing with
    /// its caller: it may run on for long after this has returned.
    public static func run<Value>(at subject: Subject, within limit: Int32, _ body: @escaping () -> Value) -> Value? {
        let slot = Slot<Value>()
        return run(at: subject, within: limit) { slot.value = body() } ? slot.value : nil
    }

    private static func run(at subject: Subject, within limit: Int32, _ body: @escaping () -> Void) -> Bool {
        let box = Unmanaged.passRetained(Box(body))
        var context = box.toOpaque()
        let plan = linux_errand(
            run: { Box.at($0)?.takeUnretainedValue().body() }, discard: { Box.at($0)?.release() },
            subject: linux_at_swift | subject.rawValue)
        guard linux_do_in_time(plan, &context, MemoryLayout<UnsafeMutableRawPointer>.size, limit) else { return false }
        box.release()
        return true
    }
}
