internal import CLinux
public import SystemCalls

/// Varlink over one stream socket, on either side of it. It owns the socket and no event loop: its owner watches
/// `descriptor` for what `wantsRead` and `wantsWrite` ask (level-triggered) and calls `onReadable`, `onWritable` and
/// `onHangup`.
///
/// Its owner's closures are called out of those three and `close()` only; `onInterestChanged` also out of answering and
/// calling.
public final class Connection {
    /// The server of a connection is called, the client calls. An upgrade swaps the two.
    public enum Role: Equatable, Sendable { case server, client }

    /// Calls without an answer; more are not read.
    public static let requestLimit = 64
    /// Bytes that wait to be sent, one message of the longest at least; more end the connection.
    public static let outputLimit = MessageDecoder.messageLimit + 1
    /// With more than this unsent, no further call is looked at.
    static let outputHighWater = 64 << 10
    private static let bytesPerWake = 64 << 10
    private static let messagesPerWake = 16
    private static let chunk = 16 << 10

    public let descriptor: Int32
    public let peer: Peer?
    public internal(set) var role: Role
    public private(set) var isOpen = true
    /// More was kept for its peer than in an ordinary exchange.
    public private(set) var hasHeldMuch = false

    /// `wantsRead` or `wantsWrite` has changed; their values when it is set are for the owner to read.
    public var onInterestChanged: ((Connection) -> Void)?
    /// Once, before the socket is closed: stop watching it.
    public var onClosed: ((Connection, CloseReason) -> Void)?
    /// Asked before each message but the first of a wake; false: the rest waits.
    public var mayGoOn: (() -> Bool)?
    /// The end of a message is about to be taken off the socket (role client): what is noted then of its coming holds,
    /// should this process die with it.
    public var willTakeMessage: (() -> Void)?
    /// A call came (role server).
    public var onRequest: ((Request) -> Void)?

    private var socket: FileDescriptor?
    /// nil: no descriptors can come with what is read.
    private var closer: Closer?
    private var decoder = MessageDecoder()
    private var output = OutputQueue()
    /// Not fully answered, in the order of the calls.
    var requests: [Request] = []
    var heldBytes = 0
    var calls: [OutstandingCall] = []
    /// Of earlier calls there may be replies that are not awaited.
    var mayHearStrayReplies = false
    private var readEnded = false
    /// The decoder may hold whole messages that were not looked at.
    private var undigested = false
    private var upgrading = false
    private var isProcessing = false
    /// Set when the connection is to end: at once, or when all has been answered and sent.
    var failure: CloseReason?
    private var lastWords: CloseReason = .endOfStream
    private var reported: (read: Bool, write: Bool) = (true, false)

    public init(owning socket: consuming FileDescriptor, role: Role, peer: Peer? = nil) {
        descriptor = socket.rawValue
        self.socket = consume socket
        self.role = role
        self.peer = peer
    }

    /// With bytes that were read from the socket before.
    convenience init(owning socket: consuming FileDescriptor, role: Role, read decoder: MessageDecoder) {
        self.init(owning: socket, role: role)
        undigested = decoder.pendingBytes > 0
        self.decoder = decoder
    }

    /// Ends when descriptors come, without taking them. To be said before anything is read.
    public func refuseDescriptors(_ closer: @escaping Closer) {
        if linux_takes_descriptors(descriptor) { self.closer = closer }
    }

    deinit { closeSocket() }

    // MARK: What the event loop is asked

    public var wantsRead: Bool { isOpen && !readEnded && failure == nil && !undigested && !isPaused }

    public var wantsWrite: Bool {
        isOpen && failure == nil && (!output.isEmpty || (undigested && !isPaused) || requests.first?.onRoom != nil)
    }

    /// Nothing is read while as many calls wait as may, or one that may change what is spoken here.
    private var isPaused: Bool { upgrading || requests.count >= Self.requestLimit }

    // MARK: What the event loop tells

