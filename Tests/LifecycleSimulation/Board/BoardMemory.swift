internal import Lifecycle

/// A board whose memory is what its apps leave of it.
extension SimulatedBoard {
    static let totalMemory: Int64 = 1 << 30

    var hasMemoryOfItsOwn: Bool { plan.had(.hungryApp) || plan.had(.foreignHog) }

    /// Bytes that a program could have without waiting.
    var availableMemory: Int64 {
        let used = processes.reduce(truth.hogged) { $0 + ($1.stage == .exited ? 0 : $1.bytes) }
        return max(Self.totalMemory - used, 0)
    }

    /// Something that is no app takes nearly all there is, for a while.
    func bringHog() {
        guard truth.hogged == 0 else { return }
        truth.hogged = Self.totalMemory - (20 << 20)
        say("something beside the apps takes the memory")
        plan(.hogLeaves, after: hardRandom.magnitude(.seconds(5), .seconds(60)))
        pressForMemory()
    }

    /// The hungry one eats; who waits for memory makes the kernel say so.
    func pressForMemory() {
        for process in processes where directory.entry(process.app)?.policy.name == hungryApp {
            if process.stage == .alive, process.ran(at: monotonic) > .seconds(2) { process.bytes = Self.totalMemory }
        }
        guard availableMemory < Self.totalMemory / 8 else { return }
        hear(.memory(.pressure(availableMemory < Self.totalMemory / 16 ? .critical : .warning)))
        if truth.hogged > 0 { plan(.pressesForMemory, after: .seconds(1)) }
    }

    /// Those that come and go while they are read are not in it.
    func tellOfRealMemory() {
        let uses = processes.filter { $0.stage == .alive }.map { process in
            let isKnown = !hardRandom.chance(perMille: 50)
            return MemoryUse(instance: process.instance, bytes: isKnown ? process.bytes : nil)
        }
        hear(.memory(.read(available: availableMemory, total: Self.totalMemory, uses)))
    }
}
