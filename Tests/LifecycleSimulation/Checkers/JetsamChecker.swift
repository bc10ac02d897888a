internal import Lifecycle

/// Who could be ended for memory or heat.
struct Candidate {
    let instance: InstanceID
    let isProtected: Bool
    let isRunning: Bool
    let band: Int
    let isInFront: Bool
    let bytes: Int64
    /// It is not known what it has.
    let isVague: Bool

    /// Those that run when something is short, by the policy of now.
    static func all(_ scene: Scene, _ uses: [MemoryUse] = []) -> [Candidate] {
        scene.chronicle.records.filter { $0.isSpawned && $0.isAlive && !$0.isKillAsked }.map { record in
            let bytes = uses.first { $0.instance == record.instance }?.bytes
            let band = scene.board.directory.entry(record.app)?.policy.priorityBand ?? 100
            return Candidate(
                instance: record.instance, isProtected: band >= scene.conditions.policy.protectedBand,
                isRunning: !record.isFrozenHeard, band: band, isInFront: record.phase != .background,
                bytes: bytes ?? 0, isVague: bytes == nil)
        }
    }

    /// Whether it has to go before another one does.
    func goesBefore(_ other: Candidate) -> Bool {
        if isProtected != other.isProtected { return !isProtected }
        if isRunning != other.isRunning { return !isRunning }
        if band != other.band { return band < other.band }
        if isInFront != other.isInFront { return !isInFront }
        return bytes > other.bytes
    }
}

/// Memory that is critically short costs as few apps as it can: suspended ones first, the lowest band first, those in
/// background before those in front, the largest first; no more than is needed, but one; protected ones only when
/// no other is left. Only after a critical pressure, never within a second of the last, nor while a victim is still
/// dying.
final class JetsamChecker: Checker {
    static let sees: [EffectKind]? = [
        .readMemory, .kill, .reportStuck, .boardNotice, .endNotice, .report,
    ]

    /// What was known when apps were killed; judged when it is known for what.
    private struct Decision {
        let at: Nanoseconds
        let candidates: [Candidate]
        let short: Int64
        let isAllowed: Bool
        var open: [InstanceID]
        var victims: [InstanceID] = []
    }

    private var decisions: [Decision] = []
    /// The level that it was read for.
    private var asked: MemoryLevel?
    private var askedAt = Nanoseconds.zero
    private var mustDecide = false
    private var mayDecide = false
    /// The last that is certain.
    private var lastDecision: Nanoseconds?
    /// One may have been made: a victim that was named may still be awaited.
    private var lastChance: Nanoseconds?
    private var dying: [InstanceID] = []
    private var named: [InstanceID] = []
    /// Beyond killing, and not waited for: not only left behind by a sleep, or before a shutdown that was called off.
    private var surelyNamed: [InstanceID] = []
    /// Of the present shortage.
    private var isExhaustionSaid = false
    private var killedByKernel: [InstanceID] = []
    /// In this step.
    private var isExhausted = false
    private var snapshot: [Candidate]?

