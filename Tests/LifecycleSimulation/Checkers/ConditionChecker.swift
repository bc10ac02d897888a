internal import Lifecycle

/// Conditions do not flap, and their last word is never lost.
///
/// What is in force (the most an app may be, low power mode, under-voltage, the thermal state) is what the strongest of
/// the present conditions asks; a first change and one further in the same direction come at once, a change back when
/// the last one is `debounce` ago, and the core has asked to be woken for it. No app is called or launched above it.
final class ConditionChecker: Checker {
    static let sees: [EffectKind]? = [.call, .spawn, .boardNotice]

    private enum Word: Int, CaseIterable { case limit, lowPower, voltage, heat }

    private struct Told {
        var value: Int
        var at: Nanoseconds?
        var rose = false
        /// The least that was configured since.
        var window = Nanoseconds.zero
    }

    private var toldPressure = MemoryPressure.normal
    private var told = [Told(value: 2), Told(value: 0), Told(value: 0), Told(value: 0)]

    func heard(_ event: Event, _ scene: Scene) {
        for index in told.indices { told[index].window = min(told[index].window, scene.conditions.policy.debounce) }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        let limit = scene.conditions.limit
        switch effect {
        case .note(.board(.phaseLimited(let phase, let condition))):
            turn(.limit, Int(phase.rawValue), scene)
            judgeDemand(condition, scene)
        case .note(.board(.lowPowerMode(let on, _))): turn(.lowPower, on ? 1 : 0, scene)
        case .note(.board(.underVoltage(let on))): turn(.voltage, on ? 1 : 0, scene)
        case .note(.board(.memoryPressure(let pressure))):
            if pressure == toldPressure { violate("memory is said to be \(pressure.name) again", scene) }
            toldPressure = pressure
        case .note(.board(.thermalState(let state))): turn(.heat, Int(state.rawValue), scene)
        case .app(.call(let instance, _, .didBecomeActive, _)):
            if limit < .active { violate("\(scene.name(instance)) becomes active above \(limit.name)", scene) }
        case .app(.call(let instance, _, .willEnterForeground, _)):
            if limit < .inactive { violate("\(scene.name(instance)) comes to the foreground", scene) }
        case .process(.spawn(let app, _, _, let inBackground)):
            if limit < .inactive, !inBackground { violate("\(scene.name(app)) is launched in front", scene) }
        default: break
        }
    }

    /// Said is a condition that asks for it, where there is one.
    private func judgeDemand(_ condition: Condition?, _ scene: Scene) {
        if let condition {
            if scene.conditions.isDemand(of: condition) { return }
            violate("\(condition.key) does not ask for the limit", scene)
        } else if Condition.allCases.contains(where: scene.conditions.isDemand) {
            violate("it is not said what asks for the limit", scene)
        }
    }

    private func turn(_ word: Word, _ value: Int, _ scene: Scene) {
        let last = told[word.rawValue]
        if value == last.value { violate("\(word) is said again", scene) }
        let rises = value > last.value
        if let at = last.at, rises != last.rose, scene.now - at < last.window {
            violate("\(word) turns back after \((scene.now - at).text)", scene)
        }
        told[word.rawValue] = Told(
            value: value, at: scene.now, rose: rises, window: scene.conditions.policy.debounce)
    }

    func stepped(_ step: Step, _ scene: Scene) {
        let conditions = scene.conditions
        expect(.limit, Int(conditions.limit.rawValue), scene)
        expect(.lowPower, conditions.isLowPower ? 1 : 0, scene)
        expect(.voltage, conditions.isUnderVoltage ? 1 : 0, scene)
        expect(.heat, Int(conditions.heat.rawValue), scene)
        let device = scene.board.core.device
        if device.externalPower != conditions.isExternal || device.batteryLevel != conditions.level {
            let wanted = PowerReading(isExternal: conditions.isExternal, level: conditions.level)
            let taken = PowerReading(isExternal: device.externalPower, level: device.batteryLevel)
            violate("the supply is \(wanted), and taken for \(taken)", scene)
        }
        if toldPressure != conditions.pressure { violate("memory is said to be \(toldPressure.name)", scene) }
        if device.memoryPressure != conditions.pressure { violate("memory is \(conditions.pressure.name)", scene) }
        if step.asksNow?.at ?? .max > conditions.nextDue {
            violate("nothing is due when something comes into force", scene)
        }
    }

    private func expect(_ word: Word, _ value: Int, _ scene: Scene) {
        guard told[word.rawValue].value != value else { return }
        violate("\(word) is \(told[word.rawValue].value), and \(value) is wanted", scene)
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.noFlapping, message) }
}