    /// The socket has something to read.
    public func onReadable() {
        if wantsRead { receive() }
        process()
        settle()
    }

    /// The socket takes more output.
    public func onWritable() {
        process()
        settle()
    }

    /// EPOLLHUP or EPOLLERR, which come whether they are asked for or not: the other end reads no more.
    public func onHangup() {
        guard isOpen else { return }
        if failure == nil, wantsRead || (undigested && !isPaused) {
            onReadable()
        } else {
            finish(failure ?? lastWords)
        }
    }

    /// The other end is gone, though what it said may not all have been read yet.
    public var hasHungUp: Bool {
        guard isOpen else { return true }
        var ready = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&ready, 1, 0) == 1 && Int32(ready.revents) & (POLLHUP | POLLERR) != 0
    }

    /// Nothing longer is taken from now on; to be said before anything is read.
    public func limitMessages(to bytes: Int) { decoder = MessageDecoder(limit: bytes) }

    /// The number of a message that has begun to come and has not ended; nil: none has.
    public var unendedMessage: Int? {
        isOpen && !readEnded && failure == nil && !undigested && decoder.pendingBytes > 0 ? decoder.count : nil
    }

    /// Reads no more; ends when what was asked so far is answered and sent.
    public func endAfterAnswers() {
        readEnded = true
        undigested = false
    }

    /// Ends it now: requests are cancelled, outstanding calls get `connectionClosed`, `onClosed` is called.
    public func close() {
        finish(.closedHere)
    }

    private func receive() {
        if let willTakeMessage, linux_unix_holds(descriptor, 0) { willTakeMessage() }
        var taken = 0
        while taken < Self.bytesPerWake {
            var errno: Errno?
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.chunk) { buffer, count in
                let received =
                    closer == nil
                    ? linux_unix_receive(descriptor, buffer.baseAddress, buffer.count)
                    : linux_receive_bytes(descriptor, buffer.baseAddress, buffer.count)
                errno = received < 0 ? Errno.current : nil
                count = max(0, received)
            }
            if let errno {
                if errno == .interrupted { continue }
                if errno.rawValue == EBADMSG {
                    failure = .protocolError("descriptors, which no method takes")
                } else if errno != .again {
                    failure = closeReason(SystemError("recv", errno: errno))
                }
                return
            }
            if bytes.isEmpty {
                readEnded = true
                return
            }
            taken += bytes.count
            undigested = true
            decoder.append(bytes)
            if bytes.count < Self.chunk { return }
        }
    }

    /// Looks at whole messages: a server at a bounded number of them, so that no client keeps the loop to itself.
    private func process() {
        guard isOpen, failure == nil else { return }
        isProcessing = true
        var left = role == .server ? Self.messagesPerWake : Int.max
        while left > 0, isOpen, failure == nil, undigested, !isPaused {
            if output.count > Self.outputHighWater {
                flush()
                if output.count > Self.outputHighWater { break }
            }
            do throws(MessageDecoder.Failure) {
                if let message = try decoder.next() { digest(message) } else { undigested = false }
            } catch {
                failure = .protocolError("a message over \(decoder.limitText)")
            }
            left -= 1
            if let mayGoOn, !mayGoOn() { break }
        }
        if !undigested { decoder.trim() }
        isProcessing = false
    }

    private func digest(_ message: ArraySlice<UInt8>) {
        do throws(MessageError) {
            switch role {
            case .server: take(try Call.decode(message))
            case .client: take(try Reply.decode(message))
            }
        } catch {
            switch (role, error) {
            case (.server, .shape(let member, _)): refuse(member, error.text)
            case (.server, .json), (.client, .json), (.client, .shape): failure = .protocolError(error.text)
            }
        }
    }

    private func take(_ call: Call) {
        let request = Request(call, on: self)
        if !call.oneway { requests.append(request) }
        if call.upgrade { upgrading = true }
        onRequest?(request)
    }

    /// Says what was wrong with a message that is JSON, in its turn, and ends the connection after that.
    private func refuse(_ member: String, _ text: String) {
        let request = Request(Call(""), on: self)
        requests.append(request)
        readEnded = true
        undigested = false
        lastWords = .protocolError(text)
        request.fail(.invalidParameter(parameter: member))
    }

    /// After each wake: sends what can be sent, ends what has to end.
    private func settle() {
        guard isOpen else { return }
        if failure == nil { flush() }
        if failure == nil, output.isEmpty { requests.first?.onRoom?() }
        if let failure { return finish(failure) }
        if readEnded, !undigested {
            // A peer that only stopped writing still reads its replies.
            if role == .client || (requests.isEmpty && output.isEmpty) || hasHungUp { return finish(lastWords) }
        }
        reportInterest()
    }

    func flush() {
        if let error = output.flush(to: descriptor) { failure = closeReason(error) }
    }

    private func closeReason(_ error: SystemError) -> CloseReason {
        let gone = error.errno == .brokenPipe || error.errno.rawValue == ECONNRESET
        return gone ? .endOfStream : .system(error)
    }

    private func reportInterest() {
        let interest = (read: wantsRead, write: wantsWrite)
        guard isOpen, interest != reported else { return }
        reported = interest
        onInterestChanged?(self)
    }

    private func closeSocket() {
        guard let socket = socket.take() else { return }
        if let closer { Self.close(socket, closer) }
    }

    private func finish(_ reason: CloseReason) {
        guard isOpen else { return }
        isOpen = false
        let cancelled = requests.filter { !$0.isFinished }
        let unanswered = calls
        let closed = onClosed
        for request in requests { request.abandon() }
        requests = []
        calls = []
        output.removeAll()
        decoder = MessageDecoder(limit: decoder.limit)
        onClosed = nil
        onRequest = nil
        mayGoOn = nil
        onInterestChanged = nil
        closed?(self, reason)
        closeSocket()
        for request in cancelled { request.notifyCancelled() }
        for call in unanswered { call.handler?(.connectionClosed) }
    }
}

