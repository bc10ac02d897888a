internal import CLinux
internal import LifecycleSimulation
internal import PlayedKernel

/// A client of one of the daemon's sockets.
final class Visitor: Listener {
    let process: PlayedProcess
    private let kernel: Kernel
    private(set) var socket: Int32?
    private var inbox = Inbox()
    /// Calls that have not been answered: what they were, since when, and what follows.
    private(set) var open: [(method: String, since: Int64, done: (String) -> Void)] = []
    /// More than one reply may come.
    var isWatching = false

    init(_ process: PlayedProcess, _ kernel: Kernel, _ socket: Int32) {
        self.process = process
        self.kernel = kernel
        self.socket = socket
    }

    func call(_ method: String, _ parameters: String, more: Bool = false, _ done: @escaping (String) -> Void) {
        guard let socket else { return }
        kernel.judge.note("\(process.pid) calls \(method) \(parameters)")
        if more { isWatching = true }
        open.append((method, kernel.clock.monotonic, done))
        let flag = more ? ",\"more\":true" : ""
        Wire.send(socket, Wire.message("{\"method\":\"\(method)\",\"parameters\":\(parameters)\(flag)}"))
    }

    func sendRaw(_ bytes: [UInt8]) { if let socket { Wire.send(socket, bytes) } }

    func isReadable(_ file: Int32) {
        guard let socket else { return }
        guard let bytes = Wire.receive(socket) else { return hangUp() }
        for message in inbox.take(bytes) {
            if message.contains("\"continues\":true") {
                if isWatching { continue }
                kernel.judge.complain("a reply continues that no client asked to: \(message)")
            }
            guard !open.isEmpty else {
                kernel.judge.complain("a reply comes for which there was no call: \(message)")
                continue
            }
            let call = open.removeFirst()
            kernel.judge.note("\(process.pid) is told of \(call.method): \(message.prefix(150))")
            call.done(message)
        }
    }

    /// The socket is another's from now on.
    func handOver() -> Int32? {
        defer { socket = nil }
        return socket
    }

    func hangUp() {
        guard let file = socket else { return }
        socket = nil
        open = []
        _ = __real_close(file)
    }
}

/// All who come to the daemon's sockets, and what they want there.
final class Visitors {
    private unowned let kernel: Kernel
    private var random: SeededGenerator
    private(set) var all: [Visitor] = []
    /// Processes of the board's that are no apps.
    private var shells: [PlayedProcess] = []
    private let stranger: PlayedProcess
    /// The process that was offered as a task last.
    private(set) var offered: PlayedProcess?

    init(_ kernel: Kernel, seed: UInt64) {
        self.kernel = kernel
        random = SeededGenerator(seed: seed ^ 0x0515)
        stranger = kernel.processes.make(parent: 1, session: nil, user: 1000, group: nil)
        for _ in 0..<3 { shells.append(kernel.processes.make(parent: 1, session: nil, group: nil)) }
    }

    private var world: World? { kernel.loop.world }

    func ears() -> [World.Ear] {
        all.removeAll {
            $0.socket == nil
                || $0.process.state != .running
                    && {
                        $0.hangUp(); return true
                    }($0)
        }
        return all.compactMap { visitor in
            guard visitor.process.canRun, let socket = visitor.socket else { return nil }
            return World.Ear(file: socket, process: visitor.process, listener: visitor)
        }
    }

    func visit(_ path: String, as process: PlayedProcess) -> Visitor? {
        guard let socket = Wire.connect(path, as: process.pid) else { return nil }
        let visitor = Visitor(process, kernel, socket)
        all.append(visitor)
        return visitor
    }

    /// Whatever sleep there is ends: what waits for that is answered then.
    func wake(_ root: String) {
        guard let visitor = visit(root + "/run/curfew/io.curfew.Control", as: shells[0]) else { return }
        visitor.call("io.curfew.Control.PrepareForSleep", "{\"start\":false}") { _ in visitor.hangUp() }
    }

    /// Long after the last was made, no call is open.
    func judgeOpenCalls() {
        for visitor in all where !visitor.isWatching && visitor.process.canRun {
            for call in visitor.open { kernel.judge.complain("\(call.method) is never answered") }
        }
    }

    func leave() { for visitor in all { visitor.hangUp() } }

    // MARK: Operators and strangers

    func begin(_ root: String) { later(root, 200_000_000) }

    private func later(_ root: String, _ time: Int64) {
        world?.after(time) { [self] in
            guard let world, kernel.clock.monotonic < world.quietFrom else { return }
            act(root)
            later(root, Int64(1_000_000 + random.below(random.pick([20_000_000, 2_000_000_000, 9_000_000_000]))))
        }
    }

