internal import Lifecycle

/// The time each instance could run, as the checkers count it: MONOTONIC, less the time in which its processes were
/// really frozen, less what the board did not give as far as the core could know (how much later than 250 ms after the
/// moment it had asked for it was woken).
///
/// That is the most the core may count; it may leave out `slack` beside that.
final class RunnableTimes {
    private struct Watch {
        let instance: InstanceID
        var lost = Nanoseconds.zero
        var slack = Nanoseconds.zero
        var freezeAskedAt = Nanoseconds.zero
    }

    private var watches: [Watch] = []
    private var last: Nanoseconds?
    /// What the board did not give before the event at hand.
    private(set) var excess = Nanoseconds.zero

    private func index(_ instance: InstanceID) -> Int? { watches.firstIndex { $0.instance == instance } }

    /// nil for one that was never spawned.
    func reading(_ instance: InstanceID, _ scene: Scene) -> Nanoseconds? {
        guard let index = index(instance) else { return nil }
        let lost = watches[index].lost
        // A thaw that the board has not carried out yet is in `lost` already.
        guard scene.chronicle.record(instance)?.isFreezeAsked == true,
            let frozenSince = scene.board.process(instance)?.frozenSince
        else { return scene.now - lost }
        return frozenSince - lost
    }

    /// As of the thaw that is being asked for.
    func readingAfterThaw(_ instance: InstanceID, _ scene: Scene) -> Nanoseconds {
        scene.now - (index(instance).map { watches[$0].lost } ?? .zero)
    }

    /// Between the order to freeze and the thaw, frozen or not, and what cannot be told around a stall.
    func slack(_ instance: InstanceID) -> Nanoseconds { index(instance).map { watches[$0].slack } ?? .zero }

    /// Before the event is in the chronicle.
    func hear(_ event: Event, _ scene: Scene) {
        excess = last.map { scene.step.excess(since: $0) } ?? .zero
        last = scene.now
        if excess > .zero {
            for index in watches.indices
            where scene.chronicle.record(watches[index].instance)?.isFreezeAsked == false {
                watches[index].lost += excess
                watches[index].slack += excess + excess + .seconds(1)
            }
        }
        if case .spawned(let instance) = event { watches.append(Watch(instance: instance)) }
        if case .groupEmptied(let instance) = event { watches.removeAll { $0.instance == instance } }
    }

    /// Before the effect is in the chronicle.
    func see(_ effect: Effect, _ scene: Scene) {
        if case .freeze(let instance) = effect, let index = index(instance) {
            watches[index].freezeAskedAt = scene.now
        }
        if case .thaw(let instance) = effect, let index = index(instance) {
            if let since = scene.board.process(instance)?.frozenSince { watches[index].lost += scene.now - since }
            watches[index].slack += scene.now - watches[index].freezeAskedAt
        }
    }
}
