internal import CLinux
internal import PlayedKernel

// Processes: none of them is the true kernel's.

extension Kernel {
    /// A pidfd: an eventfd that becomes readable at the process's end.
    func openProcess(_ pid: Int32) -> Int32 {
        guard let process = processes[pid] else { return failed(ESRCH) }
        if let errno = faults.strike(.pidfd) { return failed(errno) }
        let descriptor = __real_eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
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
}

@_cdecl("__wrap_linux_pidfd_open") func wrapPidfdOpen(_ pid: Int32) -> Int32 {
    Kernel.playing?.openProcess(pid) ?? failed(ENOSYS)
}

@_cdecl("__wrap_linux_pidfd_send_signal") func wrapPidfdSignal(_ descriptor: Int32, _ signal: Int32) -> Int32 {
    let playing = signal == 0 ? Kernel.playing : Kernel.atPoint("signal")
    guard let kernel = playing, let process = kernel.process(behind: descriptor) else { return failed(ESRCH) }
    if signal != 0, signal != SIGKILL, let errno = kernel.faults.strike(.signal) { return failed(errno) }
    kernel.aside { kernel.send(signal, to: process) }
    return 0
}

@_cdecl("__wrap_linux_pidfd_pid") func wrapPidfdPid(_ descriptor: Int32) -> Int32 {
    Kernel.playing?.process(behind: descriptor)?.pid ?? -1
}

@_cdecl("__wrap_linux_parent_and_user")
func wrapParentAndUser(
    _ pid: Int32, _: Int32, _ parent: UnsafeMutablePointer<pid_t>?, _ user: UnsafeMutablePointer<uid_t>?
) -> Bool {
    guard let process = Kernel.playing?.processes[pid] else { return false }
    parent?.pointee = process.parent
    user?.pointee = process.user
    return true
}

@_cdecl("__wrap_linux_find_busy_thread")
func wrapFindBusyThread(_ pid: Int32, _ out: UnsafeMutablePointer<linux_busy_thread>?) -> Bool {
    guard let kernel = Kernel.playing, let process = kernel.processes[pid] else { return true }
    let isStuck = process.state == .running && process.stuckUntil > kernel.clock.monotonic
    out?.pointee.tid = isStuck ? pid : 0
    out?.pointee.status.state = CChar(UInt8(ascii: "D"))
    return true
}

/// Some boards' kernels tell.
@_cdecl("__wrap_linux_control_group_id") func wrapControlGroupID(_ pid: Int32) -> UInt64 {
    guard let kernel = Kernel.playing, kernel.tellsGroups, let group = kernel.processes[pid]?.group else { return 0 }
    var status = stat()
    return __real_stat(kernel.place(group.path), &status) == 0 ? UInt64(status.st_ino) : 0
}

/// It is done at once.
@_cdecl("__wrap_linux_do_in_time")
func wrapDoInTime(_ plan: linux_errand, _ context: UnsafeMutableRawPointer?, _: Int, _: Int32) -> Bool {
    plan.run?(context)
    return true
}

/// A played pid is no other process's.
@_cdecl("__wrap_linux_process_identity") func wrapProcessIdentity(_ pid: Int32, _: Int32) -> UInt64 {
    Kernel.playing?.processes[pid] == nil ? 0 : UInt64(pid)
}

/// This kernel does not tell.
@_cdecl("__wrap_linux_wait_channel")
func wrapWaitChannel(_: Int32, _: Int32, _: UnsafeMutablePointer<CChar>?) -> Bool { false }

/// No users have names here.
@_cdecl("__wrap_linux_write_user_records")
func wrapWriteUserRecords(
    _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _: UInt32, _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?
) -> Bool { false }

/// Signals go by a pidfd, or through the keeper.
@_cdecl("__wrap_kill") func wrapKill(_ target: Int32, _ signal: Int32) -> Int32 {
    Kernel.playing?.judge.complain("kill(\(target), \(signal)) may reach a process that has taken the pid over")
    return failed(EPERM)
}
