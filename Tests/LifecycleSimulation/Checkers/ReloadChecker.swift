internal import Lifecycle

/// What a reload of the configuration does, and does not.
///
/// - Every app that is in it can be seen from then on, and no other one but those that were taken over.
/// - An app that is gone from it is ended, and not launched again. At boot only those are launched that are meant to.
/// - The alarm of a sleep goes with the policy that it was set by, and not otherwise.
final class ReloadChecker: Checker {
    static let hears: [EventKind]? = [.configured, .stopping]
    static let sees: [EffectKind]? = [.spawn, .setWakeAlarm, .sleepNotice]

    /// Apps that any configuration so far has had started at boot.
    private var bootable: [AppID] = []
    /// They have said that they end.
    private var stopping: [InstanceID] = []
    private var story = SleepStory()
    private var alarm: Nanoseconds?
    /// Something else than operators and conditions has said that the present sleep is one of the board's.
    private var isReal = false
    // In this step.
    private var alarmBefore: Nanoseconds?
    private var isConfigured = false

    func heard(_ event: Event, _ scene: Scene) {
        if case .app(.stopping(let instance)) = event { stopping.append(instance) }
        guard case .configured(let policies, _) = event else { return }
        isConfigured = true
        alarmBefore = alarm
        for policy in policies {
            guard let id = scene.board.core.id(of: policy.name), scene.board.core.view(of: id)?.name == policy.name
            else {
                violate("\(policy.name) is in the configuration, and not there", scene)
                continue
            }
            if policy.launch == .boot, !bootable.contains(id) { bootable.append(id) }
        }
        for entry in scene.board.directory.entries where !entry.isConfigured && !entry.isAdopted {
            if scene.board.core.view(of: entry.id) == nil { continue }
            violate("\(scene.name(entry.id)) is not in the configuration any more, and still there", scene)
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        story.see(effect, scene)
        switch effect {
        case .note(.sleep(.preparing)): isReal = scene.announcesRealSleep
        case .sleep(.setWakeAlarm(let moment)): alarm = moment
        case .process(.spawn(let app, _, let reason, _)):
            guard let entry = scene.board.directory.entry(app) else { return }
            if !entry.isConfigured, !entry.isAdopted { violate("\(scene.name(app)) is gone, and launched", scene) }
            if reason == .boot, !bootable.contains(app) { violate("\(scene.name(app)) is not for the boot", scene) }
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        if step.event.saysRealSleep, scene.announcesRealSleep { isReal = true }
        guard isConfigured else { return story.hear() }
        isConfigured = false
        judgeAlarm(scene)
        story.hear()
        for record in scene.chronicle.records
        where record.isSpawned && record.isAlive && !record.isKillAsked
            && scene.board.directory.entry(record.app)?.isAdopted == true
            && scene.board.core.view(of: record.app) == nil
        {
            violate("\(scene.name(record.instance)) was taken over, and goes with a reload", scene)
        }
        for record in scene.chronicle.records
        where record.isSpawned && record.isAlive && record.call == nil && !record.isKillAsked
            && !record.isTerminateAsked && !stopping.contains(record.instance)
        {
            guard let entry = scene.board.directory.entry(record.app), !entry.isConfigured, !entry.isAdopted else {
                continue
            }
            violate("\(scene.name(record.instance)) is gone from the configuration, and is not ended", scene)
        }
    }

    private func judgeAlarm(_ scene: Scene) {
        let policy = scene.conditions.policy
        // The clocks come first: it may be past.
        guard let alarmBefore, alarmBefore > scene.step.at.boottime, story.former == .asleep, story.stage == .asleep
        else { return }
        let mayWake = policy.darkWakeInterval != nil && !scene.conditions.forbidsDarkWake
        if alarm == nil, mayWake, isReal || policy.wakeSources.contains(.clock) {
            violate("a reload takes the alarm of a sleep", scene)
        }
        if alarm != nil, !mayWake || story.isLogical && !isReal && !policy.wakeSources.contains(.clock) {
            violate("the alarm of a sleep outlives what it was set for", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.reloads, message) }
}
