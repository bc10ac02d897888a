internal import EventLoop
internal import Journal
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
        if !preferenceSaving.isDue {
            preferences = next
            return preferenceSaving.later()
        }
        try next.save()
        preferenceSaving.wasDone()
        preferences = next
    }
}

/// When preferences are written: at once, and in the long run no more than once in a second, or an operator would wear
/// out a card with them.
final class PreferenceSaving {
    /// Nanoseconds.
    private static let interval: Int64 = 1_000_000_000
    /// So many at once are as soon as they are asked for.
    private static let burst: Int64 = 10

    private unowned(unsafe) let supervisor: Supervisor
    private var timer: TimerSource?
    /// MONOTONIC at which all that was written is paid for, at one interval each.
    private var paidAt: Int64 = 0
    private var isWanted = false

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    var isDue: Bool { !isWanted && paidAt - Clocks.monotonic < (Self.burst - 1) * Self.interval }

    func wasDone() { paidAt = max(paidAt, Clocks.monotonic) + Self.interval }

    func later() {
        if isWanted { return }
        if timer == nil { timer = try? supervisor.loop.timer { [unowned(unsafe) self] in catchUp() } }
        isWanted = true
        timer?.arm(at: Clocks.monotonic + Self.interval)
    }

    /// Writes what is still to be written.
    func catchUp() {
        guard isWanted else { return }
        isWanted = false
        wasDone()
        do throws(SystemError) {
            try supervisor.preferences.save()
        } catch {
            supervisor.log.daemon(.warning, "a setting is not kept for the next start: " + error.text)
        }
    }
}
