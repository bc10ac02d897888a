internal import CLinux
internal import EventLoop
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

/// What the core hears and decides, in two files below /var/lib/curfew for `curfew replay`: some 4 MiB in each, the
/// older one `recording.1`.
///
/// A record goes into memory that the keeper has too (memfd_create(2)), an event before the core hears it, so that what
/// has ended a loop is in it. A thread (CLinux/recorder.c) writes that to the file: 5 s after the last time at the
/// earliest, sooner where it has become much, at once where an app has ended. `Configuring.start` begins it,
/// `Supervisor.dispatch` feeds it.
final class FlightRecorder {
    /// Another file begins before one is as long.
    private static let fileLimit = Int64(LINUX_RECORDING_LIMIT) - largestStep
    /// Bytes that one step of the loop adds, almost always.
    private static let largestStep: Int64 = 64 << 10
    /// Between two writes; nanoseconds.
    private static let interval: Int64 = 5_000_000_000
    /// Bytes that are written without waiting for that; and those of which no more are taken.
    private static let many: Int64 = 128 << 10
    private static let most: Int64 = 2 << 20
    /// What the disk does not take is given up, and nothing is recorded for so long; nanoseconds.
    private static let pause: Int64 = 60_000_000_000
    private static let name = "recording"
    private static let headSize = Int64(MemoryLayout<linux_recorder_head>.size)

    private unowned(unsafe) let supervisor: Supervisor
    private let path: String
    private let memory: FileDescriptor
    private var writer = RecordWriter()
    /// Of the memory: up to here it is in the file, and here it ends.
    private var written: Int64
    private var end: Int64
    /// Where in the memory that begins which is for another file; what lies before it is still for the one that there
    /// is, and is written first.
    private var renewal: Int64?
    /// What is not in the file yet is a beginning and what came after it.
    private var startsAnew = false
    private var fileSize: Int64 = 0
    private var bell: FileDescriptor
    private var source: IOSource?
    private var timer: TimerSource?
    private var writing: (recording: OpaquePointer, end: Int64, renews: Bool)?
    /// MONOTONIC.
    private var nextWrite: Int64 = 0
    private var hurries = false
    /// Nothing is taken until then; what comes after begins anew. MONOTONIC.
    private var pausedUntil: Int64?
    private var saidTrouble = false

    init(_ supervisor: Supervisor) throws(SystemError) {
        self.supervisor = supervisor
        path = supervisor.paths.state + "/recording"
        let bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard bell >= 0 else { throw SystemError("eventfd") }
        self.bell = FileDescriptor(owning: bell)
        if let kept = supervisor.keeper.takeKept(Self.name) {
            memory = kept
        } else {
            let number = linux_memory("recording")
            guard number >= 0 else { throw SystemError("memfd_create") }
            memory = FileDescriptor(owning: number)
            supervisor.keeper.keep(Self.name, number)
        }
        end = Int64(lseek(memory.rawValue, 0, SEEK_END))
        var head = linux_recorder_head()
        let isKept =
            pread(memory.rawValue, &head, Int(Self.headSize), 0) == Int(Self.headSize) && head.begin >= Self.headSize
            && head.begin <= end
        written = isKept ? head.begin : Self.headSize
        if !isKept { forget() }
        var status = stat()
        if stat(path, &status) == 0 { fileSize = Int64(status.st_size) }
        source = try supervisor.loop.watch(bell, .readable) { [unowned(unsafe) self] _ in didWrite() }
        timer = try supervisor.loop.timer { [unowned(unsafe) self] in write() }
    }

    /// All that the memory holds is in the file, or is given up.
    private func forget() {
        // First what it holds: who dies in between leaves nothing, and not the same twice.
        _ = ftruncate(memory.rawValue, off_t(Self.headSize))
        var head = linux_recorder_head(begin: Self.headSize, length: -1)
        _ = pwrite(memory.rawValue, &head, Int(Self.headSize), 0)
        (written, end, renewal, startsAnew) = (Self.headSize, Self.headSize, nil, false)
    }

    // MARK: What is recorded

