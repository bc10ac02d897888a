internal import CLinux
internal import LifecycleSimulation
internal import PlayedKernel

/// An app: gets ready, answers its delegate's calls as its temper has it, does tasks, forks, and ends.
final class AppProgram: Program, Listener {
    let process: PlayedProcess
    private unowned let kernel: Kernel
    private var random: SeededGenerator
    let plan: AppPlan
    private let notifySocket: String
    private let service: String
    private var inbox = Inbox()
    /// True descriptors by what they are: the delegate's, and those to the service.
    private var delegate: Int32?
    private var task: Visitor?
    private var children: [PlayedProcess] = []

    init(
        _ process: PlayedProcess, _ kernel: Kernel, _ seed: UInt64, _ plan: AppPlan, _ variables: [String: String]
    ) {
        self.process = process
        self.kernel = kernel
        self.plan = plan
        random = SeededGenerator(seed: seed)
        notifySocket = variables["NOTIFY_SOCKET"] ?? ""
        service = variables["CURFEW_SOCKET"] ?? ""
        if variables["CURFEW_DELEGATE_FD"] != nil { delegate = process.files[3] }
    }

    var listens: [Int32] { delegate.map { [$0] } ?? [] }

    private func later(_ time: Int64, _ body: @escaping () -> Void) {
        kernel.loop.world?.run(process, after: time, body)
    }

    func start() {
        if plan.notifies { later(plan.launchTime) { [self] in notify("READY=1\nSTATUS=ready") } }
        if plan.liveness != nil, plan.pings { ping() }
        for _ in 0..<plan.children { fork() }
        if let life = plan.life {
            let status: Int32 = random.chance(perMille: 500) ? 0 : 3
            later(life / 2 + Int64(random.below(Int(life)))) { [self] in exit(status) }
        }
        if plan.says { later(Int64(random.below(20_000_000_000))) { [self] in saySomething() } }
        if plan.attaches { later(Int64(random.below(9_000_000_000))) { [self] in attach() } }
        if plan.doesTasks { later(Int64(random.below(5_000_000_000))) { [self] in doTask() } }
    }

    private func exit(_ status: Int32) { kernel.finish(process, code: CLD_EXITED_VALUE, status: status) }

    private func notify(_ text: String) {
        kernel.judge.note("\(plan.name) (\(process.pid)): \(text)")
        guard Wire.notify(notifySocket, as: process.pid, text) else { return }
        if text.utf8.starts(with: "READY=1".utf8) { kernel.loop.world?.checks.didSayReady(process) }
        if text == "WATCHDOG=1" { kernel.loop.world?.checks.didPing(process) }
    }

    private func ping() {
        notify("WATCHDOG=1")
        later((plan.liveness ?? 10) * 400_000_000) { [self] in ping() }
    }

    /// What else sd_notify(3) knows.
    private func saySomething() {
        switch random.below(6) {
        case 0: notify("STATUS=working")
        case 1: notify("EXTEND_TIMEOUT_USEC=2000000")
        case 2: notify("RELOADING=1")
        case 3: notify("MAINPID=1001")
        case 4:
            guard let child = children.first(where: { $0.state == .running }) else { return }
            kernel.loop.world?.checks.didName(child, instead: process)
            notify("MAINPID=\(child.pid)")
            if random.chance(perMille: 400) {
                // It takes that back.
                later(20_000_000) { [self] in
                    kernel.loop.world?.checks.didName(process, instead: process)
                    notify("MAINPID=\(process.pid)")
                }
            } else {
                // As a program that goes to the background.
                later(50_000_000) { [self] in exit(0) }
            }
        default:
            guard !children.isEmpty else { return }
            kernel.finish(children.removeFirst(), code: CLD_EXITED_VALUE, status: 0)
        }
        later(Int64(random.below(20_000_000_000))) { [self] in saySomething() }
    }

