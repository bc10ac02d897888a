internal import Lifecycle

/// `[limits]` and `[background]`.
extension AppFile {
    mutating func readLimits() {
        guard let table = root.table("limits", .app) else { return }
        app.limits.memoryHigh = table.size("memory-high", atLeast: 1 << 20)
        app.limits.memoryMax = table.size("memory-max", atLeast: 1 << 20)
        // The kernel's own limit on process ids.
        app.limits.processes = table.integer("processes", 1...4_194_304)
        if let high = app.limits.memoryHigh, let max = app.limits.memoryMax, high > max {
            root.problems.add(
                table.line(of: "memory-high"), "'memory-high' in [limits] is more than 'memory-max' (\(max) bytes)")
        }
    }

    mutating func readBackground() {
        guard let table = root.table("background", .app) else { return }
        if let budget = table.duration("task-budget", .seconds(1)...Nanoseconds.seconds(86_400)) {
            app.policy.taskBudget = budget
        }
        if let keepsAwake = table.choice("task-policy", [("opportunistic", false), ("keep-awake", true)]) {
            app.policy.keepsAwake = keepsAwake
        }
        app.background.modes = modes(table)
        app.background.accessory = accessory(table)
        if let refresh = table.boolean("refresh") { app.background.refresh = refresh }
        app.background.fetchInterval = table.duration("fetch-interval", .seconds(60)...Nanoseconds.seconds(2_592_000))
    }

    private func modes(_ table: Table) -> [BackgroundConfiguration.Mode] {
        let keys = BackgroundConfiguration.Mode.allCases.map { $0.key }
        let words = table.strings("modes", expected: "an array of modes") ?? []
        for word in words where !keys.contains(word) {
            table.problems.add(
                table.line(of: "modes"),
                "'modes' in [background] holds \"\(readable(word))\"; expected \(alternatives(keys))")
        }
        return BackgroundConfiguration.Mode.allCases.filter { words.contains($0.key) }
    }

    private func accessory(_ table: Table) -> [BackgroundConfiguration.AccessoryProperty] {
        var properties: [BackgroundConfiguration.AccessoryProperty] = []
        for entry in table.dictionary("accessory", of: "a table of strings") {
            if case .string(let value) = entry.value.kind, !value.isEmpty, !value.utf8.contains(0),
                !entry.key.isEmpty, !entry.key.utf8.contains(0)
            {
                properties.append(BackgroundConfiguration.AccessoryProperty(name: entry.key, value: value))
            } else {
                table.problems.add(
                    entry.line,
                    "'\(readable(entry.key))' in accessory is \(Table.describe(entry.value)); "
                        + "expected a device's property as a string")
            }
        }
        return properties
    }
}
