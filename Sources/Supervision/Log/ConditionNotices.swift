internal import Journal
internal import Lifecycle

// What the core says of the board itself, as lines for people.

extension Supervisor {
    func sayCondition(_ notice: Notice) {
        switch notice {
        case .phaseLimited(let limit, let condition):
            let why = condition.map { "\($0.key): " } ?? ""
            log.daemon(
                .info, limit == .active ? "apps may come to the front again" : "\(why)no app above \(limit.name)",
                .conditionChanged)
        case .externalPower(let isExternal, let level):
            log.daemon(.notice, (isExternal ? "external power" : "on battery") + percent(level), .conditionChanged)
        case .lowPowerMode(let on, let level):
            log.daemon(.notice, "low power mode is \(on ? "on" : "off")" + percent(level), .conditionChanged)
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
        case .criticalBattery(let level):
            log.daemon(
                .error, "the battery is critical\(percent(level)): apps are ended and the board is switched off",
                .boardAtRisk)
        case .essentialAppLost(let app, let time):
            // journald writes what is critical at once: after the reset somebody wants to know why.
            reports.sync()
            log.app(
                name(app), .critical,
                "is essential and gone for good: the hardware watchdog is not fed any more, the board resets in "
                    + time.text,
                .boardAtRisk)
        case .launched, .restartScheduled, .leftDown, .overrun, .phaseChanged, .shutdownPreparing, .shutdownCancelled,
            .stalled, .keepAwakeSpent, .sleepPreparing, .sleepReleased, .sleepEnded, .sleptUnannounced, .darkWake:
            break
        }
    }

    private func percent(_ level: Int?) -> String { level.map { " (\($0) %)" } ?? "" }
}
