internal import SystemCalls

/// What the kernel kept of its own last moments: a "dmesg-*" record of pstore, in /sys/fs/pstore or where
/// systemd-pstore(8) has put it away, /var/lib/systemd/pstore.
public struct KernelCrash: Equatable, Sendable {
    /// What the record says of itself in its first line.
    public enum Kind: Equatable, Sendable {
        case panic
        /// The kernel went on after it, for a while at least.
        case oops
        /// Compressed by a method that this kernel does not know, or the log of an ordered shutdown.
        case other
    }
    public let kind: Kind
    /// The same for one record wherever it lies; back ends give names anew (dmesg-ramoops-0).
    public let key: UInt32

    init(name: [UInt8], start: [UInt8]) {
        kind = stands("Panic#", in: start) ? .panic : stands("Oops#", in: start) ? .oops : .other
        // FNV-1a.
        var hash: UInt32 = 0x811c_9dc5
        for byte in name { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        for byte in start { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        key = hash
    }

    /// The records in a directory and two levels below it; of many, the last by name. What cannot be read is left out.
    public static func found(in directory: String) -> [KernelCrash] {
        var crashes: [KernelCrash] = []
        find(in: directory, depth: 2, &crashes)
        return crashes
    }

    private static func find(in directory: String, depth: Int, _ crashes: inout [KernelCrash]) {
        guard depth >= 0, let names = try? Files.listShared(directory, within: Files.patience) else { return }
        // The newest come first: systemd-pstore names its directories by the time.
        for name in names.reversed() where crashes.count < limit {
            let path = joined([directory, "/", name])
            let bytes = Array(name.utf8)
            guard stands("dmesg-", in: bytes) else {
                find(in: path, depth: depth - 1, &crashes)
                continue
            }
            guard let start = try? Files.read(path, limit: 1024) else { continue }
            crashes.append(KernelCrash(name: bytes, start: start))
        }
    }

    private static let limit = 64
}
