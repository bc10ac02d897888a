internal import LifecycleSimulation

/// Delay locks on sleep that apps hold at logind by themselves, and what it has told the daemon of them.
final class PlayedAppLocks {
    private unowned let kernel: Kernel
    private var random: SeededGenerator
    /// By pid: until when they are held, MONOTONIC.
    private var held: [Int32: Int64] = [:]
    /// Whom the last answer named.
    private var told: Set<Int32> = []
    /// Questions of the daemon's, of a dead loop's too, that have no answer yet.
    var questions = 0
    var isAsked: Bool { questions > 0 }

    init(_ kernel: Kernel, seed: UInt64) {
        self.kernel = kernel
        random = SeededGenerator(seed: seed ^ 0x10C5)
    }

    /// A sleep is announced: some apps hold one, most of them not for long.
    func take() {
        held = [:]
        for process in kernel.processes.running where process.group != nil && random.chance(perMille: 100) {
            held[process.pid] = kernel.clock.monotonic + Int64(random.below(random.pick([300_000_000, 6_000_000_000])))
        }
    }

    private var holders: [Int32] {
        held.filter { kernel.processes[$0.key] != nil && $0.value > kernel.clock.monotonic }.map(\.key).sorted()
    }

    /// a(ssssuu), as ListInhibitors has it.
    func list() -> [BusValue] {
        holders.map { pid in
            .container(
                "r",
                [
                    .string("sleep"), .string("app"), .string("saves"), .string("delay"), .short(0),
                    .short(UInt32(bitPattern: pid)),
                ])
        }
    }

    /// body: nil where it was no list.
    func didTell(_ body: [BusValue]?) {
        questions -= 1
        told = []
        guard case .array(let rows)? = body?.first else { return }
        for case .container(_, let fields) in rows {
            if case .short(let pid)? = fields.last { told.insert(Int32(bitPattern: pid)) }
        }
    }

    /// Whether an app holds one, as far as logind has told.
    func isHolder(_ group: PlayedGroup) -> Bool {
        told.contains { kernel.processes[$0]?.group === group || kernel.processes[$0] == nil }
    }
}
