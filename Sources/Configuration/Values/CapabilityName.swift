/// capabilities(7) by name; a set of them is a mask with a bit for each number.
enum CapabilityName {
    /// By number.
    private static let names = [
        "CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP",
        "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER",
        "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE",
        "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP",
        "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF",
        "CHECKPOINT_RESTORE",
    ]

    /// Of "CAP_NET_ADMIN"; nil for an unknown name.
    static func bit(_ text: String) -> UInt64? {
        for (number, name) in names.enumerated() where text == "CAP_" + name { return 1 << UInt64(number) }
        return nil
    }

    static func texts(_ mask: UInt64) -> [String] {
        names.indices.filter { mask >> UInt64($0) & 1 != 0 }.map { "CAP_" + names[$0] }
    }
}
