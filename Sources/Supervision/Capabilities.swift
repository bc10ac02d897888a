internal import CLinux
internal import SystemCalls

/// What the loop keeps of root's capabilities(7): it starts no program, so that its keeper has the others.
enum Capabilities {
    static let kept: [Int32] = [
        // A main process that MAINPID= has named, and a process that was taken over, may be any user's.
        CAP_KILL,
        // The sockets of apps and operators belong to their users and groups, and get another owner at the next launch.
        CAP_CHOWN, CAP_FOWNER,
        // What is configured may lie in a folder that only its user reads.
        CAP_DAC_READ_SEARCH,
        // The alarm that wakes the board.
        CAP_WAKE_ALARM,
        // Its pages stay in memory.
        CAP_IPC_LOCK,
        // Memory pressure over windows that are no multiple of 2 s.
        CAP_SYS_RESOURCE,
    ]

    /// Gives up the others, for good.
    static func dropOthers() throws(SystemError) {
        var mask: UInt64 = 0
        for number in kept { mask |= 1 << UInt64(number) }
        if linux_keep_capabilities(mask) != 0 { throw SystemError("give up capabilities") }
    }
}
