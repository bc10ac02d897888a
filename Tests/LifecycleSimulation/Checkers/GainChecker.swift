internal import Lifecycle

/// Who is ended for memory gives some back: 4 MiB at the least, or a hundredth of all there is, unless nothing is known
/// of what it has.
final class GainChecker: Checker {
    static let hears: [EventKind]? = [.memoryRead]
    static let sees: [EffectKind]? = [.kill, .report]

    private var uses: [MemoryUse] = []
    private var total: Int64 = 0
    private var killed: [(instance: InstanceID, bytes: Int64)] = []

    func heard(_ event: Event, _ scene: Scene) {
        guard case .memory(.read(_, let total, let uses)) = event else { return }
        self.uses = uses
        self.total = total
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .process(.kill(let instance)):
            guard case .memory(.read) = scene.step.event,
                let bytes = uses.first(where: { $0.instance == instance })?.bytes, bytes < min(4 << 20, total / 100)
            else { return }
            killed.append((instance, bytes))
        case .report(let end):
            guard end.reason.namespace == .jetsam, end.reason.code == 0,
                let bytes = killed.last(where: { $0.instance == end.instance })?.bytes
            else { return }
            scene.inspection.violate(
                .gains, "\(scene.name(end.instance)) is ended for memory, and gives back \(bytes) bytes")
        default: break
        }
    }
}