    func heard(_ event: Event, _ scene: Scene) {
        isExhausted = false
        snapshot = nil
        mustDecide = false
        if case .memory(.read(let available, let total, _)) = event {
            let isCritical = asked == .critical && available <= total / 4
            func isLate(_ last: Nanoseconds?) -> Bool { last.map { scene.now - $0 >= .seconds(1) } ?? true }
            mustDecide = isCritical && isLate(lastChance) && dying.allSatisfy { surelyNamed.contains($0) }
            mayDecide = isCritical && isLate(lastDecision) && !dying.contains { !named.contains($0) }
            asked = nil
        }
        if case .memory(.killed(let instance, _)) = event { killedByKernel.append(instance) }
        if case .process(.spawnFailed(let instance, _, _)) = event { dying.removeAll { $0 == instance } }
        if case .process(.exited(let instance, _)) = event {
            named.removeAll { $0 == instance }
            surelyNamed.removeAll { $0 == instance }
        }
        if case .process(.groupEmptied(let instance)) = event { dying.removeAll { $0 == instance } }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .memory(.read(let withUses)): judgeReading(withUses, scene)
        case .process(.kill(let instance)):
            guard case .memory(.read(let available, let total, let uses)) = scene.step.event else { return }
            let wanted = scene.conditions.policy.memoryReserve ?? total / 8
            if snapshot == nil {
                snapshot = Self.candidates(scene, total, uses)
                decisions.append(
                    Decision(
                        at: scene.now, candidates: snapshot ?? [], short: wanted - available, isAllowed: mayDecide,
                        open: []))
            }
            decisions[decisions.count - 1].open.append(instance)
        case .process(.reportStuck(let instance, let stuck)):
            named.append(instance)
            let isLeft = scene.step.effects.contains { effect in
                if case .note(.sleep(.released)) = effect { true } else { effect == .login(.releaseLock(.sleep)) }
            }
            if stuck != .unfreezable, !isLeft { surelyNamed.append(instance) }
        case .note(.shutdown(.cancelled)): surelyNamed = []
        case .note(.board(.memoryExhausted)): isExhausted = true
        case .report(let end): judge(end, scene)
        default: break
        }
    }

    /// An end has to give something back.
    private static func candidates(_ scene: Scene, _ total: Int64, _ uses: [MemoryUse]) -> [Candidate] {
        let least = min(4 << 20, total / 100)
        return Candidate.all(scene, uses).filter { $0.isVague || $0.bytes >= least }
    }

    private func judgeReading(_ withUses: Bool, _ scene: Scene) {
        guard case .memory(.pressure(let level)) = scene.step.event else {
            return violate("it is read without need", scene)
        }
        if asked != nil, scene.now - askedAt < .seconds(10) { violate("it is read twice at a time", scene) }
        askedAt = scene.now
        if withUses != (level == .critical) { violate("it is not read what apps have", scene) }
        asked = level
    }

    private func judge(_ end: Termination, _ scene: Scene) {
        let isVictim = end.reason.namespace == .jetsam && end.reason.code == 0
        // What it gives back has to show, too.
        if end.reason.namespace == .jetsam, !dying.contains(end.instance) { dying.append(end.instance) }
        if end.reason.namespace == .crash, killedByKernel.contains(end.instance) {
            violate("\(scene.name(end.instance)) was killed by the kernel, and that is not said", scene)
        }
        if end.reason.namespace == .jetsam, end.reason.code == 9, !killedByKernel.contains(end.instance) {
            violate("\(scene.name(end.instance)) was not killed by the kernel", scene)
        }
        guard let index = decisions.firstIndex(where: { $0.open.contains(end.instance) }) else {
            if isVictim { violate("\(scene.name(end.instance)) ended for memory, not by the core", scene) }
            return
        }
        decisions[index].open.removeAll { $0 == end.instance }
        if isVictim, !decisions[index].isAllowed { violate("\(scene.name(end.instance)) is ended too soon", scene) }
        if isVictim {
            decisions[index].victims.append(end.instance)
            lastDecision = max(lastDecision ?? .zero, decisions[index].at)
        }
        if decisions[index].open.isEmpty { judge(decisions.remove(at: index), scene) }
    }

    private func judge(_ decision: Decision, _ scene: Scene) {
        let victims = decision.candidates.filter { decision.victims.contains($0.instance) }
        let others = decision.candidates.filter { !decision.victims.contains($0.instance) }
        for victim in victims {
            guard let other = others.first(where: { $0.goesBefore(victim) }) else { continue }
            violate("\(scene.name(victim.instance)) is ended before \(scene.name(other.instance))", scene)
        }
        guard let last = victims.first(where: { victim in !victims.contains { victim.goesBefore($0) } }) else { return }
        let freed = victims.reduce(0) { $0 + $1.bytes }
        if victims.contains(where: { $0.bytes == 0 && $0.instance != last.instance }) {
            violate("one is ended for nothing", scene)
        }
        if victims.count > 1, freed - last.bytes >= decision.short { violate("too many are ended", scene) }
        if victims.count > 1, last.isProtected { violate("a protected one is ended with another", scene) }
        // Of whom nothing is known comes nothing: it is waited and seen.
        let isKnown = victims.allSatisfy { $0.bytes > 0 } && others.allSatisfy { $0.bytes > 0 }
        if freed < decision.short, isKnown, !last.isProtected, others.contains(where: { !$0.isProtected }) {
            violate("too few are ended", scene)
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        if case .memory(.pressure) = step.event, asked == nil {
            violate("memory is short, and the core does not look", scene)
        }
        if scene.now - askedAt >= .seconds(10) { asked = nil }
        if scene.conditions.pressure != .critical { isExhaustionSaid = false }
        guard case .memory(.read) = step.event else { return }
        let killed = snapshot == nil ? [] : decisions.last?.open ?? []
        // Those that are too small for it end for other reasons.
        let isDecided = snapshot?.contains { killed.contains($0.instance) } ?? false
        if isExhausted, !mayDecide || isDecided { violate("it is exhausted, and is not", scene) }
        if isExhausted, isExhaustionSaid { violate("that it is exhausted is said again", scene) }
        if isExhausted { isExhaustionSaid = true }
        guard mayDecide, case .memory(.read(_, let total, let uses)) = step.event else { return }
        let left = Self.candidates(scene, total, uses).first { !killed.contains($0.instance) }
        if mustDecide, killed.isEmpty, !isExhausted, let left {
            violate("it is critically short, and no app is ended: not even \(scene.name(left.instance))", scene)
        }
        if mustDecide, killed.isEmpty, left == nil, !isExhaustionSaid {
            violate("it is critically short, no app is left to be ended, and that is not said", scene)
        }
        // No app was there to be ended: that is a decision too.
        if !killed.isEmpty || left == nil { lastChance = scene.now }
        if left == nil, mustDecide { lastDecision = scene.now }
        dying += killed
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.jetsam, message) }
}
