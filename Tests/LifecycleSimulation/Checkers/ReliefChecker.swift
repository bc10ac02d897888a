internal import Lifecycle

/// What heat or want of memory has ended is not started again by itself before the board has truly been well: neither
/// while it is hot, whether or not the hot place can be read, nor while memory is critically short.
final class ReliefChecker: Checker {
    static let sees: [EffectKind]? = [.report, .spawn]

    /// Apps that heat has ended, and that nothing but the board's recovery brings back.
    private var overheated: [AppID] = []
    /// Places that were critically hot when they were read last.
    private var hot: [Int] = []
    /// Apps that heat has ended, and places that have not been found cooler since.
    private var waiting: [(app: AppID, zone: Int)] = []

    func heard(_ event: Event, _ scene: Scene) {
        if !isTrulyHot(scene) { overheated = [] }
        switch event {
        case .board(.temperatures(let readings)):
            hear(readings)
            // It was cool when that was measured.
            let isCool = readings.contains { reading in
                guard let limit = reading.critical, let temperature = reading.temperature else { return false }
                return temperature < limit.subtractingReportingOverflow(3000).partialValue
            }
            if isCool { overheated = [] }
        case .configured:
            overheated = []
            waiting = []
        default: break
        }
    }

    private func hear(_ readings: [ThermalReading]) {
        for (index, reading) in readings.enumerated() {
            // Of one place that is told of twice, with limits of its own each time, nothing is known.
            if readings.indices.contains(where: { $0 != index && readings[$0].zone == reading.zone }) {
                hot.removeAll { $0 == reading.zone }
                waiting.removeAll { $0.zone == reading.zone }
                continue
            }
            guard let limit = reading.critical, let temperature = reading.temperature, temperature >= limit else {
                // One that is silent is as hot as it was.
                if reading.temperature == nil, reading.critical != nil { continue }
                hot.removeAll { $0 == reading.zone }
                waiting.removeAll { $0.zone == reading.zone }
                continue
            }
            if !hot.contains(reading.zone) { hot.append(reading.zone) }
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
            waiting.removeAll { $0.app == end.app }
            if end.reason.namespace == .thermal { for zone in hot { waiting.append((end.app, zone)) } }
            // By the last word on it: what is not said no daemon can know.
            if end.reason.namespace == .thermal, isTrulyHot(scene), !hot.isEmpty { overheated.append(end.app) }
        case .process(.spawn(let app, _, .restart, _)):
            if waiting.contains(where: { $0.app == app }) {
                violate("\(scene.name(app)) is started again, and the place that was hot was not cooler since", scene)
            }
            if overheated.contains(app) { violate("\(scene.name(app)) is started again on a hot board", scene) }
            if scene.conditions.pressure == .critical {
                violate("\(scene.name(app)) is started again, and memory is critically short", scene)
            }
        case .process(.spawn(let app, _, _, _)): waiting.removeAll { $0.app == app }
        default: break
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.relief, message) }
}
