import Lifecycle

/// The core does not find itself broken.
final class InvariantChecker: Checker {
    static let hears: [EventKind]? = []
    static let sees: [EffectKind]? = [.fault]

    func did(_ effect: Effect, _ scene: Scene) {
        guard case .note(.fault(let fault, let app)) = effect else { return }
        scene.inspection.violate(.invariants, "\(app.map { scene.name($0) } ?? "the board"): \(fault.name)")
    }
}
