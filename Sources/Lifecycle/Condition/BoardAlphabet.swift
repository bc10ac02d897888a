/// What the board says of itself.
public enum BoardEvent: Equatable, Sendable {
    /// The people at the board, as logind knows them.
    case session(SessionReading)
    case lid(closed: Bool)
    /// One of the board's own keys went down.
    case keyPressed(HardwareKey)
    case power(PowerReading)
    /// The supply is too weak for the board; nil: its sensor does not say now.
    case underVoltage(Bool?)
    /// All places whose temperature is known.
    case temperatures([ThermalReading])
    /// Whether any network is connected.
    case network(up: Bool)
    /// Something that has to be known is announced by nothing: `poll` asks for a look at it so often; nil: no need.
    case polling(interval: Nanoseconds?)
}

/// What is asked of the board.
public enum BoardEffect: Equatable, Sendable {
    /// Look at what nothing announces. Answered by `temperatures`, `power`, `underVoltage`.
    case poll
}

/// What the journal is told of the board.
public enum BoardNotice: Equatable, Sendable {
    /// The board gave no time: handler deadlines were moved by this much.
    case stalled(Nanoseconds)
    /// A condition of the board keeps apps from the front, or does not any more.
    case phaseLimited(ScenePhase, by: Condition?)
    case externalPower(Bool, level: Int?)
    case lowPowerMode(Bool, level: Int?)
    case underVoltage(Bool)
    case thermalState(ThermalState)
    case memoryPressure(MemoryPressure)
    /// Memory is critically short, and no app is left to be ended.
    case memoryExhausted
}

extension DeviceLifecycle {
    mutating func hear(_ event: BoardEvent) {
        switch event {
        case .session(let reading): conditions.hear(reading)
        case .lid(let closed): if conditions.hear(lidClosed: closed) { sawWakeSource(.lid) }
        case .keyPressed(let key): hear(key)
        case .power(let reading): if conditions.hear(reading, at: now.monotonic) { sawWakeSource(.externalPower) }
        case .underVoltage(let present): conditions.hear(underVoltage: present, at: now.monotonic)
        case .temperatures(let readings): conditions.hear(readings, at: now.monotonic)
        case .network(let up): if conditions.hear(networkUp: up) { sawWakeSource(.network) }
        case .polling(let interval): conditions.hear(polling: interval, at: now.monotonic)
        }
    }
}
