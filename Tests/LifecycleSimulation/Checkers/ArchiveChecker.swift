internal import Lifecycle

/// Invariant 10: the state can be written down and read back at any point, and carries on.
///
/// At random steps the core is archived and read back. The copy must be equal, must do the same with the event at hand,
/// be equal again afterwards, and is what the run goes on with. Damaged archives (bytes changed, cut off) give nil or
/// a core that can be asked and woken; never a crash.
enum ArchiveChecker {
    static func compare(
        _ core: DeviceLifecycle, with copy: DeviceLifecycle?, on event: Event, at instant: Instant
    ) -> String? {
        guard var copy else { return "its own archive is not read back" }
        guard copy == core else { return "what is read back is not equal: \(difference(core, copy))" }
        var original = core
        let expected = original.handle(event, at: instant)
        let effects = copy.handle(event, at: instant)
        if effects != expected { return "what is read back does something else with the next event" }
        if copy != original { return "what is read back is not equal after the next event" }
        return nil
    }

    /// The first difference, with what is around it.
    static func difference(_ core: DeviceLifecycle, _ copy: DeviceLifecycle) -> String {
        let left = Array("\(core)".utf8)
        let right = Array("\(copy)".utf8)
        let same = zip(left, right).prefix { $0 == $1 }.count
        func excerpt(_ text: [UInt8]) -> String {
            String(decoding: text[max(same - 80, 0)..<min(same + 40, text.count)], as: UTF8.self)
        }
        return "\"\(excerpt(left))\", and read back \"\(excerpt(right))\""
    }

    /// What happens to the bytes of an archive. Drawn without looking at them.
    struct Damage {
        private let cut: UInt64?
        private var changes: [(place: UInt64, byte: UInt8)] = []

        init(_ random: inout SeededGenerator) {
            cut = random.chance(perMille: 200) ? random.next() : nil
            for _ in 0..<(1 + random.below(4)) {
                let place = random.next()
                let isDigit = random.chance(perMille: 700)
                changes.append((place, isDigit ? UInt8(0x30 + random.below(10)) : UInt8(random.below(256))))
            }
        }

        func done(to bytes: [UInt8]) -> [UInt8] {
            var damaged = bytes
            if let cut, !bytes.isEmpty { damaged.removeLast(1 + Int(cut % UInt64(bytes.count))) }
            for (place, byte) in changes where !damaged.isEmpty {
                damaged[Int(place % UInt64(damaged.count))] = byte
            }
            return damaged
        }
    }

    /// What is left of an archive is nothing, or a core that can be asked and woken; and it is nothing. The problem.
    static func revive(_ damaged: [UInt8], of whole: [UInt8], at instant: Instant) -> String? {
        guard damaged != whole, var core = DeviceLifecycle(archive: damaged) else { return nil }
        for app in core.appIDs { _ = core.view(of: app) }
        _ = core.handle(.timePassed, at: instant)
        _ = core.handle(.login(.prepareForSleep(true, delayMax: nil, signalled: instant.monotonic)), at: instant)
        _ = core.handle(.stopRequested, at: instant)
        _ = core.nextDeadline
        _ = core.archived()
        return "a damaged archive is taken for a whole one"
    }
}
