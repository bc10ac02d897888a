internal import Lifecycle

/// A sleep that is logical is ended by its wake sources, by an operator, by logind, and by nothing else; and it is
/// ended by them at once. A key and the lid make a dark wake full. No wake source ends a sleep of the kernel.
final class LogicalSleepChecker: Checker {
    static let sees: [EffectKind]? = [.sleepNotice]

    private enum Stage { case awake, preparing, asleep, dark }

    private var stage = Stage.awake
    /// nil: it cannot be told.
    private var isLogical: Bool? = false
    private var isLidClosed = false
    private var isExternal: Bool?
    /// The last word that said something, and that before the event at hand.
    private var lastSupply: Bool?
    private var lastSupplyBefore: Bool?
    /// MONOTONIC: when that was said, and whether so long before that it was not known any more.
    private var suppliedAt = Nanoseconds.zero
    private var wasSilent = false
    private var isNetworkUp = false
    /// The last word on the people at the board, and that before the event at hand.
    private var session: SessionReading?
    private var sessionBefore: SessionReading?
    /// Since the sleep was announced.
    private var isReconfigured = false
    // In this step.
    private var source: WakeSource?
    private var formerStage = Stage.awake
    private var formerlyLogical: Bool? = false
    private var hasEnded = false
    private var isDark = false

    func heard(_ event: Event, _ scene: Scene) {
        if case .configured = event { isReconfigured = true }
        sessionBefore = session
        if case .board(.session(let reading)) = event { session = reading }
        formerStage = stage
        formerlyLogical = isLogical
        hasEnded = false
        isDark = false
        source = self.source(of: event)
        lastSupplyBefore = lastSupply
        if case .board(.power(let reading)) = event, reading.isExternal != nil {
            lastSupply = reading.isExternal
            wasSilent = scene.now - suppliedAt >= .seconds(300)
            suppliedAt = scene.now
        }
        if scene.announcesRealSleep { isLogical = isLogical == true && stage == .asleep ? nil : false }
    }

    private func source(of event: Event) -> WakeSource? {
        switch event {
        case .board(.keyPressed): return .key
        case .board(.lid(let closed)):
            defer { isLidClosed = closed }
            return isLidClosed && !closed ? .lid : nil
        case .board(.power(let reading)):
            defer { isExternal = reading.isExternal }
            return isExternal == false && reading.isExternal == true ? .externalPower : nil
        case .board(.network(let up)):
            defer { isNetworkUp = up }
            return !isNetworkUp && up ? .network : nil
        default: return nil
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .note(.sleep(.preparing)):
            isReconfigured = false
            if stage != .dark { isLogical = !scene.saysRealSleep }
            stage = .preparing
        case .note(.sleep(.released)): stage = .asleep
        case .note(.sleep(.darkWake)):
            isDark = true
            stage = .dark
        case .note(.sleep(.ended)):
            hasEnded = true
            stage = .awake
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        let sources = scene.conditions.policy.wakeSources
        if formerStage == .dark, !isDark, stage == .dark, source == .key || source == .lid {
            violate("a dark wake goes on after a \(source?.key ?? "")", scene)
        }
        guard formerStage == .asleep, let formerlyLogical else { return }
        if formerlyLogical, isDark, !sources.contains(.clock) { violate("the clock does not wake this board", scene) }
        // The clocks have their say first.
        guard !isDark else { return }
        if formerlyLogical, let source, sources.contains(source), stage == .asleep {
            violate("\(source.key) does not end a logical sleep", scene)
        }
        guard hasEnded, formerlyLogical, isLogical == true, !mayEnd(step.event, sources, scene) else { return }
        violate("a logical sleep is ended by \(step.event.text(scene.board.directory))", scene)
    }

    private func isActive(_ session: SessionReading) -> Bool { !session.isIdle || session.users == 0 }

    private func mayEnd(_ event: Event, _ sources: WakeSources, _ scene: Scene) -> Bool {
        // People are back, for want of whom it may have begun; or there are none any more who could be idle.
        if scene.conditions.policy.responses[.idle] == .sleep {
            if isActive(scene.board.surroundings.session) { return true }
            // They may have come and gone again before it was heard.
            for word in [session, sessionBefore].compactMap(\.self) where isActive(word) { return true }
        }
        // Nothing asks for it any more.
        if isReconfigured, !scene.conditions.wantsSleep { return true }
        return switch event {
        case .client(.requested(_, .sleep(false, _, _))), .login(.prepareForSleep(false, _, _)),
            .login(.available(_, false, _)),
            .login(.preparingForSleep):
            true
        case .configured: true
        // It may have been without for longer than it was told.
        case .board(.power(let reading)):
            sources.contains(.externalPower) && reading.isExternal == true && (lastSupplyBefore != true || wasSilent)
        case .board(.keyPressed), .board(.lid), .board(.network): source.map { sources.contains($0) } ?? false
        default: false
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.logicalSleep, message) }
}
