internal import CLinux
internal import EventLoop
internal import Journal
internal import Lifecycle
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

/// The last 64 KiB an app wrote, where there is no journal. What fills its stdout is read from a pipe, and never waits
/// for us for long.
///
/// Each start has a pipe of its own: one that is shared could be given locks without end (fcntl(2)), which every
/// close(2) of ours would walk through, or be made non-blocking for the next program.
final class OutputRing {
    static let capacity = 65536
    /// Hooks may leave processes behind that keep theirs: of more than so many of an instance the first is closed.
    private static let mostHooks = 8

    private final class Pipe {
        let reader: FileDescriptor
        let instance: InstanceID
        let isHooks: Bool
        var source: IOSource?
        var hasEnded = false

        init(_ reader: consuming FileDescriptor, of instance: InstanceID, isHooks: Bool) {
            self.reader = reader
            self.instance = instance
            self.isHooks = isHooks
        }

        // Before the descriptor goes.
        deinit { source = nil }
    }

    private unowned(unsafe) let supervisor: Supervisor
    private var bytes: [UInt8] = []
    private var pipes: [Pipe] = []
    private var isTidying = false

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    /// The end for one program of an instance to write to, until that is gone (`close`).
    func open(for instance: InstanceID, isHooks: Bool) throws(SystemError) -> FileDescriptor {
        var ends: [Int32] = [-1, -1]
        guard linux_pipe_cloexec(&ends) == 0 else { throw SystemError("pipe") }
        let writer = FileDescriptor(owning: ends[1])
        let pipe = Pipe(FileDescriptor(owning: ends[0]), of: instance, isHooks: isHooks)
        _ = linux_set_flags(ends[0], O_NONBLOCK | linux_get_flags(ends[0]))
        pipe.source = try supervisor.loop.watch(ends[0], .readable, priority: EventLoop.Priority.idle) {
            [unowned(unsafe) self, unowned(unsafe) pipe] _ in
            drain(pipe)
            supervisor.wakeIfDue()
        }
        pipes.append(pipe)
        let hooks = pipes.filter { $0.isHooks && $0.instance == instance && !$0.hasEnded }
        if hooks.count > Self.mostHooks { end(hooks[0]) }
        return writer
    }

    /// Nothing of the instance is left. What it has given to others may keep its pipes open for ever.
    func close(_ instance: InstanceID) {
        for pipe in pipes where pipe.instance == instance && !pipe.hasEnded {
            drain(pipe)
            if !pipe.hasEnded { end(pipe) }
        }
    }

    private func drain(_ pipe: Pipe) {
        if pipe.hasEnded { return }
        let count = 8192
        var result = 0
        let chunk = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            result = read(pipe.reader.rawValue, buffer.baseAddress, count)
            filled = max(0, result)
        }
        // All that could write have closed theirs.
        if result == 0 { end(pipe) }
        if bytes.count + chunk.count > 2 * Self.capacity {
            bytes.removeFirst(bytes.count + chunk.count - Self.capacity)
        }
        bytes.append(contentsOf: chunk)
    }

    /// Let go of in the next turn: its own handler may be running.
    private func end(_ pipe: Pipe) {
        pipe.hasEnded = true
        if isTidying { return }
        isTidying = true
        supervisor.loop.post { [self] in
            isTidying = false
            pipes.removeAll { $0.hasEnded }
        }
    }

    /// The last lines, oldest first, in so many bytes; those that are no UTF-8 are replaced.
    func lastLines(_ count: Int, bytes limit: Int) -> [String] {
        for pipe in pipes { drain(pipe) }
        let lines = bytes.suffix(limit).split(separator: UInt8(ascii: "\n"))
        return lines.suffix(count).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension Supervisor {
    /// The journal's stream where there is a journal, else the app's ring.
    func openOutput(_ app: SupervisedApp, _ instance: InstanceID, forHook: Bool = false) throws(SystemError)
        -> OutputDescriptors
    {
        if let stream = log.openStream("curfew-\(app.name)", error: false) {
            return OutputDescriptors(
                outputFile: stream, errorFile: log.openStream("curfew-\(app.name)", error: true))
        }
        let ring = app.output ?? OutputRing(self)
        app.output = ring
        return OutputDescriptors(outputFile: try ring.open(for: instance, isHooks: forHook), errorFile: nil)
    }
}
