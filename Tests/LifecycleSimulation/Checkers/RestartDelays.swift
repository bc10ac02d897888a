internal import Lifecycle

/// The delays before restarts: the first is the policy's, each doubles the one before up to the policy's longest, and
/// after a stable uptime it is the first again. Each begins with the end of the app; where a launch was wished then and
/// is denied later, what is left of it is said.
struct RestartDelays {
    private struct Start {
        let instance: InstanceID
        let reading: Nanoseconds
        let slack: Nanoseconds
    }

    private struct End {
        let app: AppID
        let at: Nanoseconds
        let step: Int
        /// It had surely been up for long.
        let isStable: Bool
        /// It is not tried again at once.
        let isLaunchFailure: Bool
    }

    private struct Next {
        let app: AppID
        /// nil: it cannot be told.
        let delay: Nanoseconds?
    }

    private var starts: [Start] = []
    private var nexts: [Next] = []
    /// The last of each app.
    private var ends: [End] = []

    mutating func hear(_ event: Event, _ scene: Scene) {
        guard case .process(.spawned(let instance)) = event, !starts.contains(where: { $0.instance == instance }) else {
            return
        }
        let reading = scene.times.reading(instance, scene) ?? scene.now
        starts.append(Start(instance: instance, reading: reading, slack: scene.times.slack(instance)))
    }

    /// What is wrong with a delay.
    mutating func see(_ effect: Effect, _ scene: Scene) -> String? {
        switch effect {
        case .report(let end):
            let isStable = isStable(end, scene)
            ends.removeAll { $0.app == end.app }
            ends.append(
                End(
                    app: end.app, at: scene.now, step: scene.step.number, isStable: isStable,
                    isLaunchFailure: end.reason.namespace == .launchFailure))
            starts.removeAll { $0.instance == end.instance }
            // A launch is wished. Should that be denied when the delay is over, nothing is said of it.
            let says = scene.step.effects.contains {
                if case .note(.app(.restartScheduled(end.app, _))) = $0 { true } else { false }
            }
            if !says, scene.board.core.view(of: end.app)?.restartPending == true {
                nexts.removeAll { $0.app == end.app }
                nexts.append(Next(app: end.app, delay: nil))
            }
        case .note(.app(.restartScheduled(let app, let delay))): return judge(app, delay, scene)
        default: break
        }
        return nil
    }

    func wasStable(in step: Step) -> AppID? {
        ends.last.flatMap { $0.step == step.number && $0.isStable ? $0.app : nil }
    }

    private func isStable(_ end: Termination, _ scene: Scene) -> Bool {
        guard let start = starts.first(where: { $0.instance == end.instance }),
            let entry = scene.board.directory.entry(end.app),
            let reading = scene.times.reading(end.instance, scene),
            // What it was frozen for is known when it is thawed.
            scene.chronicle.record(end.instance)?.isFreezeAsked == false
        else { return false }
        let sure = reading - start.reading - (scene.times.slack(end.instance) - start.slack)
        return sure >= max(entry.policy.restartReset, entry.former.restartReset)
    }

    /// rest: what is left of the delay.
    private mutating func judge(_ app: AppID, _ rest: Nanoseconds, _ scene: Scene) -> String? {
        guard let entry = scene.board.directory.entry(app), let end = ends.first(where: { $0.app == app }) else {
            return nil
        }
        let known = nexts.first { $0.app == app }
        let isKnown = rest > .zero || end.step == scene.step.number
        let delay = rest + (scene.now - end.at)
        let longest = max(entry.policy.restartDelayMax, entry.former.restartDelayMax, delay)
        nexts.removeAll { $0.app == app }
        nexts.append(Next(app: app, delay: isKnown ? delay.doubled(upTo: longest) : nil))
        guard isKnown else { return nil }
        let floor = end.isLaunchFailure ? Nanoseconds.milliseconds(100) : .zero
        let least = max(floor, min(entry.policy.restartDelay, entry.former.restartDelay))
        if delay < least { return "\(scene.name(app)) waits for its restart for less than \(least.text)" }
        if let known, known.delay == nil, !end.isStable { return nil }
        let doubled = end.isStable ? nil : known?.delay
        let most = max(doubled ?? .zero, entry.policy.restartDelay, entry.former.restartDelay, floor)
        return delay > most ? "\(scene.name(app)) waits \(delay.text) for its restart, and \(most.text) are due" : nil
    }
}
