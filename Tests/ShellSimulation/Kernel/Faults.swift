internal import CLinux
internal import LifecycleSimulation

/// Which calls fail, how often, and with what: by chance, in bouts, and never while the board is to come to rest.
final class Faults {
    enum Call: CaseIterable {
        case open, read, write, fsync, rename, mkdir, rmdir, access
        case socketpair, accept, send, receive, duplicate, pipe
        case spawn, pidfd, signal, groupWrite, eventRead, watch
    }

    private var random: SeededGenerator
    private var rates: [Call: Int] = [:]
    private(set) var isOn = false
    /// How often each has struck.
    private(set) var struck: [Call: Int] = [:]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed ^ 0xFA17)
        guard random.chance(perMille: 700) else { return }
        for call in Call.allCases where random.chance(perMille: 350) {
            rates[call] = random.pick([2, 10, 50, 300])
        }
    }

    func turn(on: Bool) { isOn = on }

    /// The errno that this call fails with; nil: it does its work.
    func strike(_ call: Call) -> Int32? {
        guard isOn, let rate = rates[call], random.chance(perMille: rate) else { return nil }
        struck[call, default: 0] += 1
        return random.pick(Self.errors(call))
    }

    /// How much of a transfer is done; a short one is no error.
    func length(_ size: Int, _ call: Call) -> Int {
        guard isOn, size > 1, let rate = rates[call], random.chance(perMille: rate * 2) else { return size }
        return 1 + random.below(size - 1)
    }

    private static func errors(_ call: Call) -> [Int32] {
        switch call {
        case .open: [EMFILE, ENFILE, EINTR, ENOMEM]
        case .read, .eventRead: [EINTR]
        case .write: [ENOSPC, EINTR, EIO]
        case .fsync: [EIO, ENOSPC]
        case .rename, .mkdir: [ENOSPC, EROFS]
        case .rmdir: [EBUSY]
        case .access: [ENOENT]
        case .socketpair, .pipe, .duplicate: [EMFILE, ENFILE]
        case .accept: [EMFILE, EINTR, ECONNABORTED]
        case .send, .receive: [EINTR, EAGAIN]
        case .spawn: [EAGAIN, ENOMEM, ENOENT]
        case .watch: [ENOMEM, ENOSPC]
        case .pidfd: [EMFILE, ESRCH]
        case .signal: [EPERM]
        case .groupWrite: [EINTR, ENOMEM]
        }
    }
}