// MARK: Server: answering

extension Connection {
    /// An answer to `request`, unless that is oneway: then it is empty, and is not sent.
    func answer(_ request: Request, _ bytes: [UInt8]) {
        guard isOpen, failure == nil, !request.oneway else { return }
        if requests.first === request {
            enqueue(bytes)
            if request.isFinished { retireFirst() }
        } else {
            request.held += bytes
            heldBytes += bytes.count
            checkOutput()
        }
        settleLater()
    }

    /// Takes the first request off, and those after it that were answered already.
    private func retireFirst() {
        while let first = requests.first, first.isFinished {
            requests.removeFirst()
            if first.call.upgrade { upgrading = false }
            if first.isUpgraded { role = .client }
            release(first)
            if let next = requests.first { release(next) }
        }
    }

    private func release(_ request: Request) {
        guard !request.held.isEmpty else { return }
        heldBytes -= request.held.count
        enqueue(request.held)
        request.held = []
    }

    func enqueue(_ bytes: [UInt8]) {
        if bytes.count > MessageDecoder.messageLimit + 1 {
            failure = .messageTooLong
            return
        }
        output.append(bytes)
        if !isProcessing || output.count > Self.outputLimit { flush() }
        checkOutput()
    }

    func checkOutput() {
        if output.count + heldBytes > Self.chunk { hasHeldMuch = true }
        if failure == nil, output.count + heldBytes > Self.outputLimit { failure = .outputOverflow }
    }

    /// Out of a call of the owner's nothing is closed and none of its closures run, but for `onInterestChanged`:
    /// shutdown(2) has the event loop come back with EPOLLHUP.
    func settleLater() {
        if isProcessing { return }
        if readEnded, !undigested, role == .server, requests.isEmpty, output.isEmpty, failure == nil {
            failure = lastWords
        }
        if failure != nil { _ = linux_unix_shutdown(descriptor) }
        reportInterest()
    }
}
