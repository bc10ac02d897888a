internal import Varlink

/// `BackgroundTask` of io.curfew.Control.
struct BackgroundTaskRecord: Equatable {
    let app: String
    let identifier: Int64
    let name: String
    let keepAwake: Bool
    let secondsHeld: Double
    /// Seconds until it expires; nil: no limit.
    let timeRemaining: Double?
    /// "ended" (by the app), "expired", "died"; nil while it is held.
    let ended: String?

    init(_ json: JSON) {
        app = json["app"]?.stringValue ?? "?"
        identifier = json["identifier"]?.intValue ?? 0
        name = json["name"]?.stringValue ?? ""
        keepAwake = json["keepAwake"]?.boolValue ?? false
        secondsHeld = json["secondsHeld"]?.doubleValue ?? 0
        timeRemaining = json["timeRemaining"]?.doubleValue
        ended = json["ended"]?.stringValue
    }

    /// As `task-policy` has it.
    var policy: String { keepAwake ? "keep-awake" : "opportunistic" }

    var remaining: String { timeRemaining.map { Amounts.duration($0) } ?? "no limit" }

    /// "“upload” (12)".
    var title: String { "“\(name)” (\(identifier))" }

    /// "ended after 3 s".
    var ending: String? {
        guard let ended else { return nil }
        let held = Amounts.duration(secondsHeld)
        return switch ended {
        case "expired": "expired after \(held)"
        case "died": "ended with its process after \(held)"
        default: "\(ended) after \(held)"
        }
    }
}
