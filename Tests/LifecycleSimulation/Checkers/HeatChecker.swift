internal import Lifecycle

/// A board that is critically hot ends running apps, one lowest band at a time (those in background before those in
/// front), 10 s apart, and neither suspended nor protected ones.
final class HeatChecker: Checker {
    static let sees: [EffectKind]? = [.kill, .thaw, .report, .sleepNotice]

    private struct Decision {
        let candidates: [Candidate]
        let at: Nanoseconds
        let spell: Int
        /// Heat asks for it.
        let isHot: Bool
        var open: [InstanceID]
        /// For whatever.
        var killed: [InstanceID] = []
        var victims: [InstanceID] = []
    }

    private var decisions: [Decision] = []
    /// When it is looked for a victim again; nil while it is not too hot, or no app is there to do anything.
    private var nextLook: Nanoseconds?
    /// When it is looked is known, and not only that it is each 10 s.
    private var isInStep = true
    /// Only a property says that the present sleep is one of the kernel's: it may be about an older one.
    private var isVague = false
    /// For sure: the present sleep is not the kernel's, and the board goes on in it.
    private var isLogical = false
    /// How often it has begun to be too hot.
    private var spell = 0
    private var lastKill: (spell: Int, at: Nanoseconds)?
    // In this step.
    private var hasSnapshot = false
    /// More apps run than as it was taken.
    private var isSnapshotOld = false
    private var thawed: [InstanceID] = []

    func heard(_ event: Event, _ scene: Scene) {
        hasSnapshot = false
        isSnapshotOld = false
        thawed = []
        guard scene.announcesRealSleep else { return }
        isLogical = false
        isVague = !isEdge(event)
    }

    private func isEdge(_ event: Event) -> Bool {
        switch event {
        case .login(.preparingForSleep), .login(.available): false
        default: true
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .note(.sleep(.preparing)): isLogical = !scene.saysRealSleep
        case .process(.kill(let instance)):
            if !hasSnapshot || isSnapshotOld {
                decisions.append(
                    Decision(
                        candidates: candidates(scene), at: scene.now, spell: spell,
                        isHot: isHot(scene) && (!scene.chronicle.isEnding || turnsNow(scene)), open: []))
                hasSnapshot = true
                isSnapshotOld = false
            }
            decisions[decisions.count - 1].open.append(instance)
            decisions[decisions.count - 1].killed.append(instance)
        case .process(.thaw(let instance)):
            thawed.append(instance)
            isSnapshotOld = true
        case .report(let end): judge(end, scene)
        default: break
        }
    }

    /// The end of all apps begins in this very step, or is called off, perhaps after heat has had its say.
    private func turnsNow(_ scene: Scene) -> Bool {
        scene.step.effects.contains { effect in
            switch effect {
            case .note(.shutdown(.preparing)), .note(.shutdown(.cancelled)): true
            default: false
            }
        }
    }

    private func isHot(_ scene: Scene) -> Bool {
        scene.conditions.heat == .critical && scene.conditions.policy.responses[.thermalCritical] == .kill
    }

    private func candidates(_ scene: Scene) -> [Candidate] {
        Candidate.all(scene).filter { $0.isRunning && !$0.isProtected }
    }

    private func judge(_ end: Termination, _ scene: Scene) {
        let isVictim = end.reason.namespace == .thermal
        if isVictim, end.reason.code != 0xc000_10ff { violate("\(scene.name(end.instance)) has another code", scene) }
        guard let index = decisions.firstIndex(where: { $0.open.contains(end.instance) }) else {
            if isVictim { violate("\(scene.name(end.instance)) ended for heat, and was not killed", scene) }
            return
        }
        decisions[index].open.removeAll { $0 == end.instance }
        if isVictim { decisions[index].victims.append(end.instance) }
        if decisions[index].open.isEmpty { judge(decisions.remove(at: index), scene) }
    }

    private func judge(_ decision: Decision, _ scene: Scene) {
        guard let first = decision.victims.first else { return }
        if let last = lastKill, last.spell == decision.spell, last.at < decision.at,
            decision.at - last.at < .seconds(10)
        {
            violate("the next band is ended after \((decision.at - last.at).text)", scene)
        }
        lastKill = (decision.spell, decision.at)
        if !decision.isHot { violate("\(scene.name(first)) is ended for heat, and that is not asked for", scene) }
        for instance in decision.victims {
            guard let victim = decision.candidates.first(where: { $0.instance == instance }) else {
                violate("\(scene.name(instance)) is suspended, protected or gone, and ended for heat", scene)
                continue
            }
            if decision.candidates.contains(where: { $0.goesBefore(victim) && !decision.killed.contains($0.instance) })
            {
                violate("\(scene.name(instance)) is not of the lowest band", scene)
            }
        }
        // A victim of lower order that another one goes before shows itself here.
        let victims = decision.candidates.filter { decision.victims.contains($0.instance) }
        if let other = victims.first(where: { victim in victims.contains { $0.goesBefore(victim) } }) {
            violate("\(scene.name(other.instance)) is ended with a lower band", scene)
        }
        guard let alike = decision.candidates.first(where: { $0.instance == first }) else { return }
        for other in decision.candidates
        where other.band == alike.band && other.isInFront == alike.isInFront
            && !decision.killed.contains(other.instance)
        {
            violate("\(scene.name(other.instance)) is spared", scene)
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        let state = scene.board.core.device.sleepState
        let isHot =
            isHot(scene)
            && (state == .awake || state == .darkWake || isLogical) && !scene.chronicle.isEnding
        guard isHot else {
            // The board may have gone to sleep in the very step in which it was found too hot.
            if nextLook != nil || hasSnapshot { spell += 1 }
            nextLook = nil
            // A sleep that may be a logical one goes on with it.
            isInStep = !self.isHot(scene) || isInStep && (state == .awake || !isVague)
            return
        }
        guard isInStep else {
            nextLook = scene.now + .seconds(10)
            if step.asksNow?.at ?? .max > scene.now + .seconds(10) { violate("nothing is due while it is hot", scene) }
            return
        }
        if scene.now >= nextLook ?? .zero {
            nextLook = scene.now + .seconds(10)
            if !hasSnapshot, let spared = candidates(scene).first(where: { !thawed.contains($0.instance) }) {
                violate("the board is too hot, and \(scene.name(spared.instance)) is not ended", scene)
            }
        }
        if step.asksNow?.at ?? .max > nextLook ?? .max { violate("nothing is due while it is hot", scene) }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.heat, message) }
}
