internal import Lifecycle

/// The last of the battery: critical for 5 s without external power, every app is ended, and then the board is switched
/// off; asked for again every 30 s. External power before that brings every app back (the phase checker's matter).
final class PowerOffChecker: Checker {
    static let sees: [EffectKind]? = [
        .endNotice, .sleepNotice, .powerOff, .reportStuck, .report,
    ]

    /// Since when the battery has been critical without a break and without a sleep of the kernel's: what is sure of
    /// the latter, and what may be.
    private var since: Nanoseconds?
    private var latest: Nanoseconds?
    /// It has begun, and the battery has fallen silent since.
    private var isUnconfirmed = false
    private var isEnding = false
    private var wasEnding = false
    private var isAnnounced = false
    private var askedAt: Nanoseconds?
    private var named: [InstanceID] = []
    private var story = SleepStory()
    /// For sure: nothing but an operator or a condition began the present sleep, and nothing has joined it.
    private var isLogical = false
    /// For sure: the kernel is about to sleep, or does.
    private var isReal = false
    /// In this step.
    private var hasBegun = false

    func heard(_ event: Event, _ scene: Scene) {
        story.hear()
        hasBegun = false
        if scene.announcesRealSleep { isLogical = false }
        // What has begun goes on when the battery falls silent: that is no better word.
        let isLasting =
            isEnding && scene.conditions.isBatterySilent
            && scene.conditions.policy.responses[.batteryCritical] == .powerOff
        // The first word after a silence is confirmed anew.
        if isWanted(scene), isUnconfirmed { (since, latest) = (scene.now, scene.now) }
        isUnconfirmed = isLasting && !isWanted(scene)
        since = isWanted(scene) || isLasting ? since ?? scene.now : nil
        latest = since == nil ? nil : latest ?? scene.now
        switch event {
        case .login(.prepareForShutdown(let edge, _, _)), .login(.available(_, _, let edge)):
            isAnnounced = edge
            if edge { askedAt = nil }
        case .process(.groupEmptied(let instance)): named.removeAll { $0 == instance }
        default: break
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        story.see(effect, scene)
        switch effect {
        case .note(.sleep(.preparing)):
            isReal = scene.announcesRealSleep
            if story.former != .dark { isLogical = !scene.saysRealSleep }
        case .note(.shutdown(.criticalBattery)):
            if since.map({ scene.now - $0 < .seconds(5) }) ?? true { violate("it is not confirmed", scene) }
            if scene.chronicle.isEnding { violate("the board is about to be off already", scene) }
            if isReal, story.stage == .preparing || story.stage == .asleep { violate("the board is asleep", scene) }
            hasBegun = true
            isEnding = true
            wasEnding = true
            askedAt = nil
        case .note(.shutdown(.preparing(let allowance))):
            if hasBegun, allowance != scene.conditions.policy.sleepAllowanceMax {
                violate("the apps are given \(allowance?.text ?? "no limit")", scene)
            }
        case .note(.shutdown(.cancelled)):
            if isEnding, since != nil, !isAnnouncementOver(scene) { violate("it is called off for nothing", scene) }
            isEnding = false
            // Only what is known to be critical begins it anew.
            if !isWanted(scene) { (since, latest) = (nil, nil) }
        case .login(.powerOff): judgeOff(scene)
        case .process(.reportStuck(let instance, .unkillable)), .process(.reportStuck(let instance, .unstarted)):
            named.append(instance)
        case .report(let end):
            if end.reason.namespace == .lowBattery, !wasEnding { violate("\(scene.name(end.app)) ended for it", scene) }
        default: break
        }
    }

    private func isWanted(_ scene: Scene) -> Bool {
        scene.conditions.isBatteryCritical && scene.conditions.policy.responses[.batteryCritical] == .powerOff
    }

    private func isAnnouncementOver(_ scene: Scene) -> Bool {
        switch scene.step.event {
        case .login(.prepareForShutdown(false, _, _)), .login(.available(_, _, false)): true
        default: false
        }
    }

    private func judgeOff(_ scene: Scene) {
        if !isEnding || since == nil { violate("the board is switched off for nothing", scene) }
        if isAnnounced { violate("it is asked for though it is announced", scene) }
        if let askedAt, scene.now - askedAt < .seconds(30) { violate("it is asked for again too soon", scene) }
        if let record = scene.chronicle.records.first(where: { !$0.isGone && !isBeyondKilling($0) }) {
            violate("the board is switched off, and \(scene.name(record.instance)) runs", scene)
        }
        askedAt = scene.now
    }

    /// Its time is over, and it was named.
    private func isBeyondKilling(_ record: InstanceRecord) -> Bool {
        named.contains(record.instance) && (record.isKillAsked || record.status != nil || !record.isSpawned)
    }

    func stepped(_ step: Step, _ scene: Scene) {
        if since == nil { isEnding = false }
        if since == nil, scene.chronicle.isOutOfPower, !scene.chronicle.isShuttingDown, !scene.chronicle.isStopping {
            violate("it is over, and the end of all apps is not called off", scene)
        }
        if isEnding, !isAnnounced, !scene.chronicle.isEnding { violate("it has been forgotten", scene) }
        let isAwake = scene.board.core.device.sleepState == .awake || story.stage != .awake && isLogical
        if let latest, isAwake, !scene.chronicle.isEnding {
            if scene.now >= latest + .seconds(5) { violate("the apps are not ended for it", scene) }
            if step.asksNow?.at ?? .max > latest + .seconds(5) { violate("nothing is due for it", scene) }
        }
        confirmAnew(scene)
        // A daemon that leaves does not look after it any more.
        guard isEnding, !isAnnounced, !scene.chronicle.isStopping, scene.chronicle.records.allSatisfy(\.isGone)
        else { return }
        guard let askedAt else { return violate("no app runs, and the board is not switched off", scene) }
        if scene.now >= askedAt + .seconds(30) { violate("it is not asked for again", scene) }
        if step.asksNow?.at ?? .max > askedAt + .seconds(30) { violate("it will not be asked for again", scene) }
    }

    /// The board may be charged in its sleep.
    private func confirmAnew(_ scene: Scene) {
        if isEnding { return }
        switch scene.board.core.device.sleepState {
        case .awake, .darkWake: return
        case .preparing, .asleep:
            if !isLogical { latest = nil }
            if isReal { since = nil }
        }
    }

    private func violate(_ message: String, _ scene: Scene) {
        scene.inspection.violate(.powerOff, "a critical battery: \(message)")
    }
}
