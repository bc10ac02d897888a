internal import CLinux

extension Kernel {
    /// What a file of /proc or of a control group says now; nil: there is no such file.
    func text(of file: KernelFile) -> String? {
        if let group = file.group { return text(of: file.name, group) }
        switch file.path {
        case "/proc/self/mountinfo" where !hasGroups: return "30 20 0:26 / /proc rw - proc proc rw\n"
        case "/proc/self/mountinfo":
            return "30 20 0:26 / \(GroupTree.mount) rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
        case "/proc/self/cgroup": return "0::/daemon\n"
        case "/proc/meminfo": return "MemTotal: 512000 kB\nMemAvailable: 300000 kB\n"
        default: break
        }
        let parts = file.path.split(separator: "/")
        if parts.count == 3, parts[0] == "proc", parts[2] == "cgroup", let pid = Int32(parts[1]) {
            guard let process = processes[pid] else { return nil }
            guard let group = process.group else { return "0::/elsewhere\n" }
            return "0::" + group.path.dropFirst(GroupTree.mount.utf8.count) + (group.isRemoved ? " (deleted)" : "")
                + "\n"
        }
        if GroupTree.contains(file.path) {
            return file.name == "cgroup.controllers" || file.name == "cgroup.subtree_control" ? "memory pids\n" : ""
        }
        return nil
    }

    private func text(of name: String, _ group: PlayedGroup) -> String {
        switch name {
        case "cgroup.procs": group.living.map { "\($0.pid)\n" }.joined()
        case "cgroup.events": "populated \(group.isPopulated ? 1 : 0)\nfrozen \(group.isFrozen ? 1 : 0)\n"
        case "cgroup.freeze": group.wantsFrozen ? "1\n" : "0\n"
        case "memory.current": "\(4_000_000 * group.living.count)\n"
        case "memory.stat": "anon \(3_000_000 * group.living.count)\nfile 0\n"
        case "memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n"
        case "cpu.stat": "usage_usec 1000\n"
        default: ""
        }
    }

    /// A write to one of them. The errno, or 0.
    func write(_ text: String, to file: KernelFile) -> Int32 {
        guard let group = file.group else { return 0 }
        if group.isRemoved { return ENODEV }
        switch file.name {
        case "cgroup.freeze": setFrozen(group, text.utf8.first == UInt8(ascii: "1"))
        case "cgroup.kill":
            group.isKillAsked = true
            judge.note("kernel: kill \(group.name)")
            for process in group.living { kill(process) }
        case "cgroup.procs":
            guard let pid = Int32(text), let process = processes[pid], process.state == .running else { return ESRCH }
            process.group?.remove(process)
            group.add(process)
        default: break
        }
        return 0
    }

    private func setFrozen(_ group: PlayedGroup, _ wanted: Bool) {
        judge.note("kernel: \(wanted ? "freeze" : "thaw") \(group.name)")
        loop.world?.checks.did(wanted ? .freeze : .thaw, group)
        group.freeze(wanted)
        guard wanted else { return }
        settleFreeze(group)
    }

    /// The kernel is done once each process has come to a place where it can be stopped.
    private func settleFreeze(_ group: PlayedGroup) {
        guard group.wantsFrozen, !group.isFrozen else { return }
        let stuck = group.living.map { $0.stuckUntil }.max() ?? 0
        if stuck <= clock.monotonic {
            loop.world?.after(loop.latency(20_000, 4_000_000)) { group.didFreeze() }
        } else {
            loop.world?.at(stuck) { [self] in settleFreeze(group) }
        }
    }

    /// SIGKILL: what is stuck in the kernel ends when it comes out.
    func kill(_ process: PlayedProcess) {
        guard process.state == .running, !process.isKilled else { return }
        process.isKilled = true
        let moment = max(process.stuckUntil, clock.monotonic + loop.latency(10_000, 3_000_000))
        loop.world?.at(moment) { [self] in finish(process, code: CLD_KILLED_VALUE, status: SIGKILL) }
    }

    /// It ends: its children are init's now.
    func finish(_ process: PlayedProcess, code: Int32, status: Int32) {
        guard process.state == .running else { return }
        process.endedAt = clock.monotonic
        process.finish(code: code, status: status)
        judge.note("kernel: \(process.pid) has ended, \(status)")
        if process.parent == ProcessTable.daemon { keeper.didEnd(process) } else { processes.forget(process) }
        guard let group = process.group, !group.isPopulated else { return }
        loop.world?.after(loop.latency(10_000, 18_000_000)) { group.changed() }
    }

    /// A signal that is not SIGKILL: handled when it gets the processor.
    func send(_ signal: Int32, to process: PlayedProcess, isSentNow: Bool = true) {
        guard process.state == .running else { return }
        judge.note("kernel: signal \(signal) to \(process.pid)")
        if signal == SIGKILL { return kill(process) }
        if signal == SIGTERM, isSentNow { loop.world?.checks.didAsk(process) }
        guard signal != 0, signal != SIGCONT else { return }
        loop.world?.run(process, after: loop.latency(20_000, 2_000_000)) { [self] in
            if let program = process.program { return program.receive(signal) }
            if !process.ignoresTerm { finish(process, code: CLD_KILLED_VALUE, status: signal) }
        }
    }
}

let CLD_KILLED_VALUE: Int32 = 2
let CLD_EXITED_VALUE: Int32 = 1
