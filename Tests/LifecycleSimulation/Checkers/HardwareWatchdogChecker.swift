internal import Lifecycle

/// The board's watchdog is fed in every third of its timeout, once, as long as no essential app is lost; not when one
/// is. It is laid to rest before the lock of a real sleep is released, and woken after it. One that was lost is tried
/// again after a second, and twice as long each time, up to ten minutes.
///
/// An essential app is lost when nothing will start it again after an end by its own fault, or when it cannot be
/// killed. While the board shuts down none is.
final class HardwareWatchdogChecker: Checker {
    static let sees: [EffectKind]? = [
        .feedHardwareWatchdog, .restHardwareWatchdog, .wakeHardwareWatchdog, .retryHardwareWatchdog, .sleepNotice,
        .endNotice, .releaseLock, .reportStuck, .report, .spawn, .appNotice,
    ]

    /// nil: there is none.
    private var third: Nanoseconds?
    private var timeout = Nanoseconds.zero
    private var fedAt = Nanoseconds.zero
    private var isResting = false
    private var retryDue: Nanoseconds?
    private var retryDelay = Nanoseconds.seconds(1)
    /// nil: it cannot be told.
    private var isLost: Bool? = false
    /// It was not fed because one was lost: the next time is at once.
    private var hasStarved = false
    private var configured: [AppID] = []
    private var ends: [(app: AppID, isFailure: Bool)] = []
    /// An operator has ended them, whatever else did.
    private var dismissed: [AppID] = []
    private var named: [InstanceID] = []
    /// Named as a sleep was released: that it was not waited for does not mean that it is beyond killing.
    private var vague: [InstanceID] = []
    /// Of this sleep something else than operators and conditions has said that it is real.
    private var isReal = false
    /// That one is lost, since it was fed last.
    private var isLossSaid = false
    // In this step.
    private var isLossNew = false
    private var hasFed = false
    private var wasResting = false
    private var hasWoken = false
    private var mustWake = false
    private var wasThere = false
    private var namedNow: [InstanceID] = []
    private var hasReleased = false

