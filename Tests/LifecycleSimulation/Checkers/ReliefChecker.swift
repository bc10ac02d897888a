internal import Lifecycle

/// What heat or want of memory has ended is not started again by itself before the board has truly been well: neither
/// while it is hot, whether or not the hot place can be read, nor while memory is critically short.
final class ReliefChecker: Checker {
    static let sees: [EffectKind]? = [.report, .spawn]

    /// Apps that heat has ended, and that nothing but the board's recovery brings back.
    private var overheated: [AppID] = []

    func heard(_ event: Event, _ scene: Scene) {
        if !isTrulyHot(scene) { overheated = [] }
        switch event {
        case .temperatures(let readings):
            // It was cool when that was measured.
            let isCool = readings.contains { reading in
                guard let limit = reading.critical, let temperature = reading.temperature else { return false }
                return temperature < limit.subtractingReportingOverflow(3000).partialValue
            }
            if isCool { overheated = [] }
        case .configured: overheated = []
        default: break
        }
    }

    private func isTrulyHot(_ scene: Scene) -> Bool {
        scene.board.surroundings.heat.contains { reading in
            guard let limit = reading.critical, let temperature = reading.temperature else { return false }
            return temperature >= limit
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .report(let end):
            overheated.removeAll { $0 == end.app }
            if end.reason.namespace == .thermal, isTrulyHot(scene) { overheated.append(end.app) }
        case .spawn(let app, _, .restart, _):
            if overheated.contains(app) { violate("\(scene.name(app)) is started again on a hot board", scene) }
            if scene.conditions.pressure == .critical {
                violate("\(scene.name(app)) is started again, and memory is critically short", scene)
            }
        default: break
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.relief, message) }
}
