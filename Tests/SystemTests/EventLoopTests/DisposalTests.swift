import CLinux
import SystemCalls
import Testing

@testable import EventLoop

/// What others sent descriptors with is closed for good, and no table of ours held it up. One at a time: a process has
/// one such thread.
@Suite(.serialized) final class DisposalTests {
    private let loop: EventLoop
    private let disposal: Disposal
    private let pipe: PipePair

    init() throws {
        loop = try EventLoop()
        disposal = Disposal(loop)
        pipe = try PipePair()
    }

    private struct Pair: ~Copyable {
        let ours, theirs: FileDescriptor

        init(_ type: __socket_type) throws {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(type.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            ours = FileDescriptor(owning: ends[0])
            theirs = FileDescriptor(owning: ends[1])
        }

        consuming func takeOurs() -> FileDescriptor { ours }
    }

    /// Text with the writing end of our pipe.
    private func send(_ text: String, to socket: Int32, withPipe: Bool = true) throws {
        let passed = [pipe.writer.rawValue]
        let bytes = Array(text.utf8)
        try #require(linux_packet_send(socket, bytes, bytes.count, passed, withPipe ? 1 : 0) == 0)
    }

    /// A byte out of band, with the same: cmsg(3), written by hand.
    private func sendUrgent(to socket: Int32) throws {
        var control: [Int32] = [20, 0, SOL_SOCKET, 1, pipe.writer.rawValue, 0]
        var byte: UInt8 = 33
        let sent = control.withUnsafeMutableBytes { control in
            withUnsafeMutablePointer(to: &byte) { byte in
                var part = iovec(iov_base: byte, iov_len: 1)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    message.msg_iov = part
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    return sendmsg(socket, &message, Int32(MSG_OOB))
                }
            }
        }
        try #require(sent == 1)
    }

    /// Whether the pipe has an end that writes.
    private var isPipeOpen: Bool {
        var entry = pollfd(fd: pipe.reader.rawValue, events: 0, revents: 0)
        return poll(&entry, 1, 0) == 0
    }

    @Test(arguments: 1...3)
    func aSocketIsClosed_andWhatIsInIt(times: Int) throws {
        for _ in 0..<times {
            let pair = try Pair(SOCK_STREAM)
            try send("x", to: pair.theirs.rawValue)
            #expect(!linux_drain(pair.ours.rawValue))
            disposal.close(pair.takeOurs())
        }
        try pipe.closeWriter()
        #expect(isPipeOpen)
        try loop.run { !isPipeOpen }
    }

    @Test func aDatagramIsTakenOff_andNoOther() throws {
        let pair = try Pair(SOCK_DGRAM)
        try send("first", to: pair.theirs.rawValue)
        try send("second", to: pair.theirs.rawValue, withPipe: false)
        try pipe.closeWriter()
        var isDone = false
        disposal.takeDatagram(from: try pair.ours.duplicate()) { isDone = true }
        try loop.run { isDone }
        // Children of other tests may hold it until they are their programs.
        try loop.run { !isPipeOpen }
        var buffer = [UInt8](repeating: 0, count: 16)
        let count = recv(pair.ours.rawValue, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        #expect(String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self) == "second")
    }

    @Test func aThreadThatWaitsHoldsNoOtherDescriptor() throws {
        // The lock that logind waits for must be closed for good, whatever a thread is about.
        let lock = try PipePair()
        let pair = try Pair(SOCK_STREAM)
        try send("x", to: pair.theirs.rawValue)
        let between = try PipePair()
        let bell = eventfd(0, Int32(EFD_CLOEXEC))
        let held = try #require(linux_dispose(LINUX_CLOSE_SOCKETS, [pair.takeOurs().take()], 1, bell))
        var count: UInt64 = 0
        try #require(read(bell, &count, 8) == 8 && linux_is_disposed(held))
        try lock.closeWriter()
        // Children of other tests may hold it until they are their programs; the thread would hold it all the time.
        var entry = pollfd(fd: lock.reader.rawValue, events: 0, revents: 0)
        #expect(poll(&entry, 1, 20_000) == 1 && Int32(entry.revents) & POLLHUP != 0)
        try between.closeWriter()
        entry = pollfd(fd: between.reader.rawValue, events: 0, revents: 0)
        #expect(poll(&entry, 1, 20_000) == 1 && Int32(entry.revents) & POLLHUP != 0)
        #expect(isPipeOpen)
        linux_finish_disposal(held)
        try pipe.closeWriter()
        try loop.run { !isPipeOpen }
        close(bell)
    }

    /// A thread that is about to close what it has copied of the table must not have the last copy of a socket that
    /// another has just been rid of: it would wait for its peer, with the lock that logind waits for in its table.
    @Test func socketsThatLinger_holdNothingUp_howeverManyThereAre() throws {
        let lingering = try Lingering()
        // The more there is to close in a copy of the table, the longer that takes.
        let more = (0..<600).map { _ in eventfd(0, Int32(EFD_CLOEXEC)) }
        defer { for descriptor in more { close(descriptor) } }
        for _ in 0..<40 {
            let lock = try PipePair()
            // Its number is above theirs: in their threads it is closed after them.
            let writer = dup3(lock.writer.rawValue, 3000, Int32(O_CLOEXEC))
            try lock.closeWriter()
            for _ in 0..<12 {
                let pair = try Pair(SOCK_STREAM)
                try lingering.send(to: pair.theirs.rawValue)
                #expect(!linux_drain(pair.ours.rawValue))
                disposal.close(pair.takeOurs())
                try loop.runOnce(timeoutMicroseconds: 0)
            }
            close(writer)
            var entry = pollfd(fd: lock.reader.rawValue, events: 0, revents: 0)
            try loop.run { poll(&entry, 1, 0) == 1 }
            lingering.letGo()
        }
    }

    @Test(arguments: [false, true])
    func drained_unlessDescriptorsAreIn(passes: Bool) throws {
        let pair = try Pair(SOCK_STREAM)
        try send("first", to: pair.theirs.rawValue, withPipe: false)
        if passes { try send("second", to: pair.theirs.rawValue) }
        #expect(linux_drain(pair.ours.rawValue) != passes)
        #expect(linux_packet_send(pair.theirs.rawValue, "more", 4, nil, 0) == -1, "nothing more can come")
    }

    @Test func anUrgentByteIsSeenWithItsDescriptors() throws {
        let pair = try Pair(SOCK_STREAM)
        try #require(linux_takes_descriptors(pair.ours.rawValue))
        try sendUrgent(to: pair.theirs.rawValue)
        var byte: UInt8 = 0
        #expect(linux_receive_bytes(pair.ours.rawValue, &byte, 1) == -1 && Errno.current.rawValue == EBADMSG)
        try send("x", to: pair.theirs.rawValue, withPipe: false)
        #expect(linux_receive_bytes(pair.ours.rawValue, &byte, 1) == -1 && Errno.current.rawValue == EBADMSG)
        #expect(!linux_drain(pair.ours.rawValue))
    }
}
