internal import Lifecycle
internal import SystemCalls
internal import Varlink

/// What users change at run time: kept over restarts and reboots.
struct Preferences {
    /// nil: automatic.
    var lowPower: Bool?

    private let path: String

    init(directory: String) {
        path = directory + "/preferences.json"
        // Nothing, or nothing of use: as if no setting had ever been changed.
        guard let bytes = try? Files.read(path, limit: 4096), let json = try? JSON.parse(bytes[...]) else { return }
        lowPower = json["lowPowerMode"]?.boolValue
    }

    func save() throws(SystemError) {
        var object = JSONObject()
        object["lowPowerMode"] = lowPower.map { .bool($0) } ?? .null
        try Files.createDirectories(Files.directoryName(of: path), mode: 0o750)
        try Files.replace(path, with: JSON.object(object).bytes())
    }
}

extension Supervisor {
    /// What the user has said before, as the daemon starts.
    func applyPreferences() {
        if let lowPower = preferences.lowPower { answers.submit(.setLowPower(lowPower)) }
    }

    /// For the next start; the core is told by its own request. Throws when it cannot be kept: then nothing changes.
    func saveLowPower(_ enabled: Bool?) throws(SystemError) {
        var next = preferences
        next.lowPower = enabled
        try next.save()
        preferences = next
    }
}
