/// What the journal is told of the end of all apps.
public enum ShutdownNotice: Equatable, Sendable {
    case preparing(allowance: Nanoseconds?)
    case cancelled
    /// The board is about to be switched off.
    case criticalBattery(level: Int?)
}
