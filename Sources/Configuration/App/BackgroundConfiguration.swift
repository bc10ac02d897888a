public import Lifecycle

/// What an app may do in background.
public struct BackgroundConfiguration: Equatable, Sendable {
    /// Uses for which an app may go on running in background.
    public enum Mode: UInt8, CaseIterable, Equatable, Sendable {
        case audio, voip, externalAccessory, location, newsstandContent

        /// As in `modes`.
        public var key: String {
            switch self {
            case .audio: "audio"
            case .voip: "voip"
            case .externalAccessory: "external-accessory"
            case .location: "location"
            case .newsstandContent: "newsstand-content"
            }
        }
    }

    /// A property that a device must have to be the app's accessory, as udev names it.
    public struct AccessoryProperty: Equatable, Sendable {
        public let name: String
        public let value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// In the order of `Mode`, each once.
    public var modes: [Mode] = []
    /// In the order of the file; empty: no accessory.
    public var accessory: [AccessoryProperty] = []
    /// Whether the app may be woken for background updates.
    public var refresh = true
    /// The least time between two background fetches; nil: as the app asks.
    public var fetchInterval: Nanoseconds?
    /// The time for `performFetch`.
    public var fetchAllowance = Nanoseconds.seconds(30)
    /// The time for `didReceiveRemoteNotification`.
    public var remoteNotificationAllowance = Nanoseconds.seconds(30)
    /// The time for `handleEventsForBackgroundSession`.
    public var backgroundSessionAllowance = Nanoseconds.seconds(30)

    public init() {}
}
