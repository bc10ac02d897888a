internal import CLinux
public import SystemCalls

/// Gets rid of sockets and messages that others have put descriptors into. To close those may take as long as their
/// sender likes: a thread does it.
public final class Disposal {
    private unowned(unsafe) let loop: EventLoop
    /// An eventfd(2). Made when it is first needed, which is never where all behave.
    private var bell: FileDescriptor?
    private var number: Int32 = -1
    private var source: IOSource?
    private var retry: TimerSource?
    private var running: [(disposal: UnsafeMutablePointer<linux_disposal>, whenDone: () -> Void)] = []
    /// What no thread could be had for, yet.
    private var waiting: [(kind: linux_disposal_kind, descriptor: Int32, whenDone: () -> Void)] = []
    /// Nanoseconds until it is tried again.
    private static let pause: Int64 = 1_000_000_000

    public init(_ loop: EventLoop) { self.loop = loop }

    /// Closes a socket that nothing more can come into.
    public func close(_ socket: consuming FileDescriptor) {
        begin(LINUX_CLOSE_SOCKET, socket.take()) {}
    }

    /// Takes the next datagram off a socket, which is not to be read until that is done.
    ///
    /// copy: a second descriptor of it.
    public func takeDatagram(from copy: consuming FileDescriptor, whenDone: @escaping () -> Void) {
        begin(LINUX_TAKE_DATAGRAM, copy.take(), whenDone)
    }

    private func begin(_ kind: linux_disposal_kind, _ descriptor: Int32, _ whenDone: @escaping () -> Void) {
        waiting.append((kind, descriptor, whenDone))
        start()
    }

    private func start() {
        guard let bell = openBell() else { return tryLater() }
        while let next = waiting.first {
            guard let disposal = linux_dispose(next.kind, next.descriptor, bell) else { return tryLater() }
            waiting.removeFirst()
            running.append((disposal, next.whenDone))
        }
    }

    private func openBell() -> Int32? {
        if source != nil { return number }
        number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard number >= 0 else { return nil }
        bell = FileDescriptor(owning: number)
        source = try? loop.watch(number, .readable) { [unowned(unsafe) self] _ in finish() }
        return source == nil ? nil : number
    }

    private func tryLater() {
        if retry == nil { retry = try? loop.timer { [unowned(unsafe) self] in start() } }
        retry?.arm(at: Clocks.monotonic + Self.pause)
    }

    private func finish() {
        var count: UInt64 = 0
        _ = read(number, &count, MemoryLayout.size(ofValue: count))
        let done = running.filter { linux_is_disposed($0.disposal) }
        running.removeAll { one in done.contains { $0.disposal == one.disposal } }
        for one in done {
            linux_finish_disposal(one.disposal)
            one.whenDone()
        }
    }
}
