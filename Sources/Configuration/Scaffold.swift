public import Lifecycle

public struct EnvironmentVariable: Equatable, Sendable { public var name: String; public var value: String }
public enum Delegate: Sendable { case varlink, hooks, signals, none }
public struct Background: Equatable, Sendable { public var modes: [String] = []; public var refresh = true }
public struct AppConfiguration: Equatable, Sendable {
    public var policy: AppPolicy
    public var exec: [String] = []
    public var user: String?
    public var group: String?
    public var workingDirectory: String?
    public var environment: [EnvironmentVariable] = []
    public var umask: UInt32?
    public var nice: Int32?
    public var delegate = Delegate.none
    public var acknowledge = true
    public var memoryHigh: Int64?
    public var memoryMax: Int64?
    public var processes: Int64?
    public var priorityBand = 100
    public var background = Background()
    public func hook(for handler: Handler) -> [String]? { nil }
    public func signal(for handler: Handler) -> Int32? { nil }
}
public struct ConfigurationError: Error, Equatable, Sendable {
    public var file: String; public var line: Int?; public var message: String; public var text: String { message }
}
public struct AppEntry: Equatable, Sendable {
    public var name: String; public var configuration: AppConfiguration?; public var errors: [ConfigurationError]
}
public struct DeviceConfiguration: Equatable, Sendable {
    public var policy = DevicePolicy(); public var profile = "auto"
}
public struct ConfigurationPaths { public init(root: String?) {} }
public struct Configuration: Equatable, Sendable {
    public var device = DeviceConfiguration()
    public var apps: [AppEntry] = []
    public var errors: [ConfigurationError] = []
    public var warnings: [ConfigurationError] = []
    public static func load(_ p: ConfigurationPaths) -> Configuration { Configuration() }
}
