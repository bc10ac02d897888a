internal import CLinux

/// Signals by name. Numbers are not taken: they differ between architectures.
enum SignalName {
    private static let names: [(String, Int32)] = [
        ("HUP", SIGHUP), ("INT", SIGINT), ("QUIT", SIGQUIT), ("ILL", SIGILL), ("TRAP", SIGTRAP), ("ABRT", SIGABRT),
        ("BUS", SIGBUS), ("FPE", SIGFPE), ("USR1", SIGUSR1), ("SEGV", SIGSEGV), ("USR2", SIGUSR2), ("PIPE", SIGPIPE),
        ("ALRM", SIGALRM), ("TERM", SIGTERM), ("CHLD", SIGCHLD), ("CONT", SIGCONT), ("TSTP", SIGTSTP),
        ("TTIN", SIGTTIN), ("TTOU", SIGTTOU), ("URG", SIGURG), ("XCPU", SIGXCPU), ("XFSZ", SIGXFSZ),
        ("VTALRM", SIGVTALRM), ("PROF", SIGPROF), ("WINCH", SIGWINCH), ("IO", SIGIO), ("POLL", SIGIO),
        ("PWR", SIGPWR), ("SYS", SIGSYS),
    ]

    /// "SIGUSR1", "USR1", "SIGRTMIN", "SIGRTMIN+3", "SIGRTMAX-2". nil for an unknown one and for those that no
    /// program can catch (KILL, STOP).
    static func number(_ text: String) -> Int32? {
        var name = Array(text.utf8)
        if name.starts(with: "SIG".utf8) { name.removeFirst(3) }
        for (known, number) in names where Array(known.utf8) == name { return number }
        let first = __libc_current_sigrtmin()
        let last = __libc_current_sigrtmax()
        if name.starts(with: "RTMIN".utf8) {
            return offset(name.dropFirst(5), sign: UInt8(ascii: "+"), limit: last - first).map { first + $0 }
        }
        if name.starts(with: "RTMAX".utf8) {
            return offset(name.dropFirst(5), sign: UInt8(ascii: "-"), limit: last - first).map { last - $0 }
        }
        return nil
    }

    /// "SIGUSR1" of its number.
    static func text(_ number: Int32) -> String {
        for (name, known) in names where known == number { return "SIG" + name }
        let first = __libc_current_sigrtmin()
        return number == first ? "SIGRTMIN" : "SIGRTMIN+\(number - first)"
    }

    /// 0 for nothing, n for "+n".
    private static func offset(_ text: ArraySlice<UInt8>, sign: UInt8, limit: Int32) -> Int32? {
        if text.isEmpty { return 0 }
        guard text.first == sign, (2...3).contains(text.count) else { return nil }
        var value: Int32 = 0
        for byte in text.dropFirst() {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int32(byte - UInt8(ascii: "0"))
        }
        return value <= limit ? value : nil
    }
}
