internal import CLinux
internal import PlayedKernel

// Processes: none of them is the true kernel's.

extension Kernel {
    /// A pidfd: an eventfd that becomes readable at the process's end.
    func openProcess(_ pid: Int32) -> Int32 {
        guard let process = processes[pid] else { return failed(ESRCH) }
        if let errno = faults.strike(.pidfd) { return failed(errno) }
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { return -1 }
        process.tell(descriptor)
        descriptors.add(descriptor, .process(pid))
        return descriptor
    }

    /// The process behind a pidfd; nil once it has been reaped.
    fileprivate func process(behind descriptor: Int32) -> PlayedProcess? {
        guard case .process(let pid)? = descriptors[descriptor] else { return nil }
        return processes[pid]
    }

    fileprivate func spawn(_ request: linux_spawn_request) -> linux_spawn_result {
        var result = linux_spawn_result()
        result.pid = -1
        result.pidfd = -1
        if let errno = faults.strike(.spawn) {
            result.step = Int32(errno == ENOENT ? LINUX_SPAWN_EXEC : LINUX_SPAWN_CLONE)
            result.error = errno
            return result
        }
        var group: PlayedGroup?
        if request.group >= 0, case .directory(let path)? = descriptors[request.group] { group = groups.groups[path] }
        let process = processes.make(
            parent: ProcessTable.daemon, session: nil, user: request.change_user ? request.uid : 0, group: group)
        for index in 0..<request.descriptor_count {
            let passed = request.descriptors[index]
            guard passed.source >= 0 else { continue }
            let copy = played_real_fcntl(passed.source, F_DUPFD_CLOEXEC, 100)
            if copy >= 0 { process.files[passed.target] = copy }
        }
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        process.tell(descriptor)
        descriptors.add(descriptor, .process(process.pid))
        result.pid = process.pid
        result.pidfd = descriptor
        let arguments = Self.strings(request.arguments, request.argument_count)
        let environment = Self.strings(UnsafePointer(request.environment), request.environment_count)
        aside { loop.world?.didSpawn(process, arguments, environment) }
        return result
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
}

@_cdecl("__wrap_linux_spawn")
func wrapSpawn(_ request: UnsafePointer<linux_spawn_request>?, _ result: UnsafeMutablePointer<linux_spawn_result>?) {
    guard let kernel = Kernel.playing, let request else { return }
    result?.pointee = kernel.spawn(request.pointee)
}

@_cdecl("__wrap_linux_pidfd_open") func wrapPidfdOpen(_ pid: Int32) -> Int32 {
    Kernel.playing?.openProcess(pid) ?? failed(ENOSYS)
}

@_cdecl("__wrap_linux_pidfd_send_signal") func wrapPidfdSignal(_ descriptor: Int32, _ signal: Int32) -> Int32 {
    guard let kernel = Kernel.playing, let process = kernel.process(behind: descriptor) else { return failed(ESRCH) }
    if signal != 0, signal != SIGKILL, let errno = kernel.faults.strike(.signal) { return failed(errno) }
    kernel.aside { kernel.send(signal, to: process) }
    return 0
}

@_cdecl("__wrap_linux_pidfd_pid") func wrapPidfdPid(_ descriptor: Int32) -> Int32 {
    Kernel.playing?.process(behind: descriptor)?.pid ?? -1
}

@_cdecl("__wrap_linux_reap")
func wrapReap(_ descriptor: Int32, _ block: Bool, _ out: UnsafeMutablePointer<linux_exit>?) -> Int32 {
    guard let kernel = Kernel.playing, let process = kernel.process(behind: descriptor),
        process.parent == ProcessTable.daemon
    else { return failed(ECHILD) }
    if let errno = kernel.faults.strike(.reap) {
        if errno == ECHILD {
            guard process.state == .zombie else { return 0 }
            kernel.processes.forget(process)
            kernel.judge.note("kernel: \(process.pid) is reaped by another")
        }
        return failed(errno)
    }
    guard process.state == .zombie, let end = process.end else { return 0 }
    out?.pointee = linux_exit(code: end.code, status: end.status, cpu_ns: 1_000_000, max_rss_bytes: 4096)
    kernel.processes.forget(process)
    kernel.judge.note("kernel: \(process.pid) is reaped")
    return 1
}

@_cdecl("__wrap_linux_read_process_stat")
func wrapProcessStat(_ pid: Int32, _ thread: Int32, _ out: UnsafeMutablePointer<linux_process_stat>?) -> Int32 {
    guard let kernel = Kernel.playing, let process = kernel.processes[pid] else { return failed(ENOENT) }
    let letter: UInt8 =
        process.state == .zombie
        ? UInt8(ascii: "Z")
        : process.stuckUntil > kernel.clock.monotonic ? UInt8(ascii: "D") : UInt8(ascii: "S")
    out?.pointee.state = CChar(letter)
    out?.pointee.parent = process.parent
    out?.pointee.start_ticks = UInt64(pid)
    return 0
}

@_cdecl("__wrap_linux_process_user")
func wrapProcessUser(_ pid: Int32, _ out: UnsafeMutablePointer<uid_t>?) -> Int32 {
    guard let process = Kernel.playing?.processes[pid] else { return failed(ENOENT) }
    out?.pointee = process.user
    return 0
}

@_cdecl("__wrap_kill") func wrapKill(_ target: Int32, _ signal: Int32) -> Int32 {
    guard let kernel = Kernel.playing else { return failed(EPERM) }
    guard target < -1 else {
        kernel.judge.complain("kill(\(target), \(signal)) may reach a process that has taken the pid over")
        return 0
    }
    kernel.aside {
        for process in kernel.processes.running where process.session == -target { kernel.send(signal, to: process) }
    }
    return 0
}
