internal import CLinux
internal import CSystemd
internal import LifecycleSimulation
internal import PlayedKernel

/// One source of the daemon's loop, as sd-event has them.
final class PlayedSource {
    enum Kind {
        case io(Int32)
        case time
        case deferred
    }

    let kind: Kind
    var interest: UInt32 = 0
    /// Microseconds of MONOTONIC.
    var due: UInt64 = .max
    var priority: Int64 = 0
    var enabled = Int32(SD_EVENT_ON)
    var isFreed = false
    let userdata: UnsafeMutableRawPointer?
    var destroy: sd_event_destroy_t?
    var onIO: sd_event_io_handler_t?
    var onTime: sd_event_time_handler_t?
    var onEvent: sd_event_handler_t?
    /// In place of a handler of the daemon's.
    var work: (() -> Void)?

    init(_ kind: Kind, _ userdata: UnsafeMutableRawPointer?) {
        self.kind = kind
        self.userdata = userdata
    }

    var pointer: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }
    static func at(_ pointer: OpaquePointer?) -> PlayedSource? {
        pointer.map { Unmanaged<PlayedSource>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
    }
}

/// The daemon's loop: what is ready goes by priority, and among equals by chance; when nothing is, time passes.
final class PlayedLoop {
    private(set) var sources: [PlayedSource] = []
    var exitCode: Int32?
    private(set) var isRunning = false
    weak var world: World?
    private var random: SeededGenerator
    private var running: PlayedSource?
    private var lastRun: PlayedSource?
    private var repeats = 0
    private(set) var turns = 0
    /// Sources that were let go of stay for as long as the program that points to them may.
    private var graveyard: [PlayedSource] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed ^ 0x100D) }

    /// A time that something in the kernel takes.
    func latency(_ low: Int64, _ high: Int64) -> Int64 { low + Int64(random.below(Int(high - low) + 1)) }

    /// From 1 to all of so many.
    func share(of limit: Int32) -> Int32 { 1 + Int32(random.below(Int(limit))) }

    func shuffle<Element>(_ elements: UnsafeMutableBufferPointer<Element>) {
        for index in elements.indices.dropFirst() { elements.swapAt(index, random.below(index + 1)) }
    }

    func add(_ source: PlayedSource) -> OpaquePointer {
        sources.append(source)
        return source.pointer
    }

    func free(_ source: PlayedSource) {
        source.enabled = Int32(SD_EVENT_OFF)
        guard !source.isFreed else { return }
        source.isFreed = true
        sources.removeAll { $0 === source }
        graveyard.append(source)
        if running !== source { source.destroy?(source.userdata) }
    }

    func forgetAll() {
        graveyard += sources
        sources = []
        lastRun = nil
        running = nil
        isRunning = false
        exitCode = nil
    }

    // MARK: Turns

    func run(_ kernel: Kernel) -> Int32 {
        isRunning = true
        defer { isRunning = false }
        while exitCode == nil {
            turns += 1
            kernel.aside { world?.runDue() }
            guard exitCode == nil else { break }
            let ready = kernel.aside { readySources(kernel) }
            if ready.isEmpty {
                guard kernel.aside({ wait(kernel) }) else { return -EIO }
                continue
            }
            let first = ready.map { $0.0.priority }.min() ?? 0
            let equals = ready.filter { $0.0.priority == first }
            let (source, readiness) = random.pick(equals)
            kernel.clock.pass(latency(2_000, 60_000))
            watchForSpin(source, kernel)
            dispatch(source, readiness)
        }
        return exitCode ?? 0
    }

    /// Passes time up to what happens next. False when nothing ever will.
    private func wait(_ kernel: Kernel) -> Bool {
        world?.judgeWait()
        var next = world?.nextMoment ?? .max
        for source in sources where source.enabled != SD_EVENT_OFF {
            if case .time = source.kind, source.due != .max {
                next = min(next, Int64(clamping: source.due) &* 1000 + latency(0, 200_000))
            }
        }
        guard next != .max else {
            kernel.judge.complain("the daemon waits for nothing, for ever")
            return false
        }
        kernel.clock.pass(to: next)
        return true
    }

    private func dispatch(_ source: PlayedSource, _ readiness: UInt32) {
        running = source
        if source.enabled == SD_EVENT_ONESHOT { source.enabled = Int32(SD_EVENT_OFF) }
        switch source.kind {
        case .io(let descriptor): _ = source.onIO?(source.pointer, descriptor, readiness, source.userdata)
        case .time: _ = source.onTime?(source.pointer, source.due, source.userdata)
        case .deferred where source.work != nil: source.work?()
        case .deferred: _ = source.onEvent?(source.pointer, source.userdata)
        }
        running = nil
        if source.isFreed { source.destroy?(source.userdata) }
    }

    private func watchForSpin(_ source: PlayedSource, _ kernel: Kernel) {
        repeats = source === lastRun ? repeats + 1 : 0
        lastRun = source
        if repeats == 5000 {
            kernel.judge.complain("the loop runs \(source.kind) again and again, and waits for nothing")
            exitCode = -EIO
        }
    }

    // MARK: Readiness

    private func readySources(_ kernel: Kernel) -> [(PlayedSource, UInt32)] {
        var ready: [(PlayedSource, UInt32)] = []
        var polled: [pollfd] = []
        var behind: [PlayedSource] = []
        let now = UInt64(kernel.clock.monotonic / 1000)
        for source in sources where source.enabled != SD_EVENT_OFF {
            switch source.kind {
            case .time: if source.due <= now { ready.append((source, 0)) }
            case .deferred: ready.append((source, 0))
            case .io(let descriptor):
                if case .kernelFile(let file)? = kernel.descriptors[descriptor] {
                    if file.hasChanged { ready.append((source, EPOLLPRI.rawValue | EPOLLERR.rawValue)) }
                } else {
                    polled.append(
                        pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: source.interest), revents: 0))
                    behind.append(source)
                }
            }
        }
        let own = polled.count
        let ears = world?.ears() ?? []
        for ear in ears { polled.append(pollfd(fd: ear.file, events: Int16(POLLIN), revents: 0)) }
        guard !polled.isEmpty, __real_poll(&polled, nfds_t(polled.count), 0) > 0 else { return ready }
        for (entry, source) in zip(polled[..<own], behind) where entry.revents != 0 {
            if entry.revents & Int16(POLLNVAL) != 0 {
                kernel.judge.complain("the loop watches descriptor \(entry.fd), which is closed")
                exitCode = -EBADF
            }
            ready.append((source, UInt32(UInt16(bitPattern: entry.revents))))
        }
        for (entry, ear) in zip(polled[own...], ears) where entry.revents != 0 { world?.hear(ear) }
        return ready
    }
}
