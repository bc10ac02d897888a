internal import Lifecycle

/// What is answered at once, and what follows from it at once.
///
/// - A start or the front is denied while a sleep is prepared or lasts, and in a shutdown; a sleep in a shutdown.
/// - What does not run, and is not about to, is "not running"; what runs is not.
/// - The start of a sleep begins one. The end of a logical one, or the hook's of its own, ends it; but no operator ends
///   one that logind has begun before the kernel has slept.
final class AnswerChecker: Checker {
    static let hears: [EventKind]? = [
        .requested, .prepareForSleep, .loginAvailable, .loginUnavailable, .lockTaken, .lockRefused, .configured,
    ]
    static let sees: [EffectKind]? = [.sleepNotice, .releaseLock, .endNotice]

    private var story = SleepStory()
    private var sleep = 0
    private var holdsLock = false
    private var heldBefore = false
    /// By its signal, since the present sleep began.
    private var isLogins = false
    private var wasLogins = false
    private var isLoginThere = false
    private var hasChanged = false
    // In this step.
    private var isHeard = false

    func heard(_ event: Event, _ scene: Scene) {
        begin(scene)
        switch event {
        case .login(.lockTaken(.sleep)): holdsLock = true
        case .login(.available): (holdsLock, isLoginThere) = (false, true)
        case .login(.unavailable): (holdsLock, isLoginThere) = (false, false)
        case .login(.prepareForSleep(true, _, _)): isLogins = true
        case .login(.prepareForSleep(false, _, _)): isLogins = false
        default: break
        }
    }

    private func begin(_ scene: Scene) {
        guard !isHeard else { return }
        isHeard = true
        story.hear(scene.step.event, scene)
        heldBefore = holdsLock
        wasLogins = isLogins
        hasChanged = false
    }

    func did(_ effect: Effect, _ scene: Scene) {
        begin(scene)
        story.see(effect, scene)
        switch effect {
        case .login(.releaseLock(.sleep)): holdsLock = false
        case .note(.sleep(.preparing(let id, _))):
            sleep = id
            if case .login(.prepareForSleep(true, _, _)) = scene.step.event { return }
            isLogins = false
        case .note(.sleep(.ended)): isLogins = false
        case .note(.shutdown(.criticalBattery)), .note(.shutdown(.preparing)), .note(.shutdown(.cancelled)):
            hasChanged = true
        default: break
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        defer { isHeard = false }
        guard case .client(.requested(let id, let request)) = step.event, !hasChanged else { return }
        var outcome: RequestOutcome?
        for case .client(.reply(id, let answer)) in step.effects { outcome = answer }
        switch request {
        case .launch(let app, _): judgeStart(app, isActivation: false, outcome, scene)
        case .activate(let app): judgeStart(app, isActivation: true, outcome, scene)
        case .background(let app), .terminate(let app, _): judgeRunning(app, outcome, scene)
        case .sleep(start: true, _, _): judgeSleep(outcome, scene)
        case .sleep(start: false, let logical, let about): judgeWake(logical, about, outcome, scene)
        case .beginBackgroundTask, .endBackgroundTask, .adopt, .warnOfMemory, .setLowPower: break
        }
    }

    private var isSteady: Bool {
        !story.hasBegun && !story.hasEnded && !story.hasDarkened && story.stage == story.former
    }

    private func isDenied(_ outcome: RequestOutcome?) -> Bool {
        outcome?.denial != nil
    }

    private func remains(_ app: AppID, _ scene: Scene) -> Bool {
        scene.chronicle.records.contains { $0.app == app && !$0.isGone }
    }

    private func judgeStart(_ app: AppID, isActivation: Bool, _ outcome: RequestOutcome?, _ scene: Scene) {
        if isDenied(outcome) { return }
        let name = scene.name(app)
        guard let entry = scene.board.directory.entry(app), entry.isConfigured || entry.isAdopted else {
            return violate("\(name) is not configured, and may start", scene)
        }
        if isActivation, entry.isAdopted { violate("\(name) may come to the front, and is a task", scene) }
        guard isActivation || !remains(app, scene) else { return }
        if scene.chronicle.isEnding { violate("\(name) may start in a shutdown", scene) }
        if isSteady, story.stage == .preparing || story.stage == .asleep {
            violate("\(name) may start in a sleep", scene)
        }
    }

    private func judgeRunning(_ app: AppID, _ outcome: RequestOutcome?, _ scene: Scene) {
        let name = scene.name(app)
        if outcome == .app(.notRunning) {
            let isUp = scene.chronicle.records.contains { $0.app == app && $0.isSpawned && scene.isWell($0) }
            if isUp { violate("\(name) runs, and is said not to", scene) }
        } else if !isDenied(outcome), !remains(app, scene), case .some(.background) = scene.step.request,
            scene.board.core.view(of: app)?.restartPending == false
        {
            violate("\(name) does not run, and that is not said", scene)
        }
    }

    private func judgeSleep(_ outcome: RequestOutcome?, _ scene: Scene) {
        if scene.chronicle.isEnding {
            if !isDenied(outcome) { violate("a sleep may begin in a shutdown", scene) }
            return
        }
        if isDenied(outcome) { return violate("a sleep is denied", scene) }
        if story.stage == .awake, !story.hasEnded { violate("a sleep is to begin, and does not", scene) }
        if story.stage == .dark, isSteady { violate("a dark wake goes on though a sleep is to begin", scene) }
        if story.stage == .preparing, outcome != nil {
            violate("a sleep is ready, and is still prepared", scene)
        }
        if story.stage == .asleep, outcome == nil { violate("a sleep is ready, and that is not said", scene) }
    }

    private func judgeWake(_ logical: Bool, _ about: Int?, _ outcome: RequestOutcome?, _ scene: Scene) {
        guard let outcome else { return violate("the end of a sleep is not answered", scene) }
        let mustDeny = story.former == .preparing && wasLogins && heldBefore
        if isDenied(outcome) {
            let isAboutToSleep = story.former == .asleep && logical && scene.freezing.isYetToCome
            if story.former != .preparing, !isAboutToSleep { violate("the end of a sleep is denied", scene) }
            if story.hasEnded, mustDeny { violate("the end of a sleep is denied, and it ends", scene) }
            return
        }
        if story.former == .asleep, wasLogins, isLoginThere, logical, scene.freezing.isYetToCome,
            !scene.sleep.isDoubtful
        {
            return violate("the board is about to sleep, and an operator may end it", scene)
        }
        // The clocks and the limits have their say first.
        guard story.former == story.stage || !story.hasBegun else { return }
        let hasSlept = scene.board.truth.lastSleep.map { $0.ended >= story.announced.boottime } ?? false
        if mustDeny, !hasSlept {
            return violate("logind prepares a sleep, and an operator may end it", scene)
        }
        let isMeant = logical || about == sleep
        guard isMeant, isSteady, story.stage == .preparing || story.stage == .asleep || logical && story.stage == .dark
        else { return }
        violate("sleep \(sleep) is to end, and goes on", scene)
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.answers, message) }
}

extension Step {
    fileprivate var request: ClientRequest? {
        if case .client(.requested(_, let request)) = event { request } else { nil }
    }
}