    /// From here on. core: what it begins with; nil: a new one.
    func begin(with core: DeviceLifecycle?) {
        startsAnew = end == written
        let boot = (try? Files.readShared("/proc/sys/kernel/random/boot_id", limit: 64)) ?? []
        writer.reset()
        FlightRecord.writeBegin(
            version: Daemon.version, boot: String(decoding: boot.filter { $0 > 0x20 }, as: UTF8.self),
            realtime: Nanoseconds(rawValue: Clocks.realtime), supervisor.now, core: core?.archived() ?? [],
            to: &writer)
        append()
    }

    func hear(_ event: Event, at instant: Instant) {
        if let until = pausedUntil {
            // Nor before the thread has done with what was given up: its place in the memory is free only then.
            guard writing == nil, instant.monotonic.rawValue >= until else { return }
            pausedUntil = nil
            begin(with: supervisor.core)
            if pausedUntil != nil { return }
        }
        writer.reset()
        FlightRecord.write(event, at: instant, to: &writer)
        append()
    }

    func decided(_ effects: [Effect]) {
        guard pausedUntil == nil, !effects.isEmpty else { return }
        for case .report in effects { hurries = true }
        writer.reset()
        FlightRecord.write(effects, to: &writer)
        append()
    }

    private func append() {
        guard let record = FlightRecord.framed(writer.bytes) else { return giveUp("a record of it is too long") }
        guard end - written < Self.most else { return giveUp("the disk is too slow for it") }
        guard pwrite(memory.rawValue, record, record.count, off_t(end)) == record.count else {
            return giveUp(SystemError("write to memory").text)
        }
        end += Int64(record.count)
    }

    /// It goes on later, with a new beginning: what is missing in between must not be taken for what was not heard.
    private func giveUp(_ reason: String) {
        // What the thread reads is left alone.
        if writing == nil { forget() }
        pausedUntil = Clocks.monotonic + Self.pause
        if saidTrouble { return }
        saidTrouble = true
        supervisor.log.daemon(.warning, "the recording of events pauses: \(reason)")
    }

    // MARK: The file

    /// After each event.
    func write() {
        guard writing == nil, end > written else { return }
        if renewal == nil, fileSize + end - written > Self.fileLimit { beginNextFile() }
        let now = Clocks.monotonic
        guard hurries || now >= nextWrite || end - written > Self.many else {
            timer?.arm(at: nextWrite)
            return
        }
        // As soon as all that is for the file before it is written.
        let renews = renewal == written
        let until = renews ? end : renewal ?? end
        guard pausedUntil == nil, until > written else { return }
        guard let recording = linux_record(memory.rawValue, until, path, renews, hurries, bell.rawValue) else {
            nextWrite = now + Self.interval
            timer?.arm(at: nextWrite)
            return
        }
        writing = (recording, until, renews)
        hurries = false
    }

    private func beginNextFile() {
        hurries = true
        if startsAnew {
            renewal = written
        } else {
            renewal = end
            begin(with: supervisor.core)
        }
    }

    private func didWrite() {
        var count: UInt64 = 0
        _ = read(bell.rawValue, &count, MemoryLayout.size(ofValue: count))
        guard let (recording, until, renews) = writing else { return }
        var size: Int64 = 0
        let outcome = linux_recorded(recording, &size)
        guard outcome >= 0 else { return }
        linux_finish_recording(recording)
        writing = nil
        nextWrite = Clocks.monotonic + Self.interval
        if outcome == 0 { fileSize = size }
        if pausedUntil != nil { return forget() }
        guard outcome == 0 else { return giveUp(SystemError("write", path, errno: Errno(rawValue: outcome)).text) }
        saidTrouble = false
        written = until
        startsAnew = until == renewal
        if renews { renewal = nil }
        if written >= end { return forget() }
        linux_forget_recorded(memory.rawValue, Self.headSize, written)
        if renewal != nil { hurries = true }
        write()
    }

    /// All that there is, at the daemon's end; a disk that does not take it is not waited for.
    func close() {
        let limit = Clocks.monotonic + 1_000_000_000
        hurries = true
        write()
        while writing != nil, Clocks.monotonic < limit {
            var ring = pollfd(fd: bell.rawValue, events: Int16(POLLIN), revents: 0)
            _ = poll(&ring, 1, 100)
            hurries = true
            didWrite()
        }
    }
}
