internal import Lifecycle

/// A client that watches the board is told of every change that can be seen, in the step that brings it, and of no
/// other.
///
/// Looks at all apps after every step, and so not on every board.
final class ChangeChecker: Checker {
    static let hears: [EventKind]? = []
    static let sees: [EffectKind]? = []

    private var views: [AppView?] = []
    private var device: DeviceView?
    private var isReset = true

    func stepped(_ step: Step, _ scene: Scene) {
        let board = scene.board
        guard board.watchesChanges else { return }
        let count = (board.directory.entries.map(\.id.rawValue).max() ?? -1) + 1
        while views.count < count { views.append(nil) }
        for place in views.indices {
            let app = AppID(rawValue: place)
            let view = board.core.view(of: app)
            let isTold = step.effects.contains(.client(.appChanged(app)))
            let hasChanged = view != views[place]
            views[place] = view
            if hasChanged, !isTold { violate("\(scene.name(app)) has changed, and it is not said", scene) }
            if isTold, !hasChanged { violate("\(scene.name(app)) is said to have changed, and has not", scene) }
        }
        let seen = board.core.device
        if let device, (seen != device) != step.effects.contains(.client(.deviceChanged)) {
            violate(
                "the device has \(seen == device ? "not changed, and is said to" : "changed, and is not said to")",
                scene)
        }
        device = seen
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.changes, message) }
}
