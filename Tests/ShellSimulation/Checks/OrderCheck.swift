internal import Lifecycle

/// What the core asks of processes is done in the order in which it asks: an app that hears of its wake before it is
/// thawed hears nothing.
final class OrderCheck {
    enum Deed: Equatable {
        case freeze
        case thaw
        case terminate
    }

    private var wanted: [(deed: Deed, instance: InstanceID)] = []

    /// A new event's effects.
    func begin(_ effects: [Effect]) {
        wanted = []
        for effect in effects {
            switch effect {
            case .process(.freeze(let instance)): wanted.append((.freeze, instance))
            case .process(.thaw(let instance)): wanted.append((.thaw, instance))
            case .process(.terminate(let instance)): wanted.append((.terminate, instance))
            default: break
            }
        }
    }

    func wants(_ deed: Deed, _ instance: InstanceID) -> Bool {
        wanted.contains { $0.deed == deed && $0.instance == instance }
    }

    /// What was done. False: it was not asked for, or something that comes after it was done before.
    func did(_ deed: Deed, _ instance: InstanceID) -> Bool {
        guard let place = wanted.firstIndex(where: { $0.deed == deed && $0.instance == instance }) else { return false }
        wanted.removeFirst(place + 1)
        return true
    }
}
