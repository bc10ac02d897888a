internal import Lifecycle

/// What the core has been told of sleep, as a checker reads the specification: whether it must be in a sleep now.
///
/// Between what certainly begins a sleep and what may end one, there is no excuse. After anything that may end one
/// nothing is claimed until the next beginning.
final class SleepKnowledge {
    private(set) var isCertain = false
    /// As `isCertain`, but an older sleep may end in this very step, before the event at hand begins one.
    var isBinding: Bool { isCertain && !mayHaveEnded }
    private var mayHaveEnded = false
    /// Only edges of a logical sleep have been heard: nothing but an edge ends it.
    private(set) var isLogical = false
    /// Our alarm has woken the board: the sleep goes on for all but background tasks.
    private(set) var isDark = false
    /// Only a property tells of the sleep, and no lock was granted before it: it may be over, and no app is frozen
    /// for it.
    private(set) var isDoubtful = false
    private var holdsLock = false
    private var noted: Nanoseconds?
    /// In this step logind speaks of a sleep of which a predecessor left a note, and which is over.
    private(set) var isOver = false
    private var isSurelyAwake = true
    /// The last `true` edge, or the release: 30 s later a sleep may end for lack of any other sign.
    private var lastSign: Nanoseconds?
    private var asleepBefore: Nanoseconds?

    func hear(_ event: Event, _ scene: Scene) {
        let asleep = scene.step.at.boottime - scene.step.at.monotonic
        let hasSlept = asleepBefore.map { asleep > $0 } ?? false
        asleepBefore = asleep
        let isOverdue = lastSign.map { scene.now - $0 >= .seconds(30) } ?? false
        mayHaveEnded = !isLogical && (hasSlept || isOverdue)
        if mayHaveEnded { isCertain = false }
        isOver = false
        hearDark(event, scene)
        hearDoubt(event, scene)
        // In the step in which it was announced, too.
        defer { hearEnd(scene) }
        switch event {
        case .login(.prepareForSleep(let start, _, _)): edge(start, fromLogin: true, scene)
        // Whether it is a new sleep or one that has just ended cannot be told.
        case .login(.preparingForSleep(true)):
            isSurelyAwake = false
            isLogical = false
        // logind does one thing at a time: its sleep is over.
        case .login(.prepareForShutdown(true, _, _)): if !isLogical { isCertain = false }
        case .login(.preparingForSleep(_)): if !isLogical { isCertain = false }
        case .login(.available(_, let sleeping, _)):
            isOver = sleeping && noted.map { asleep - $0 > .milliseconds(500) } ?? false
            noted = nil
            if !isOver, sleeping || !isLogical { edge(sleeping, scene) }
        // A predecessor was told of it: what the board has slept since is that sleep.
        case .sleep(.noted(let before)): noted = before
        case .client(.requested(let id, .sleep(let start, let logical, _))):
            let isDenied = scene.denies(id)
            if !isDenied { edge(start, logical: logical, scene) }
        // A board that sleeps logically is woken by them.
        case .board(.keyPressed), .board(.lid(false)), .board(.power), .board(.network):
            if isLogical || isDark { isCertain = false }
        default: break
        }
    }

    private func edge(_ start: Bool, logical: Bool = false, fromLogin: Bool = false, _ scene: Scene) {
        guard start else {
            // Within logind's own handshake a request does not end anything.
            if fromLogin || isCertain && isLogical { isSurelyAwake = true }
            isCertain = false
            return
        }
        if !logical { (isLogical, isSurelyAwake) = (false, false) }
        // A board that is shutting down is not walked to sleep any more.
        guard !scene.chronicle.isEnding else { return }
        // It may have joined a sleep that is about to end for reasons of its own.
        if logical, !isSurelyAwake, !isCertain { return }
        // In a dark wake it is a new one.
        isLogical = logical && (isSurelyAwake || isDark || isCertain && isLogical)
        isSurelyAwake = false
        if !logical || !isCertain { lastSign = scene.now }
        isCertain = true
    }

    /// A dark wake has begun, or may be made full.
    private func hearDark(_ event: Event, _ scene: Scene) {
        if scene.step.effects.contains(where: { if case .note(.sleep(.darkWake)) = $0 { true } else { false } }) {
            mayHaveEnded = true
            isDark = true
            if !isLogical { isCertain = false }
        }
        guard isDark else { return }
        switch event {
        case .client(.requested(_, .launch)), .client(.requested(_, .activate)), .client(.requested(_, .adopt)),
            .login(.prepareForShutdown(true, _, _)),
            .login(.available(_, _, true)), .stopRequested:
            isCertain = false
        default: break
        }
    }

    /// All apps are to end: a logical sleep that was not reached yet is called off.
    private func hearEnd(_ scene: Scene) {
        guard isLogical else { return }
        if scene.step.beginsEnd { isCertain = false }
    }

    private func hearDoubt(_ event: Event, _ scene: Scene) {
        switch event {
        case .login(.lockTaken(.sleep)): holdsLock = true
        case .login(.available), .login(.unavailable): holdsLock = false
        // A word that is no memory.
        case .login(.prepareForSleep(true, _, _)): isDoubtful = false
        case .client(.requested(let id, .sleep(true, _, _))): if !scene.denies(id) { isDoubtful = false }
        default: break
        }
    }

    func see(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .note(.sleep(.released)): lastSign = scene.now
        case .note(.sleep(.preparing)):
            isDark = false
            isDoubtful =
                switch scene.step.event {
                case .login(.available(_, true, _)): true
                case .login(.preparingForSleep(true)): !holdsLock
                default: false
                }
        // A dark wake that is made full, though logind still spoke of that sleep when it began.
        case .note(.sleep(.ended)):
            if isDark { isCertain = false }
            isDark = false
        case .login(.releaseLock(.sleep)): holdsLock = false
        default: break
        }
    }
}

extension Event {
    /// It announces a sleep of the kernel's, not one of an operator's.
    var saysRealSleep: Bool {
        switch self {
        case .login(.prepareForSleep(true, _, _)), .login(.preparingForSleep(true)), .login(.available(_, true, _)),
            .client(.requested(_, .sleep(true, false, _))):
            true
        default: false
        }
    }
}

extension Scene {
    /// As the event's own, but for the word on a sleep that is known to be over.
    var saysRealSleep: Bool { step.event.saysRealSleep && !sleep.isOver }

    /// The event at hand is taken for the word of a sleep of the kernel's: what is asked for while all apps are to end
    /// is denied.
    var announcesRealSleep: Bool {
        if case .client(.requested) = step.event, chronicle.isEnding { return false }
        return saysRealSleep
    }
}
