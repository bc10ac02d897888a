// The loop that had an app in hand has died, and the next one has it: what was asked of its processes is asked again,
// which does no harm where it was done.

extension DeviceLifecycle {
    mutating func didRegain(_ instances: [InstanceID]) {
        // A loop that starts reads files, on a card that may be slow, before it reads what the apps have said.
        reprieveEnd = max(reprieveEnd, now.monotonic + Instance.longestReprieve)
        touchAll()
        for instance in instances { didRegain(instance) }
    }

    private mutating func didRegain(_ id: InstanceID) {
        guard let index = index(of: id), let instance = apps[index].instance else {
            // What could not be ended is seen to its end.
            if apps.contains(where: { $0.leftover == id }) { emit(.process(.clear(id))) }
            return
        }
        switch instance.stage {
        case .spawning: break
        case .running, .stopping:
            switch instance.freezer {
            case .frozen: break
            case .freezing, .stuck: emit(.process(.freeze(id)))
            case .thawed: if sleep.state == .awake { emit(.process(.thaw(id))) }
            }
            // Its signs of life may have been lost with that loop.
            armLiveness(index)
        case .killing: emit(.process(.kill(id)))
        case .clearing:
            if instance.isGivenUp { emit(.process(.kill(id))) }
            emit(.process(.clear(id)))
        }
    }
}
