internal import Varlink

/// `Handled` of io.curfew.Trial: one call of an app's handler, which is over.
struct HandledRecord: Equatable {
    let app: String
    /// The method, "DidEnterBackground".
    let handler: String
    let timeAllowance: Double
    let seconds: Double
    /// "returned", "overran", "ended" (the app ended meanwhile).
    let outcome: String

    init(_ json: JSON) {
        app = json["app"]?.stringValue ?? "?"
        handler = json["handler"]?.stringValue ?? "?"
        timeAllowance = json["timeAllowance"]?.doubleValue ?? 0
        seconds = json["seconds"]?.doubleValue ?? 0
        outcome = json["outcome"]?.stringValue ?? "returned"
    }

    /// "DidEnterBackground returned after 12 ms of 5 s".
    var sentence: String {
        let allowed = Amounts.duration(timeAllowance)
        switch outcome {
        case "overran": return "\(handler) did not return within \(allowed)"
        case "ended": return "ended in \(handler), after \(Amounts.duration(seconds)) of \(allowed)"
        default: return "\(handler) \(outcome) after \(Amounts.duration(seconds)) of \(allowed)"
        }
    }
}
