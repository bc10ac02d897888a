internal import CLinux
internal import LifecycleSimulation
internal import PlayedKernel
internal import ProcessControl

/// The keeper of the daemon's loop, played: it starts processes of the played kernel, and says what becomes of them,
/// over a true socket. A start may hang, and what a program does may be heard before the word that it runs.
final class PlayedKeeper {
    struct Child {
        let id: Int64
        let process: PlayedProcess
        let hasGroup: Bool
        /// It has become its program, or is gone.
        var isRunning = false
        /// The loop that has asked for it is dead, and none after that has claimed it.
        var isAbandoned = false
    }

    private struct Start {
        let id: Int64
        let user: UInt32
        let group: PlayedGroup?
        let files: [Int32: Int32]
        let arguments: [String]
        let environment: [String]
    }

    private unowned let kernel: Kernel
    private var random: SeededGenerator
    var children: [Int32: Child] = [:]
    /// The last words on what has ended.
    var ends: [Int64: keeper_word] = [:]
    /// What it keeps for the loops to come; descriptors of its own.
    var kept: [String: Int32] = [:]
    /// Apps that were asked for and of whose start nothing was told, by the number of the start.
    private var starting: [Int64: String] = [:]
    /// How these have ended the loop has asked, and was not told yet.
    private(set) var questions: Set<Int32> = []
    /// A loop that comes after one that was to stop stops, too.
    private var isStopping = false
    /// Packets that have come and were not looked at.
    private var unread = 0
    /// MONOTONIC: it takes one packet after the other.
    private var busyUntil: Int64 = 0
    /// Of loops, its own among them.
    private var deaths = 0
    /// Our end of the socket; -1: there is no loop.
    private var socket: Int32 = -1
    /// The loop's.
    private(set) var loopEnd: Int32 = -1

    init(_ kernel: Kernel, seed: UInt64) {
        self.kernel = kernel
        random = SeededGenerator(seed: seed ^ 0xCEE9)
    }

    private var world: World? { kernel.loop.world }
    var isBusy: Bool { unread > 0 }
    func isStarting(_ app: String) -> Bool { starting.values.contains(app) }
    var hasLoop: Bool { socket >= 0 && kernel.loop.isRunning }

    /// The loop's end of a new socket.
    func startLoop() -> Int32 {
        var ends: [Int32] = [-1, -1]
        _ = __real_socketpair(AF_UNIX, Int32(linux_packet_type), 0, &ends)
        socket = ends[0]
        loopEnd = ends[1]
        kernel.descriptors.add(loopEnd, .socket)
        if isStopping { tell(KEEPER_ORDER, 0) { $0.detail = SIGTERM } }
        return loopEnd
    }

    /// The keeper dies with its loop.
    func die() {
        deaths += 1
        if socket >= 0 { _ = __real_close(socket) }
        socket = -1
        loopEnd = -1
        children = [:]
        starting = [:]
        questions = []
        unread = 0
        ends = [:]
        isStopping = false
        for descriptor in kept.values { _ = __real_close(descriptor) }
        kept = [:]
    }

    /// What that loop has asked for and was not begun is not begun any more.
    func loopDied() {
        deaths += 1
        if socket >= 0 { _ = __real_close(socket) }
        socket = -1
        loopEnd = -1
        let begun = children.values.filter { !$0.isRunning }.map { $0.id }
        starting = starting.filter { begun.contains($0.key) }
        questions = []
        unread = 0
        for pid in children.keys { children[pid]?.isAbandoned = true }
    }

    /// otherwise: in its place, where the keeper is dead by then.
    func next(_ body: @escaping () -> Void, otherwise: @escaping () -> Void = {}) {
        busyUntil = max(busyUntil, kernel.clock.monotonic + latency)
        unread += 1
        let deaths = deaths
        world?.at(busyUntil) { [self] in
            guard deaths == self.deaths else { return otherwise() }
            unread -= 1
            body()
        }
    }

    // MARK: What it is asked

