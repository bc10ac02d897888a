public import SystemCalls

/// What the daemon says of itself and the board, for the next boot to find.
public enum LastWord: UInt8, CaseIterable, Sendable {
    case running
    /// Running, with a battery that is low.
    case runningLow
    /// The daemon ended in good order; the board went on.
    case stopped
    /// The board is going down, for power-off or a restart.
    case goingDown
    case poweringOff, poweringOffBattery
    case rebooting

    var isGoingDown: Bool { rawValue >= Self.goingDown.rawValue }
}

/// A small file in the state directory: the last word, the boot it was said in, why that boot had started, and which
/// pstore records were known by then.
///
/// Written durably, two syncs each: flash wears, so only when something changed. That is once a boot, at its end, and
/// when a battery becomes low or recovers.
public final class LastWords {
    private let path: String
    /// The kernel's boot id; empty where there is none.
    private let boot: [UInt8]
    private let pstore: String
    private let archive: String

    /// What the file holds; empty where it cannot be read or is not ours.
    private var written: [UInt8]
    private var cause: BootCause?
    /// The keys of known pstore records, as they are written.
    private var known: [UInt8] = []

    // A line of letters: "L1", the word, the cause's evidence (4 letters), the boot id; then a line of known records.
    private static let identifier = 7
    private static let letter = UInt8(ascii: "a")

    /// path: the file. bootIdentifier: where the kernel tells it. pstore, archive: see `KernelCrash`.
    public init(
        path: String, bootIdentifier: String = "/proc/sys/kernel/random/boot_id", pstore: String = "/sys/fs/pstore",
        archive: String = "/var/lib/systemd/pstore"
    ) {
        self.path = path
        self.pstore = pstore
        self.archive = archive
        boot = Self.line((try? Files.readShared(bootIdentifier, limit: 64)) ?? [], from: 0)
        written = (try? Files.read(path, limit: 8192)) ?? []
        if !Self.isOurs(written) { written = [] }
    }

    /// The last word of the boot before this one; nil where there is none, or this boot has said one already.
    public var ofBootBefore: LastWord? { isSameBoot || written.isEmpty ? nil : Self.word(written[2]) }

    private var isSameBoot: Bool {
        !boot.isEmpty && !written.isEmpty && Self.line(written, from: Self.identifier) == boot
    }

    /// Why this boot started, as far as it was judged; nil: it was not yet, by this daemon or one before it.
    public var causeSoFar: BootCause? { cause ?? (isSameBoot ? BootCause(Self.evidence(written)) : nil) }

    /// Why this boot started. The evidence is taken once a boot: a daemon that starts again in the same boot finds what
    /// was found then. Only what the watchdogs say is added whenever it is asked: a driver may come late. bootStatus
    /// and reportsResets: see `BootCause.Evidence`.
    public func bootCause(bootStatus: WatchdogFlags, reportsResets: Bool) -> BootCause {
        var evidence = cause?.evidence ?? taken()
        evidence.bootStatus.formUnion(bootStatus)
        if reportsResets { evidence.reportsResets = true }
        let judged = BootCause(evidence)
        cause = judged
        return judged
    }

    private func taken() -> BootCause.Evidence {
        var evidence = BootCause.Evidence(lastWord: ofBootBefore)
        if isSameBoot {
            evidence = Self.evidence(written)
            known = Self.line(written, from: Self.identifier + boot.count + 1)
        } else {
            // Without a record of ours the age of the archive is not known; what is in pstore itself is new enough.
            let before = Self.line(written, from: Self.line(written, from: 0).count + 1)
            note(KernelCrash.found(in: pstore), &evidence, unless: before)
            var old = evidence
            note(KernelCrash.found(in: archive), &old, unless: before)
            if !written.isEmpty { evidence = old }
        }
        return evidence
    }

    /// Writes the word down, durably, unless it stands there already. To be said after `bootCause`, which it keeps.
    public func say(_ word: LastWord) throws(SystemError) {
        let evidence = cause?.evidence ?? BootCause.Evidence()
        let status = UInt8(truncatingIfNeeded: evidence.bootStatus.rawValue)
        let found: UInt8 = (evidence.reportsResets ? 1 : 0) | (evidence.panic ? 2 : 0) | (evidence.oops ? 4 : 0)
        var bytes: [UInt8] = [UInt8(ascii: "L"), UInt8(ascii: "1")]
        for value in [word.rawValue, evidence.lastWord?.rawValue ?? 15, status & 15, status >> 4 & 7, found] {
            bytes.append(Self.letter + value)
        }
        bytes += boot
        bytes.append(UInt8(ascii: "\n"))
        bytes += known
        bytes.append(UInt8(ascii: "\n"))
        if bytes == written { return }
        do throws(SystemError) {
            try Files.replace(path, with: bytes)
        } catch {
            // Of a boot that ends in good order the next must not think that the power was lost.
            guard error.errno.isFull, !written.isEmpty else { throw error }
            try Files.overwrite(path, with: bytes)
        }
        written = bytes
    }

    /// Marks what is new among the records, and keeps all of them.
    private func note(_ crashes: [KernelCrash], _ evidence: inout BootCause.Evidence, unless before: [UInt8]) {
        for crash in crashes {
            var key: [UInt8] = []
            for shift in 0..<8 { key.append(Self.letter + UInt8(crash.key >> UInt32(4 * shift) & 15)) }
            if !Self.holds(known, key) { known += key }
            if Self.holds(before, key) { continue }
            if crash.kind == .panic { evidence.panic = true }
            if crash.kind == .oops { evidence.oops = true }
        }
    }

    private static func holds(_ keys: [UInt8], _ key: [UInt8]) -> Bool {
        var start = 0
        while start + 8 <= keys.count {
            if keys[start..<start + 8].elementsEqual(key) { return true }
            start += 8
        }
        return false
    }

    // MARK: Reading

    private static func isOurs(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > identifier, bytes[0] == UInt8(ascii: "L"), bytes[1] == UInt8(ascii: "1"),
            bytes.last == UInt8(ascii: "\n"), word(bytes[2]) != nil
        else { return false }
        return bytes[3..<identifier].allSatisfy { $0 >= letter && $0 < letter + 16 }
    }

    private static func word(_ byte: UInt8) -> LastWord? { LastWord(rawValue: byte &- letter) }

    private static func evidence(_ bytes: [UInt8]) -> BootCause.Evidence {
        let found = bytes[6] - letter
        return BootCause.Evidence(
            bootStatus: WatchdogFlags(rawValue: UInt32(bytes[4] - letter) | UInt32(bytes[5] - letter) << 4),
            reportsResets: found & 1 != 0, lastWord: word(bytes[3]), panic: found & 2 != 0, oops: found & 4 != 0)
    }

    /// From there to the end of the line.
    private static func line(_ bytes: [UInt8], from start: Int) -> [UInt8] {
        var line: [UInt8] = []
        var index = start
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") {
            line.append(bytes[index])
            index += 1
        }
        return line
    }
}