    private func act(_ root: String) {
        let control = root + "/run/curfew/io.curfew.Control"
        let app = random.pick(world?.apps.plans ?? []).name
        switch random.below(20) {
        case 18:
            if random.chance(perMille: 50) { world?.login.shutdownWanted(isCalledOff: random.chance(perMille: 700)) }
        case 0...9: operate(control, app)
        case 10: world?.login.sleepWanted()
        case 11: world?.login.sleepWanted()
        case 12:
            world?.apps.changeOne(root)
            if random.chance(perMille: 500) { kernel.keeper.order(SIGHUP) }
        case 13: disturb(root)
        case 14: world?.login.disturb()
        case 15: crash()
        case 16: world?.jumpClocks()
        case 17: flood(root, app)
        default: kernel.clock.pass(Int64(random.below(300_000_000)))
        }
    }

    private func operate(_ path: String, _ app: String) {
        guard let visitor = visit(path, as: random.pick(shells)) else { return }
        let named = "{\"app\":\"\(app)\"}"
        let interface = "io.curfew.Control."
        let done: (String) -> Void = { _ in visitor.hangUp() }
        switch random.below(15) {
        case 0: visitor.call(interface + "List", "{}", done)
        case 1: visitor.call(interface + "Describe", named, done)
        case 2: visitor.call(interface + "Launch", named, done)
        case 3: visitor.call(interface + "Activate", named, done)
        case 4: visitor.call(interface + "Background", named, done)
        case 5: visitor.call(interface + "Terminate", named, done)
        case 6: visitor.call(interface + "Terminate", "{\"app\":\"\(app)\",\"force\":true}", done)
        case 7: visitor.call(interface + "PrepareForSleep", "{\"start\":true}", done)
        case 8: visitor.call(interface + "PrepareForSleep", "{\"start\":false}", done)
        case 9: visitor.call(interface + "Reload", "{}", done)
        case 10: visitor.call(interface + "ListTerminations", "{}", done)
        case 11: visitor.call(interface + "SetLowPowerMode", "{\"enabled\":\(random.chance(perMille: 500))}", done)
        case 13: adopt(visitor)
        case 12:
            visitor.call(interface + "Monitor", "{}", more: true, done)
            world?.after(Int64(random.below(20_000_000_000))) { visitor.hangUp() }
        default:
            visitor.call(interface + "Activate", named) { _ in }
            visitor.call(interface + "Background", named, done)
        }
        // One who has no patience.
        if random.chance(perMille: 150) { world?.after(Int64(random.below(500_000_000))) { visitor.hangUp() } }
    }

    /// A shell's own child becomes a task.
    private func adopt(_ visitor: Visitor) {
        let child = kernel.processes.make(parent: visitor.process.pid, session: nil, group: nil)
        offered = child
        let life = Int64(random.below(20_000_000_000))
        world?.run(child, after: life) { [self] in kernel.finish(child, code: CLD_EXITED_VALUE, status: 0) }
        let wish = "{\"name\":\"copy\",\"processIdentifier\":\(child.pid),\"budget\":\(random.below(30)+1)}"
        visitor.call("io.curfew.Control.AdoptTask", wish) { _ in visitor.hangUp() }
    }

    private func disturb(_ root: String) {
        let path = root + "/run/curfew/io.curfew." + (random.chance(perMille: 500) ? "Control" : "Application")
        guard let visitor = visit(path, as: random.pick(shells)) else { return }
        switch random.below(4) {
        case 0: visitor.sendRaw(Wire.message("not a message"))
        case 1: visitor.sendRaw(Array("{\"method\":\"io.curfew.Control.List\"".utf8))
        case 2: visitor.call("io.curfew.Application.BeginBackgroundTask", "{\"name\":\"x\"}") { _ in }
        default: break
        }
        world?.after(Int64(random.below(5_000_000_000))) { visitor.hangUp() }
    }

    /// A process ends that neither curfewd nor its app has ended.
    private func crash() {
        let candidates = kernel.processes.running.filter { $0.program != nil && !$0.isKilled }
        guard !candidates.isEmpty else { return }
        kernel.finish(
            random.pick(candidates), code: CLD_KILLED_VALUE, status: random.pick([SIGSEGV, SIGABRT, SIGKILL]))
    }

    /// A stranger speaks for an app.
    private func flood(_ root: String, _ app: String) {
        let path = root + "/run/curfew/notify/" + app
        for _ in 0..<random.below(30) { Wire.notify(path, as: stranger.pid, "READY=1\nMAINPID=1") }
    }
}
