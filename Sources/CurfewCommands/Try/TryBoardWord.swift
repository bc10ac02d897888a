internal import Varlink

/// A step that plays the board: "lock", "charger off", "battery 15".
struct TryBoardWord: Equatable {
    let text: String
    /// Of io.curfew.Trial's SetCondition; or `lowPower`, of SetLowPowerMode.
    let parameter: String
    let value: JSON

    static let lowPower = "enabled"
    private static let choices: [(word: String, parameter: String, choices: [(String, JSON)])] = [
        ("lock", "locked", [("", true)]), ("unlock", "locked", [("", false)]),
        ("lid", "lidClosed", [("closed", true), ("open", false)]),
        ("charger", "externalPower", [("on", true), ("off", false)]),
        (
            "thermal", "thermalState",
            ["nominal", "fair", "serious", "critical"].map { ($0, JSON.string($0)) }
        ),
        ("low-power", lowPower, [("on", true), ("off", false), ("auto", .null)]),
    ]
    static let words = choices.map(\.word) + ["battery"]

    init(_ word: String, _ rest: [String]) throws(TryScript.Complaint) {
        text = ([word] + rest).joined(separator: " ")
        if word == "battery" {
            let digits = rest.first.map { $0.hasSuffix("%") ? String($0.dropLast()) : $0 }
            guard rest.count == 1, let percent = digits.flatMap({ Int($0) }), (0...100).contains(percent) else {
                throw TryScript.Complaint("battery takes a percentage, such as: battery 15")
            }
            parameter = "batteryLevel"
            value = .number(Double(percent) / 100)
            return
        }
        guard let known = Self.choices.first(where: { $0.word == word }) else {
            throw TryScript.Complaint("no step '\(word)'")
        }
        let argument = rest.joined(separator: " ")
        guard let choice = known.choices.first(where: { $0.0 == argument }) else {
            let names = known.choices.map { "'\([word, $0.0].filter { !$0.isEmpty }.joined(separator: " "))'" }
            throw TryScript.Complaint("expected \(names.joined(separator: " or "))")
        }
        parameter = known.parameter
        value = choice.1
    }
}
