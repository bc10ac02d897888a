internal import Lifecycle

/// Each handler is given its own allowance; on the way to sleep what is left, if that is less, and never less than
/// that. An app that was ended at a sleep for a handler has half of it at the next, and so on down to 500 ms, until it
/// has gone to background.
final class AllowanceChecker: Checker {
    static let hears: [EventKind]? = [
        .prepareForSleep, .lockTaken, .requested, .preparingForSleep, .loginAvailable, .handlerReturned,
    ]
    static let sees: [EffectKind]? = [.spawn, .call, .sleepNotice, .appNotice]

    private var story = SleepStory()
    private var allowance = Nanoseconds.zero
    /// MONOTONIC: when the allowance is over; nil: a second word may have set another limit.
    private var end: Nanoseconds?
    /// At so many sleeps, up to four.
    private var overruns: [AppID: Int] = [:]
    /// Whose last handler's command did not get to run.
    private var unstarted: Set<AppID> = []
    private var calls: [InstanceID: CallID] = [:]

    func heard(_ event: Event, _ scene: Scene) {
        if case .app(.handlerReturned(let instance, let call)) = event {
            guard calls[instance] == call, let app = scene.board.directory.app(of: instance) else { return }
            unstarted.remove(app)
        } else if story.stage == .preparing {
            end = nil
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        story.see(effect, scene)
        switch effect {
        case .note(.sleep(.preparing(_, let allowance))):
            self.allowance = allowance
            var began = scene.now
            if case .login(.prepareForSleep(_, _, let signalled)) = scene.step.event { began = min(signalled, began) }
            end = began + allowance
            if case .login(.preparingForSleep) = scene.step.event { end = nil }
        case .note(.app(.overrun(let app, _, let reason))):
            guard story.stage == .preparing else { return }
            switch reason {
            case .handlerOverrun, .readinessMissed: overruns[app] = min((overruns[app] ?? 0) + 1, 4)
            default: break
            }
        case .note(.app(.handlerNotStarted(let app, _))):
            unstarted.insert(app)
            if story.stage == .preparing { overruns[app] = min((overruns[app] ?? 0) + 1, 4) }
        case .note(.app(.phaseChanged(let app, .background))): if !unstarted.contains(app) { overruns[app] = nil }
        case .process(.spawn(let app, _, _, _)): unstarted.remove(app)
        case .app(.call(let instance, let id, let call, let deadline)):
            calls[instance] = id
            judge(call, deadline, instance, scene)
        default: break
        }
    }

    private func judge(_ call: HandlerCall, _ deadline: Nanoseconds, _ instance: InstanceID, _ scene: Scene) {
        guard let app = scene.board.directory.app(of: instance), let entry = scene.board.directory.entry(app) else {
            return
        }
        let own = [entry.policy.allowances[call.handler], entry.former.allowances[call.handler]]
        let name = "\(call.handler.method) of \(scene.name(instance))"
        switch call {
        // Its time is what is left of a budget, or of a shutdown.
        case .backgroundTaskWillExpire: return
        case .willTerminate: if scene.chronicle.isEnding { return }
        case .willResignActive, .didEnterBackground:
            guard story.stage == .preparing, overruns[app] != nil || !own.contains(deadline) else { break }
            guard deadline <= max(own[0], own[1]) else { break }
            guard let end else { return }
            var least = end - scene.now
            if call == .willResignActive { least = min(least, allowance / 2) }
            least = min(least, min(own[0], own[1]))
            if let times = overruns[app] {
                least = max(least / Int64(1 << times), min(least, .milliseconds(500)))
                let most = max(min(allowance, max(own[0], own[1])) / Int64(1 << times), .milliseconds(500))
                if deadline > most { violate("\(name) is given \(deadline.text), and has overrun before", scene) }
            }
            if deadline < least { violate("\(name) is given \(deadline.text), and \(least.text) are left", scene) }
            if call == .didEnterBackground, deadline > end - scene.now {
                violate("\(name) is given \(deadline.text), and \((end - scene.now).text) are left", scene)
            }
            return
        case .didFinishLaunching, .didBecomeActive, .willEnterForeground: break
        }
        if !own.contains(deadline) { violate("\(name) is given \(deadline.text), not \(own[0].text)", scene) }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.allowances, message) }
}