    func take(_ bytes: UnsafeRawBufferPointer, _ descriptors: [Int32]) {
        guard bytes.count >= MemoryLayout<keeper_signal>.size, let base = bytes.baseAddress else { return }
        let order = base.loadUnaligned(as: keeper_signal.self)
        switch Int(order.kind) {
        case KEEPER_START: start(bytes, descriptors)
        case KEEPER_SIGNAL: signal(order.id, order.signal)
        case KEEPER_HOW_ENDED:
            let question = base.loadUnaligned(as: keeper_question.self)
            questions.insert(question.pid)
            // None of what is followed here has become the keeper's.
            next { [self] in
                questions.remove(question.pid)
                tell(KEEPER_ORPHAN_ENDED, question.id) { $0.code = 0 }
            }
        case KEEPER_KEEP: if let first = descriptors.first { keep(Self.text(bytes), first) }
        case KEEPER_DROP: drop(Self.text(bytes))
        case KEEPER_CLAIM: claim(base.loadUnaligned(as: keeper_claim.self).id)
        case KEEPER_CLAIMED: next { [self] in endAbandoned() }
        default: break
        }
    }

    private func start(_ bytes: UnsafeRawBufferPointer, _ descriptors: [Int32]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        defer { copy.deallocate() }
        copy.copyMemory(from: bytes)
        let isRead: Void? = ReceivedStart.read(copy, descriptors[...]) { request, head in start(request, head.id) }
        if isRead == nil { kernel.judge.complain("the keeper is sent a start that it cannot read") }
    }

    private func start(_ request: linux_spawn_request, _ id: Int64) {
        var group: PlayedGroup?
        if request.group >= 0, case .directory(let path)? = kernel.descriptors[request.group] {
            group = kernel.groups.groups[path]
        }
        var files: [Int32: Int32] = [:]
        for index in 0..<request.descriptor_count {
            let passed = request.descriptors[index]
            guard passed.source >= 0 else { continue }
            let copy = played_real_fcntl(passed.source, F_DUPFD_CLOEXEC, 100)
            if copy >= 0 { files[passed.target] = copy }
        }
        let start = Start(
            id: id, user: request.change_user ? request.uid : 0, group: group, files: files,
            arguments: Self.strings(request.arguments, request.argument_count),
            environment: Self.strings(UnsafePointer(request.environment), request.environment_count))
        if start.arguments.first == "/bin/app" { starting[id] = start.arguments[1] }
        let errno = kernel.faults.strike(.spawn)
        next {
            [self] in
            begin(start, failingWith: errno)
        } otherwise: {
            for file in files.values { _ = __real_close(file) }
        }
    }

    private func begin(_ start: Start, failingWith errno: Int32?) {
        if let errno = errno ?? (start.group?.isRemoved == true ? ENODEV : nil) {
            for file in start.files.values { _ = __real_close(file) }
            return fail(start.id, Int32(errno == ENOENT ? LINUX_SPAWN_EXEC : LINUX_SPAWN_CLONE), errno)
        }
        let process = kernel.processes.make(
            parent: ProcessTable.daemon, session: nil, user: start.user, group: start.group)
        process.files = start.files
        children[process.pid] = Child(id: start.id, process: process, hasGroup: start.group != nil)
        kernel.judge.note("keeper: \(process.pid) is started")
        world?.checks.didBegin(process, start.arguments)
        tell(KEEPER_STARTED, start.id) { $0.pid = process.pid }
        // A lease on the program, a slow card.
        let hangs = kernel.faults.isOn && random.chance(perMille: 30)
        let delay = hangs ? kernel.loop.latency(100_000_000, 45_000_000_000) : latency
        world?.run(process, after: delay) { [self] in execute(process, start.arguments, start.environment) }
    }

    private func execute(_ process: PlayedProcess, _ arguments: [String], _ environment: [String]) {
        world?.didSpawn(process, arguments, environment)
        world?.after(kernel.loop.latency(20_000, 2_000_000)) { [self] in tellRunning(process.pid) }
    }

    private static func strings(_ start: UnsafePointer<CChar>?, _ count: Int) -> [String] {
        var texts: [String] = []
        guard var next = start else { return [] }
        for _ in 0..<count {
            let text = String(cString: next)
            texts.append(text)
            next += text.utf8.count + 1
        }
        return texts
    }

    private func signal(_ id: Int64, _ number: Int32) {
        if number == SIGTERM, let child = children.values.first(where: { $0.id == id }) {
            world?.checks.didAsk(child.process)
        }
        // A loop that dies after it has said so is heard.
        let deed = { [self] in
            if let child = children.values.first(where: { $0.id == id }) { send(number, to: child) }
        }
        next(deed, otherwise: deed)
    }

