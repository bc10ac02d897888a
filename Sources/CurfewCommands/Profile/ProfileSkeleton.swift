internal import Configuration
internal import Lifecycle

/// A profile for a board that has none: what can be read from it, to be completed by a person who knows it.
struct ProfileSkeleton {
    let facts: BoardFacts

    /// A file's name without ".toml".
    var name: String {
        let product = facts.identity.dmi[1].isEmpty ? facts.identity.dmi[6] : facts.identity.dmi[1]
        let text = facts.identity.compatible.first ?? (product.isEmpty ? facts.identity.architecture : product)
        var name = ""
        for scalar in text.unicodeScalars.prefix(60) {
            switch scalar {
            case "a"..."z", "0"..."9", "_": name.unicodeScalars.append(scalar)
            case "A"..."Z": name += String(scalar).lowercased()
            default: if !name.isEmpty, name.last != "-" { name += "-" }
            }
        }
        while name.last == "-" { name.removeLast() }
        return name.isEmpty ? "board" : name
    }

    var lines: [String] {
        var lines = ["description = \(TomlText.string(description))", ""] + match
        lines += watchdog + sleep + power + thermal
        return lines
    }

    private var description: String {
        let texts = [facts.identity.dmi[0], facts.identity.dmi[1]].filter { !$0.isEmpty }
        let known = facts.model ?? texts.joined(separator: " ")
        return known.isEmpty ? "A board with \(facts.identity.architecture)" : known.printable
    }

    private var match: [String] {
        if let name = facts.identity.compatible.first {
            return [
                "[match]", "compatible = \(TomlText.array([name]))", "source = \"the board's device tree\"",
            ]
        }
        let texts = facts.dmi.filter { ["sys_vendor", "product_name", "board_name"].contains($0.key) }
        if !texts.isEmpty {
            let pairs = texts.map { "\($0.key) = \(TomlText.string($0.text))" }.joined(separator: ", ")
            return ["[match]", "dmi = [{ \(pairs) }]", "source = \"the board's DMI\""]
        }
        return ["[match]", "arch = \(TomlText.string(facts.identity.architecture))", "source = \"uname\""]
    }

    private var watchdog: [String] {
        guard let watchdog = facts.watchdogs.first else { return [] }
        var lines: [String] = []
        if let driver = watchdog.driver { lines.append("driver = \(TomlText.string(driver))") }
        if let identity = watchdog.identity { lines.append("identity = \(TomlText.string(identity))") }
        if let seconds = watchdog.maxTimeout, (1...604_800).contains(seconds) {
            lines.append("max-timeout = \"\(seconds)s\"")
        }
        return section(
            "[watchdog]", lines, source: "the board's /sys/class/watchdog/\(watchdog.name)",
            open: ["in-sleep = \"stops\" or \"counts\"", "stoppable = true or false"])
    }

    private var sleep: [String] {
        let states = (facts.sleepStates ?? []).filter { HardwareProfile.SleepStates.words.contains($0) }
        let lines = states.isEmpty ? ["logical = true"] : ["states = \(TomlText.array(states))"]
        let known = WakeSource.allCases.map { TomlText.string($0.key) }.joined(separator: ", ")
        return section(
            "[sleep]", lines, source: "the board's /sys/power/state", open: ["wake-sources = some of \(known)"])
    }

    private var power: [String] {
        let own = facts.supplies.filter { !$0.isOfDevice }
        let batteries = own.filter { $0.type == "Battery" }.map(\.name)
        let external = own.filter { $0.type != "Battery" }.map(\.name)
        var lines: [String] = []
        if !external.isEmpty { lines.append("external = \(TomlText.array(external))") }
        if !batteries.isEmpty { lines.append("battery = \(TomlText.array(batteries))") }
        if let alarm = facts.alarms.first(where: { $0.attribute.hasSuffix("_lcrit_alarm") }) {
            let chip = TomlText.string(alarm.chip)
            lines.append("under-voltage = { chip = \(chip), attribute = \(TomlText.string(alarm.attribute)) }")
        }
        return section("[power]", lines, source: "the board's /sys/class", open: [])
    }

    private var thermal: [String] {
        var seen: Set<String> = []
        return facts.zones.filter { seen.insert($0.type).inserted }.flatMap { zone in
            section(
                "[[thermal]]", ["zone = \(TomlText.string(zone.type))"], source: "the board's /sys/class/thermal",
                open: ["fair, serious and critical, in °C, where the trips do not fit"]
                    + (zone.trips.isEmpty ? [] : ["trips: " + zone.trips.joined(separator: ", ")]))
        }
    }

    /// open: what cannot be read from a board, as comments.
    private func section(_ head: String, _ lines: [String], source: String, open: [String]) -> [String] {
        if lines.isEmpty { return [] }
        return ["", head] + lines + ["source = \(TomlText.string(source))"] + open.map { "# \($0)" }
    }
}
