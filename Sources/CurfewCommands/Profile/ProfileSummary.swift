internal import Configuration
internal import Lifecycle

/// A profile in a few words.
struct ProfileSummary {
    let profile: HardwareProfile

    /// "raspberrypi,4-model-b", "DMI PC Engines / apu2", "any x86_64".
    var match: String {
        var texts = profile.match.compatible
        texts += profile.match.dmi.map { "DMI " + $0.filter { !$0.isEmpty }.joined(separator: " / ") }
        if !profile.match.architecture.isEmpty { texts.append("any \(profile.match.architecture)") }
        return texts.joined(separator: ", ")
    }

    /// "bcm2835-wdt, at most 15 s"; nil where nothing is known.
    var watchdog: String? {
        let watchdog = profile.watchdog
        var texts = [watchdog.driver ?? watchdog.identity].compactMap { $0 }
        if let limit = watchdog.maxTimeout {
            texts.append("at most \(Amounts.duration(Double(limit.rawValue) / 1e9))")
        }
        if watchdog.isStoppable == false { texts.append("cannot be stopped") }
        switch watchdog.inSleep {
        case .unknown: break
        case .stops: texts.append("stops in sleep")
        case .counts: texts.append("counts in sleep")
        }
        return texts.isEmpty ? nil : texts.joined(separator: ", ")
    }

    /// nil where nothing is known.
    var sleep: String? {
        if profile.sleep.isLogical { return "logical only" }
        guard let states = profile.sleep.states, !states.isEmpty else { return nil }
        return Self.words(states.rawValue, HardwareProfile.SleepStates.words).joined(separator: ", ")
    }

    /// nil where nothing is known.
    var power: String? {
        var texts = profile.power.batteries.map { "battery \($0)" } + profile.power.external
        if profile.power.underVoltage != nil { texts.append("under-voltage alarm") }
        return texts.isEmpty ? nil : texts.joined(separator: ", ")
    }

    private static func words(_ bits: UInt8, _ known: [String]) -> [String] {
        known.indices.filter { bits >> UInt8($0) & 1 == 1 }.map { known[$0] }
    }

    /// A row of README's table.
    var markdown: String {
        func cell(_ text: String?) -> String { (text ?? "").split(separator: "|").joined(separator: "\\|") }
        let cells = [
            cell(profile.description), "`\(profile.name)`", cell(match), cell(watchdog), cell(sleep), cell(power),
        ]
        return "| " + cells.joined(separator: " | ") + " |"
    }

    static let markdownHead = [
        "| board | profile | known by | watchdog | sleep | power |", "|---|---|---|---|---|---|",
    ]
}
