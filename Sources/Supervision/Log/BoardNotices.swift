internal import Journal
internal import Lifecycle

// What the core says of the board itself, as lines for people.

extension Supervisor {
    func say(_ notice: BoardNotice) {
        switch notice {
        case .phaseLimited(let limit, let condition):
            let why = condition.map { "\($0.key): " } ?? ""
            log.daemon(
                .info, limit == .active ? "apps may come to the front again" : "\(why)no app above \(limit.name)",
                .conditionChanged)
        case .externalPower(let isExternal, let level):
            log.daemon(.notice, (isExternal ? "external power" : "on battery") + percent(level), .conditionChanged)
        case .lowPowerMode(let on, let level):
            log.setting(.notice, "low power mode is \(on ? "on" : "off")" + percent(level), .conditionChanged)
        case .underVoltage(let present):
            log.daemon(
                present ? .warning : .notice,
                present ? "under-voltage: the supply or its cable is too weak for this board" : "the voltage is back",
                .conditionChanged)
        case .thermalState(let state):
            log.daemon(state >= .serious ? .warning : .info, "thermal state: \(state.name)", .conditionChanged)
        case .memoryPressure(let pressure):
            log.daemon(
                pressure == .normal ? .info : .warning, "memory pressure: \(pressure.name)", .conditionChanged)
        case .memoryExhausted:
            log.daemon(.error, "memory is critically short, and no app is left to be ended", .conditionChanged)
        case .stalled(let time):
            log.daemon(.notice, "the board gave no time for \(time.text); deadlines were moved by it", .clockJumped)
        }
    }

    func percent(_ level: Int?) -> String { level.map { " (\($0) %)" } ?? "" }
}