    func send(_ number: Int32, to child: Child) {
        kernel.send(number, to: child.process, isSentNow: false)
        guard number == SIGKILL, !child.hasGroup else { return }
        for process in kernel.processes.running where process.session == child.process.pid {
            kernel.send(SIGKILL, to: process)
        }
    }

    // MARK: What it says

    /// A signal to the main process of the service.
    func order(_ signal: Int32) {
        if signal != SIGHUP { isStopping = true }
        tell(KEEPER_ORDER, 0) { $0.detail = signal }
    }

    /// It has become a zombie; its end is told before it is reaped.
    func didEnd(_ process: PlayedProcess) {
        world?.after(kernel.loop.latency(20_000, 3_000_000)) { [self] in
            guard let child = children[process.pid], let end = process.end else { return }
            tellRunning(process.pid)
            if !child.hasGroup {
                for other in kernel.processes.running where other.session == process.pid {
                    kernel.send(SIGKILL, to: other)
                }
            }
            let word = Self.word(KEEPER_ENDED, child.id) {
                $0.code = end.code
                $0.status = end.status
                $0.cpu_ns = 1_000_000
                $0.max_rss_bytes = 4096
            }
            ends[child.id] = word
            if children[process.pid]?.isAbandoned == false { tell(word) }
            children[process.pid] = nil
            kernel.processes.forget(process)
            kernel.judge.note("keeper: \(process.pid) is reaped")
        }
    }

    private func tellRunning(_ pid: Int32) {
        guard let child = children[pid], !child.isRunning else { return }
        children[pid]?.isRunning = true
        if !child.isAbandoned { tell(KEEPER_RUNNING, child.id) { _ in } }
    }

    private func fail(_ id: Int64, _ step: Int32, _ errno: Int32) {
        let word = Self.word(KEEPER_FAILED, id) {
            $0.step = step
            $0.error = errno
        }
        ends[id] = word
        tell(word)
    }

    private static func word(_ kind: Int, _ id: Int64, _ fill: (inout keeper_word) -> Void) -> keeper_word {
        var word = keeper_word()
        word.kind = UInt32(kind)
        word.id = id
        fill(&word)
        return word
    }

    func tell(_ kind: Int, _ id: Int64, _ fill: (inout keeper_word) -> Void) { tell(Self.word(kind, id, fill)) }

    func tell(_ word: keeper_word) {
        if Int(word.kind) == KEEPER_RUNNING || Int(word.kind) == KEEPER_FAILED { starting[word.id] = nil }
        guard socket >= 0 else { return }
        var word = word
        _ = __real_send(socket, &word, MemoryLayout<keeper_word>.size, Int32(MSG_NOSIGNAL))
    }

    private var latency: Int64 { kernel.loop.latency(50_000, 4_000_000) }
}

@_cdecl("__wrap_linux_packet_send")
func wrapPacketSend(
    _ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ size: Int, _ descriptors: UnsafePointer<Int32>?, _ count: Int
) -> Int32 {
    guard let kernel = Kernel.atPoint("word to the keeper") else { return failed(EPIPE) }
    guard descriptor == kernel.keeper.loopEnd else {
        return __real_linux_packet_send(descriptor, bytes, size, descriptors, count)
    }
    if kernel.faults.strike(.send) != nil { return failed(EINTR) }
    let passed = Array(UnsafeBufferPointer(start: descriptors, count: count))
    for number in passed where kernel.descriptors[number] == nil {
        kernel.judge.complain("descriptor \(number) is sent to the keeper, which is not open")
    }
    kernel.aside { kernel.keeper.take(UnsafeRawBufferPointer(start: bytes, count: size), passed) }
    return 0
}

@_cdecl("__wrap_linux_packet_receive")
func wrapPacketReceive(
    _ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ size: Int, _ descriptors: UnsafeMutablePointer<Int32>?,
    _ count: UnsafeMutablePointer<Int>?, _ lost: UnsafeMutablePointer<Bool>?
) -> Int {
    guard let kernel = Kernel.atPoint("word of the keeper") else { return Int(failed(EPIPE)) }
    if kernel.faults.strike(.read) != nil { return Int(failed(EINTR)) }
    count?.pointee = 0
    lost?.pointee = false
    return __real_recv(descriptor, bytes, size, Int32(MSG_DONTWAIT))
}
