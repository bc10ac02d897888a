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
    /// Sockets that wait for the thread that closes, which is one at a time: it has a copy of the table of descriptors
    /// until it has closed all others in it, and to close may be to wait.
    private var closing: [Int32] = []
    private var closer: UnsafeMutablePointer<linux_disposal>?
    private var taking: [(disposal: UnsafeMutablePointer<linux_disposal>, whenDone: () -> Void)] = []
    /// What no thread could be had for, yet.
    private var untaken: [(descriptor: Int32, whenDone: () -> Void)] = []
    /// Nanoseconds until it is tried again.
    private static let pause: Int64 = 1_000_000_000

    public init(_ loop: EventLoop) { self.loop = loop }

    /// Closes a socket that nothing more can come into.
    public func close(_ socket: consuming FileDescriptor) {
        closing.append(socket.take())
        start()
    }

    /// Takes the next datagram off a socket, which is not to be read until that is done.
    ///
    /// copy: a second descriptor of it.
    public func takeDatagram(from copy: consuming FileDescriptor, whenDone: @escaping () -> Void) {
        untaken.append((copy.take(), whenDone))
        start()
    }

    private func start() {
        guard let bell = openBell() else { return tryLater() }
        if closer == nil, !closing.isEmpty {
            closer = linux_dispose(LINUX_CLOSE_SOCKETS, closing, closing.count, bell)
            guard closer != nil else { return tryLater() }
            closing = []
        }
        while let next = untaken.first {
            guard let disposal = linux_dispose(LINUX_TAKE_DATAGRAM, [next.descriptor], 1, bell) else {
                return tryLater()
            }
            untaken.removeFirst()
            taking.append((disposal, next.whenDone))
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
        let done = taking.filter { linux_is_disposed($0.disposal) }
        taking.removeAll { one in done.contains { $0.disposal == one.disposal } }
        if let closer, linux_is_disposed(closer) {
            linux_finish_disposal(closer)
            self.closer = nil
        }
        for one in done {
            linux_finish_disposal(one.disposal)
            one.whenDone()
        }
        if !closing.isEmpty { start() }
    }
}