    func heard(_ event: Event, _ scene: Scene) {
        hasFed = false
        isLossNew = false
        hasWoken = false
        mustWake = false
        wasResting = isResting
        wasThere = third != nil
        namedNow = []
        hasReleased = false
        switch event {
        case .watchdog(.hardware(let timeout)):
            third = timeout.map { max($0, .milliseconds(300)) / 3 }
            self.timeout = max(timeout ?? .zero, .milliseconds(300))
            isLossSaid = false
            fedAt = scene.now
            hasStarved = false
            retryDue = nil
            retryDelay = .seconds(1)
        case .watchdog(.lost):
            third = nil
            isLossSaid = false
            if retryDue == nil { planRetry(scene) }
        // Who comes back to the configuration has no past.
        case .configured:
            let present = scene.board.directory.entries.filter(\.isConfigured).map(\.id)
            ends.removeAll { !configured.contains($0.app) && present.contains($0.app) }
            for record in scene.chronicle.records
            where !configured.contains(record.app) && present.contains(record.app)
                && scene.board.directory.entry(record.app)?.policy.launch != .boot
            {
                // It is not meant to run, until an operator says so.
                if named.contains(record.instance) { vague.append(record.instance) }
                named.removeAll { $0 == record.instance }
                if !record.isGone { dismissed.append(record.app) }
            }
            configured = present
            forgetPutBack(scene)
        case .client(.requested(_, .terminate(let app, _))):
            dismissed.append(app)
            ends.removeAll { $0.app == app }
        case .process(.exited(let instance, _)), .process(.groupEmptied(let instance)):
            named.removeAll { $0 == instance }
            vague.removeAll { $0 == instance }
        default: break
        }
        if scene.announcesRealSleep { isReal = true }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .watchdog(.feed): fed(scene)
        case .watchdog(.rest):
            if isResting { violate("it is laid to rest twice", scene) }
            if third == nil { violate("it is laid to rest, and not there", scene) }
            if !isReal { violate("it is laid to rest, and the board goes on", scene) }
            isResting = true
        case .watchdog(.wake):
            isResting = false
            hasWoken = true
        case .watchdog(.retry):
            if retryDue ?? .max > scene.now { violate("it is tried again too early, or was not lost", scene) }
            if isReal, scene.board.core.device.sleepState == .asleep { violate("it is tried in the sleep", scene) }
            planRetry(scene)
        case .note(.sleep(.preparing)): isReal = scene.saysRealSleep
        // One that came too late is given back.
        case .login(.releaseLock(.sleep)) where scene.step.event == .login(.lockTaken(.sleep)): break
        case .login(.releaseLock(.sleep)):
            hasReleased = true
            if third != nil, !isResting { violate("the board sleeps without its rest", scene) }
        case .note(.sleep(.released)):
            hasReleased = true
            if isReal, third != nil, !isResting { violate("the board sleeps without its rest", scene) }
        case .note(.sleep(.ended)), .note(.sleep(.darkWake)):
            isReal = false
            mustWake = isResting
        case .note(.sleep(.unannounced)): mustWake = wasThere || isResting
        case .note(.app(.essentialAppLost(_, let reset))):
            if isLossSaid { violate("that an essential app is lost is said again", scene) }
            if reset != max(fedAt + timeout - scene.now, .zero) { violate("it resets in another time", scene) }
            isLossSaid = true
            isLossNew = true
        case .process(.reportStuck(let instance, .unkillable)), .process(.reportStuck(let instance, .unstarted)):
            namedNow.append(instance)
        // Nor that a shutdown did not.
        case .note(.shutdown(.cancelled)):
            vague += named
            named = []
        case .report(let end):
            ends.removeAll { $0.app == end.app }
            if !dismissed.contains(end.app) { ends.append((end.app, end.reason.isFailure)) }
        case .process(.spawn(let app, _, _, _)): dismissed.removeAll { $0 == app }
        default: break
        }
    }

    /// An app that has ended, and that is not started at boot any more, is not meant to run.
    private func forgetPutBack(_ scene: Scene) {
        ends.removeAll { end in
            guard let entry = scene.board.directory.entry(end.app) else { return true }
            let records = scene.chronicle.records.filter { $0.app == end.app && !$0.isGone }
            guard entry.former.launch == .boot, entry.policy.launch != .boot, records.allSatisfy(\.isReported) else {
                return false
            }
            named.removeAll { instance in records.contains { $0.instance == instance } }
            vague += records.map(\.instance)
            return true
        }
    }

    private func planRetry(_ scene: Scene) {
        retryDue = scene.now + retryDelay
        retryDelay = min(retryDelay + retryDelay, .seconds(600))
    }

    private func fed(_ scene: Scene) {
        guard let third else { return violate("it is fed and is not there", scene) }
        if hasFed { violate("it is fed twice", scene) }
        if !hasStarved, scene.now - fedAt < third {
            violate("it is fed again after \((scene.now - fedAt).text)", scene)
        }
        hasFed = true
        isLossSaid = false
        hasStarved = false
        fedAt = scene.now
    }

    private func findLost(_ scene: Scene) -> Bool? {
        if scene.chronicle.isEnding { return false }
        let entries = scene.board.directory.entries
        // An operator has ended it, perhaps before it was there to be ended.
        let isDismissed = scene.chronicle.records.contains { record in
            named.contains(record.instance) && dismissed.contains(record.app)
        }
        if isDismissed { return nil }
        let isVague =
            !vague.isEmpty
            && entries.contains { entry in
                guard entry.isConfigured, entry.policy.isEssential else { return false }
                return scene.chronicle.records.contains { $0.app == entry.id && vague.contains($0.instance) }
            }
        if isVague { return nil }
        return entries.contains { entry in
            guard entry.isConfigured, entry.policy.isEssential else { return false }
            let record = scene.chronicle.records.last { $0.app == entry.id && !$0.isGone }
            if let record, !named.contains(record.instance) { return false }
            guard let view = scene.board.core.view(of: entry.id) else { return false }
            // What it left behind is given up once it was named.
            if let record, record.status == nil { return record.isKillAsked }
            if view.instance != nil || view.restartPending { return false }
            return ends.contains { $0.app == entry.id && ($0.isFailure || view.isLeftDown) }
        }
    }

    func stepped(_ step: Step, _ scene: Scene) {
        if hasReleased {
            vague += namedNow
        } else {
            named += namedNow
            vague.removeAll { namedNow.contains($0) }
        }
        let wasLost = isLost
        isLost = findLost(scene)
        if mustWake, third != nil || wasResting, !hasWoken { violate("it is not woken after the sleep", scene) }
        if hasWoken, isReal, !isResting, third != nil, scene.board.core.device.sleepState == .asleep {
            violate("it is woken in the sleep", scene)
        }
        if let retryDue, scene.board.core.device.sleepState == .awake {
            if retryDue <= scene.now { violate("it was lost, and is not tried again", scene) }
            if step.asksNow?.at ?? .max > retryDue { violate("nothing is due when it is to be tried again", scene) }
        }
        guard let third else { return }
        if hasFed, isLost == true, wasLost == true { violate("it is fed, and an essential app is lost", scene) }
        if isLost == true, wasLost == true, !isLossSaid, scene.now >= fedAt + third {
            violate("that an essential app is lost is not said", scene)
        }
        if isLossNew, isLost == false, wasLost == false { violate("no essential app is lost", scene) }
        if isLost != false || wasLost != false {
            if scene.now >= fedAt + third { hasStarved = true }
            return
        }
        if scene.now >= fedAt + third { violate("it is not fed after \((scene.now - fedAt).text)", scene) }
        if step.asksNow?.at ?? .max > fedAt + third { violate("nothing is due when it has to be fed", scene) }
    }

    private func violate(_ message: String, _ scene: Scene) {
        scene.inspection.violate(.hardwareWatchdog, "the watchdog: \(message)")
    }
}