    /// Puts a connection of its own in the place of the inherited one.
    private func attach() {
        guard delegate != nil, let visitor = kernel.loop.world?.visitors.visit(service, as: process) else { return }
        visitor.call("io.curfew.Application.AttachDelegate", "{}") { [self] reply in
            guard !reply.contains("\"error\""), let socket = visitor.handOver() else { return visitor.hangUp() }
            if let file = process.files[3] { _ = __real_close(file) }
            process.files[3] = socket
            delegate = socket
            inbox = Inbox()
        }
    }

    private func fork() {
        let child = kernel.processes.make(parent: process.pid, session: process.session, group: process.group)
        children.append(child)
        child.ignoresTerm = random.chance(perMille: 200)
        if random.chance(perMille: plan.stuck) { child.stuckUntil = kernel.clock.monotonic + 7_000_000_000 }
    }

    // MARK: Signals

    func receive(_ signal: Int32) {
        if signal == SIGTERM {
            guard let time = plan.exitTime else { return }
            return later(time) { [self] in exit(0) }
        }
        if signal == SIGUSR1 || signal == SIGUSR2 {
            guard plan.delegate == .signals else {
                return kernel.finish(process, code: CLD_KILLED_VALUE, status: signal)
            }
            if plan.acknowledges { answer(byReady: true) {} }
            return
        }
        kernel.finish(process, code: CLD_KILLED_VALUE, status: signal)
    }

    // MARK: The delegate

    func isReadable(_ file: Int32) {
        guard file == delegate else { return }
        guard let bytes = Wire.receive(file) else {
            delegate = nil
            return
        }
        for message in inbox.take(bytes) { hear(message) }
    }

    private func hear(_ message: String) {
        guard let method = Wire.string("method", in: message) else {
            kernel.judge.complain("\(plan.name) is sent \(message)")
            return
        }
        kernel.judge.note("\(plan.name) (\(process.pid)) hears \(method)")
        if message.contains("\"oneway\":true") { return }
        kernel.loop.world?.checks.didHear(process, String(method.split(separator: ".").last ?? ""))
        if random.chance(perMille: plan.stuck) { process.stuckUntil = kernel.clock.monotonic + 3_000_000_000 }
        answer(byReady: false) { [self] in send("{}") }
    }

    private func answer(byReady: Bool, _ reply: @escaping () -> Void) {
        let reply = byReady ? { [self] in notify("READY=1") } : reply
        switch random.pick(plan.answers) {
        case .prompt: later(Int64(100_000 + random.below(2_000_000)), reply)
        case .slow(let time): later(time, reply)
        case .never: break
        case .error where byReady: notify("ERRNO=5")
        case .error: send("{\"error\":\"io.curfew.Delegate.HandlerFailed\"}")
        case .garbage where byReady: notify("=\nREADY\nWATCHDOG=x\nMAINPID=-3")
        case .garbage: send("not a message")
        case .hangUp:
            if let file = delegate {
                process.files[3] = nil
                _ = __real_close(file)
            }
            delegate = nil
        }
    }

    private func send(_ text: String) {
        guard let delegate else { return }
        if text.utf8.first == UInt8(ascii: "{") {
            kernel.loop.world?.checks.didAnswer(process)
        } else {
            kernel.loop.world?.checks.didSayNonsense(process)
        }
        Wire.send(delegate, Wire.message(text))
    }

    // MARK: Background tasks

    private func doTask() {
        guard let world = kernel.loop.world, kernel.clock.monotonic < world.quietFrom else { return }
        let visitor = world.visitors.visit(service, as: process)
        task = visitor
        visitor?.call(
            "io.curfew.Application.BeginBackgroundTask",
            "{\"name\":\"upload\",\"keepAwake\":\(random.chance(perMille: 300))}"
        ) { [self] reply in
            guard let start = reply.range(of: "\"identifier\":") else { return }
            let number = reply[start.upperBound...].prefix { $0.isNumber }
            later(Int64(random.below(3_000_000_000))) { [self] in
                if random.chance(perMille: 800) {
                    task?.call("io.curfew.Application.EndBackgroundTask", "{\"identifier\":\(number)}") { _ in }
                }
                later(Int64(random.below(8_000_000_000))) { [self] in
                    task?.hangUp()
                    doTask()
                }
            }
        }
    }
}
