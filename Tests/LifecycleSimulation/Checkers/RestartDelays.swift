internal import Lifecycle

/// The delays before restarts: the first is the policy's, each doubles the one before up to the policy's longest, and
/// after a stable uptime it is the first again.
struct RestartDelays {
    private struct Start {
        let instance: InstanceID
        let reading: Nanoseconds
        let slack: Nanoseconds
    }

    private struct Next {
        let app: AppID
        var delay: Nanoseconds
    }

    private var starts: [Start] = []
    private var nexts: [Next] = []
    /// The last end that was reported, if its app had surely been up for long.
    private var stable: (app: AppID, step: Int)?

    mutating func hear(_ event: Event, _ scene: Scene) {
        guard case .spawned(let instance) = event, !starts.contains(where: { $0.instance == instance }) else { return }
        let reading = scene.times.reading(instance, scene) ?? scene.now
        starts.append(Start(instance: instance, reading: reading, slack: scene.times.slack(instance)))
    }

    /// What is wrong with a delay.
    mutating func see(_ effect: Effect, _ scene: Scene) -> String? {
        switch effect {
        case .report(let end):
            stable = isStable(end, scene) ? (end.app, scene.step.number) : nil
            starts.removeAll { $0.instance == end.instance }
        case .note(.restartScheduled(let app, let delay)): return judge(app, delay, scene)
        default: break
        }
        return nil
    }

    func wasStable(in step: Step) -> AppID? { stable.flatMap { $0.step == step.number ? $0.app : nil } }

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

    private mutating func judge(_ app: AppID, _ delay: Nanoseconds, _ scene: Scene) -> String? {
        guard let entry = scene.board.directory.entry(app) else { return nil }
        let wasStable = stable.map { $0.app == app && $0.step == scene.step.number } ?? false
        let next = wasStable ? .zero : nexts.first { $0.app == app }?.delay ?? .zero
        let most = max(next, entry.policy.restartDelay, entry.former.restartDelay)
        let longest = max(entry.policy.restartDelayMax, entry.former.restartDelayMax, delay)
        nexts.removeAll { $0.app == app }
        nexts.append(Next(app: app, delay: delay.doubled(upTo: longest)))
        if delay > most { return "\(scene.name(app)) waits \(delay.text) for its restart, and \(most.text) are due" }
        let least = min(entry.policy.restartDelay, entry.former.restartDelay)
        return delay < least ? "\(scene.name(app)) waits for its restart for less than \(least.text)" : nil
    }
}
