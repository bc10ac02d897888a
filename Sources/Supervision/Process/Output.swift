internal import CLinux
internal import EventLoop
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

// Where an app's stdout and stderr go.

/// Descriptors for one start; they are the caller's to keep open until then.
struct OutputDescriptors: ~Copyable {
    var outputFile: FileDescriptor?
    var errorFile: FileDescriptor?

    var output: Int32? { Self.number(outputFile) }
    var error: Int32? { Self.number(errorFile) ?? output }

    private static func number(_ file: borrowing FileDescriptor?) -> Int32? {
        switch file {
        case .some(let open): open.rawValue
        case .none: nil
        }
    }
}

/// The last 64 to 128 KiB that an instance wrote, where there is no journal. Its stdout is a socket, as the journal's
/// is.
///
/// No pipe: a page of the app's own file system could be put into that (splice(2)), and to read it would be to wait for
/// the app. Each start has one of its own: one that is shared could be given locks without end (fcntl(2)), which every
/// close(2) of ours would walk through, or be made non-blocking for the next program.
final class OutputRing {
    static let capacity = 65536
    /// Hooks may leave processes behind that keep theirs: of more than so many of an instance the first is closed.
    private static let mostHooks = 8

    private final class Channel {
        private var reader: FileDescriptor?
        let number: Int32
        let instance: InstanceID
        let isHooks: Bool
        private var kept: KeptCopy?
        private unowned(unsafe) let disposal: Disposal
        /// Descriptors can be sent here.
        private let takesDescriptors: Bool
        var source: IOSource?
        private(set) var hasEnded = false

        init(
            _ reader: consuming FileDescriptor, of instance: InstanceID, isHooks: Bool, _ kept: KeptCopy?,
            _ disposal: Disposal
        ) {
            number = reader.rawValue
            self.kept = kept
            _ = linux_refuse_descriptors(number)
            takesDescriptors = linux_takes_descriptors(number)
            self.reader = .some(reader)
            self.instance = instance
            self.isHooks = isHooks
            self.disposal = disposal
        }

        /// No next loop wants it.
        func end() {
            hasEnded = true
            kept = nil
        }

        /// As recv(2) without blocking; EBADMSG where descriptors were sent.
        func receive(_ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int {
            takesDescriptors ? linux_receive_bytes(number, buffer, count) : linux_unix_receive(number, buffer, count)
        }

        // The source goes before the descriptor, which a thread closes if others are in it.
        deinit {
            source = nil
            guard let reader = reader.take() else { return }
            if takesDescriptors, !linux_drain(number) { disposal.close(reader) }
        }
    }

    private unowned(unsafe) let supervisor: Supervisor
    private var bytes: [UInt8] = []
    private var channels: [Channel] = []
    private var latest: InstanceID?
    private var isTidying = false

    /// written: of an instance that an earlier loop had.
    init(_ supervisor: Supervisor, _ written: String = "") {
        self.supervisor = supervisor
        bytes = Array(written.utf8)
    }

    /// The end for one program of an instance to write to, until that is gone (`close`).
    func open(for instance: InstanceID, isHooks: Bool) throws(SystemError) -> FileDescriptor {
        var ends: [Int32] = [-1, -1]
        guard linux_unix_pair(&ends) == 0 else { throw SystemError("socketpair") }
        let writer = FileDescriptor(owning: ends[1])
        // The report of one end tells of no other.
        if latest != instance { bytes = [] }
        latest = instance
        // A program that reads its stdout finds the end.
        _ = shutdown(ends[0], Int32(SHUT_WR))
        let name = Self.keptNames(of: instance) + (isHooks ? "hook/" : "main/") + "\(Clocks.monotonic)"
        let kept = supervisor.keep(name, ends[0])
        try listen(FileDescriptor(owning: ends[0]), of: instance, isHooks: isHooks, kept)
        return writer
    }

    private static func keptNames(of instance: InstanceID) -> String { "output/\(instance.rawValue)/" }

