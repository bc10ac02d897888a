internal import Lifecycle

/// The time each instance could really run: MONOTONIC, less the time in which its processes were frozen, less the time
/// in which nothing ran on the board (a stopped machine, s2idle that lets MONOTONIC run on), whatever the core knew of
/// that.
///
/// That is the most the core may count, but for what it cannot have noticed (`hidden`); it may leave out `slack`.
final class RunnableTimes {
    private struct Watch {
        let instance: InstanceID
        var last = Nanoseconds.zero
        var slack = Nanoseconds.zero
        var freezeAskedAt = Nanoseconds.zero
        /// What may be counted of it: all but what it was said to be frozen, and what the loop was late by.
        var longest = Nanoseconds.zero
    }

    private var watches: [Watch] = []
    private var last: Nanoseconds?
    /// By how much the loop was late with the event at hand.
    private(set) var excess = Nanoseconds.zero

    private func index(_ instance: InstanceID) -> Int? { watches.firstIndex { $0.instance == instance } }

    /// nil for one that was never spawned.
    func reading(_ instance: InstanceID, _ scene: Scene) -> Nanoseconds? {
        guard let index = index(instance) else { return nil }
        guard let process = scene.board.process(instance), let since = process.aliveSince else {
            return watches[index].last
        }
        return since + process.ran(at: scene.now)
    }

    /// Between the order to freeze and the thaw, frozen or not, and what cannot be told around a stall.
    func slack(_ instance: InstanceID) -> Nanoseconds { index(instance).map { watches[$0].slack } ?? .zero }

    /// The most that may be taken for the time it could run, whatever was stolen from it unseen.
    func longest(_ instance: InstanceID) -> Nanoseconds { index(instance).map { watches[$0].longest } ?? .zero }

    /// What was stolen from it since, so little at a time that who looks at the clock ten times in a span (each second
    /// at the most, each 30 s at the least) need not have noticed.
    func hidden(_ instance: InstanceID, since: Nanoseconds, of span: Nanoseconds, _ scene: Scene) -> Nanoseconds {
        guard let process = scene.board.process(instance) else { return .zero }
        let gap = min(max(span / 10, .seconds(1)), .seconds(30)) + .milliseconds(250)
        return process.thefts.reduce(.zero) { $1.at > since ? $0 + min($1.time, gap) : $0 }
    }

    /// Before the event is in the chronicle.
    func hear(_ event: Event, _ scene: Scene) {
        excess = last.map { scene.step.excess(since: $0) } ?? .zero
        let passed = scene.now - (last ?? scene.now) - excess
        last = scene.now
        for index in watches.indices {
            let instance = watches[index].instance
            if let reading = reading(instance, scene) { watches[index].last = reading }
            if scene.chronicle.record(instance)?.isFrozenHeard == false { watches[index].longest += passed }
            guard excess > .zero, scene.chronicle.record(instance)?.isFreezeAsked == false else { continue }
            watches[index].slack += excess + excess + excess + .seconds(1)
        }
        if case .process(.spawned(let instance)) = event, index(instance) == nil {
            watches.append(Watch(instance: instance, last: scene.now))
        }
        if case .process(.groupEmptied(let instance)) = event { watches.removeAll { $0.instance == instance } }
    }

    /// Before the effect is in the chronicle.
    func see(_ effect: Effect, _ scene: Scene) {
        if case .process(.freeze(let instance)) = effect, let index = index(instance) {
            watches[index].freezeAskedAt = scene.now
        }
        if case .process(.thaw(let instance)) = effect, let index = index(instance) {
            watches[index].slack += scene.now - watches[index].freezeAskedAt
        }
    }
}
