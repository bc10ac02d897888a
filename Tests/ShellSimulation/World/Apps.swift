internal import CLinux
internal import LifecycleSimulation
internal import PlayedKernel

/// The board's apps: their plans, and what their processes do.
final class Apps {
    private unowned let kernel: Kernel
    private(set) var plans: [AppPlan] = []
    private var random: SeededGenerator

    init(_ kernel: Kernel, seed: UInt64) {
        self.kernel = kernel
        random = SeededGenerator(seed: seed ^ 0xA995)
        for number in 0..<(1 + random.below(6)) { plans.append(AppPlan.make(number, &random)) }
    }

    private var world: World? { kernel.loop.world }

    /// Writes their files.
    func configure(_ root: String) {
        for plan in plans { write(plan.configuration, root + "/etc/curfew/apps/\(plan.name).toml") }
    }

    func write(_ text: String, _ path: String) {
        let file = played_real_open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { return }
        var text = text
        text.withUTF8 { _ = __real_write(file, $0.baseAddress, $0.count) }
        _ = __real_close(file)
    }

    /// Another configuration, of which the daemon is not told yet.
    func changeOne(_ root: String) {
        let index = random.below(plans.count)
        let path = root + "/etc/curfew/apps/\(plans[index].name).toml"
        switch random.below(4) {
        case 0: _ = unlink(path)
        case 1: write("exec = 3\n", path)
        default:
            plans[index].restart = random.pick(["always", "on-failure", "never"])
            write(plans[index].configuration, path)
        }
    }

    func didSpawn(_ process: PlayedProcess, _ arguments: [String], _ environment: [String]) {
        var variables: [String: String] = [:]
        for entry in environment {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            variables[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
        }
        guard arguments.count >= 2, let plan = plans.first(where: { $0.name == arguments[1] }) else {
            kernel.judge.complain("a program is started that is not configured: \(arguments)")
            return
        }
        world?.checks.didSpawn(process, arguments, variables)
        let program: any Program
        if arguments[0] == "/bin/hook" {
            program = HookProgram(process, kernel, random.next(), plan)
        } else {
            program = AppProgram(process, kernel, random.next(), plan, variables)
        }
        process.program = program
        world?.run(process, after: kernel.loop.latency(100_000, 3_000_000)) { program.start() }
    }
}

/// A hook: a little work, and the end.
final class HookProgram: Program {
    private unowned let process: PlayedProcess
    private unowned let kernel: Kernel
    private var random: SeededGenerator
    private let plan: AppPlan

    init(_ process: PlayedProcess, _ kernel: Kernel, _ seed: UInt64, _ plan: AppPlan) {
        self.process = process
        self.kernel = kernel
        random = SeededGenerator(seed: seed)
        self.plan = plan
    }

    var listens: [Int32] { [] }
    func receive(_ signal: Int32) { kernel.finish(process, code: CLD_KILLED_VALUE, status: signal) }
    func isReadable(_ file: Int32) {}

    func start() {
        let answer = random.pick(plan.answers)
        switch answer {
        case .never, .hangUp: return
        case .slow(let time): end(after: time, 0)
        case .error: end(after: 1_000_000, 7)
        case .prompt, .garbage: end(after: 1_000_000, 0)
        }
    }

    private func end(after time: Int64, _ status: Int32) {
        kernel.loop.world?.run(process, after: time) { [self] in
            kernel.finish(process, code: CLD_EXITED_VALUE, status: status)
        }
    }
}