    /// What an earlier loop has opened; there is nothing where there is a journal.
    static func regain(_ instance: InstanceID, of app: SupervisedApp, _ supervisor: Supervisor) throws(SystemError) {
        let names = supervisor.keeper.keptNames(beginning: keptNames(of: instance))
        if names.isEmpty { return }
        let ring = app.output ?? OutputRing(supervisor)
        app.output = ring
        ring.latest = instance
        for name in names {
            let isHooks = name.utf8.starts(with: (keptNames(of: instance) + "hook/").utf8)
            guard let kept = supervisor.keeper.takeKept(name) else { continue }
            let copy = KeptCopy(takenFrom: supervisor.keeper, name)
            try ring.listen(kept, of: instance, isHooks: isHooks, copy)
        }
    }

    private func listen(
        _ reader: consuming FileDescriptor, of instance: InstanceID, isHooks: Bool, _ kept: KeptCopy?
    ) throws(SystemError) {
        let channel = Channel(reader, of: instance, isHooks: isHooks, kept, supervisor.disposal)
        channel.source = try supervisor.loop.watch(channel.number, .readable, priority: EventLoop.Priority.idle) {
            [unowned(unsafe) self, unowned(unsafe) channel] _ in
            drain(channel)
            supervisor.wakeIfDue()
        }
        channels.append(channel)
        let hooks = channels.filter { $0.isHooks && $0.instance == instance && !$0.hasEnded }
        if hooks.count > Self.mostHooks { end(hooks[0]) }
    }

    /// Nothing of the instance is left. What it has given to others may keep its sockets open for ever.
    func close(_ instance: InstanceID) {
        for channel in channels where channel.instance == instance && !channel.hasEnded {
            drain(channel)
            if !channel.hasEnded { end(channel) }
        }
    }

    private func drain(_ channel: Channel) {
        if channel.hasEnded { return }
        let count = 8192
        var result = 0
        let chunk = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            result = channel.receive(buffer.baseAddress, count)
            filled = max(0, result)
        }
        // All that could write have closed theirs, or it is misused.
        if result == 0 || result < 0 && Errno.current.rawValue == EBADMSG { end(channel) }
        if bytes.count + chunk.count > 2 * Self.capacity {
            bytes.removeFirst(bytes.count + chunk.count - Self.capacity)
        }
        bytes.append(contentsOf: chunk)
    }

    /// Let go of in the next turn: its own handler may be running.
    private func end(_ channel: Channel) {
        channel.end()
        if isTidying { return }
        isTidying = true
        supervisor.loop.post { [self] in
            isTidying = false
            channels.removeAll { $0.hasEnded }
        }
    }

    func last(_ count: Int) -> String { String(decoding: bytes.suffix(count), as: UTF8.self) }

    /// The last lines, oldest first, in so many bytes; those that are no UTF-8 are replaced.
    func lastLines(_ count: Int, bytes limit: Int) -> [String] {
        for channel in channels { drain(channel) }
        let lines = bytes.suffix(limit).split(separator: UInt8(ascii: "\n"))
        return lines.suffix(count).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension Supervisor {
    /// The journal's stream where there is a journal, else the app's ring.
    func openOutput(_ app: SupervisedApp, _ instance: InstanceID, forHook: Bool = false) throws(SystemError)
        -> OutputDescriptors
    {
        if passesOutput, !forHook { return OutputDescriptors(outputFile: try openOwnOutput(), errorFile: nil) }
        if let stream = log.openStream("curfew-\(app.name)", error: false) {
            return OutputDescriptors(
                outputFile: stream, errorFile: log.openStream("curfew-\(app.name)", error: true))
        }
        let ring = app.output ?? OutputRing(self)
        app.output = ring
        return OutputDescriptors(outputFile: try ring.open(for: instance, isHooks: forHook), errorFile: nil)
    }
    /// The daemon's stdout, opened anew: an app that makes its own non-blocking must not do so to the next one's.
    private func openOwnOutput() throws(SystemError) -> FileDescriptor {
        do throws(SystemError) {
            return try FileDescriptor.open("/proc/self/fd/1", O_WRONLY | O_APPEND | O_NOCTTY)
        } catch {
            // A socket, or there is no /proc.
            return try FileDescriptor.duplicate(of: 1)
        }
    }
}
