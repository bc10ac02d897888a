internal import Varlink

/// Names a background task on this device; greater than zero, and not used again while the device runs.
public struct BackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
    init(_ rawValue: Int64) { self.init(rawValue: rawValue) }
}

/// Something that the app was given time to finish.
public struct BackgroundTask: Hashable, Sendable {
    public let identifier: BackgroundTaskIdentifier
    /// For people: it is shown where tasks are listed, and in reports.
    public let name: String
}

/// A background task that is held.
public struct HeldBackgroundTask: Hashable, Sendable {
    public let task: BackgroundTask
    /// The board does not go to sleep of its own accord because of it.
    public let keepsAwake: Bool
    /// How long it has been held.
    public let timeHeld: Duration
}

/// What an app asks for when it begins a background task.
struct BackgroundTaskRequest: Sendable {
    let name: String
    let keepAwake: Bool?
    let timeAllowed: Duration?
    let processIdentifier: Int32?

    /// Fails where the device would refuse it too, so that it shows at a desk.
    func check() throws(CurfewError) {
        let isControl = { (scalar: Unicode.Scalar) in scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) }
        if name.utf8.count > ApplicationInterface.taskNameLimit || name.unicodeScalars.contains(where: isControl) {
            let limit = ApplicationInterface.taskNameLimit
            throw .invalidValue("a background task's name has up to \(limit) bytes and no control characters")
        }
        if let timeAllowed, timeAllowed <= .zero {
            throw .invalidValue("the time allowed for a background task is more than nothing")
        }
    }

    var parameters: JSONObject {
        var object: JSONObject = ["name": .string(name)]
        if let keepAwake { object["keepAwake"] = .bool(keepAwake) }
        if let timeAllowed { object["timeAllowed"] = .number(timeAllowed.wireSeconds) }
        if let processIdentifier { object["processIdentifier"] = .integer(Int64(processIdentifier)) }
        return object
    }
}
