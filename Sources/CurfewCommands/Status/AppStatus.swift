/// What `curfew status APP` shows.
struct AppStatus {
    let app: AppRecord
    let tasks: [BackgroundTaskRecord]
    let log: LastLines
    let root: String
    let now: LocalTime

    func lines(_ style: Style, width: Int?) -> [String] {
        var lines = ["\(style.paint(app.name.printable, .bold))  \(style.paint(app.state, app.tone))"]
        if app.invalid != nil {
            lines += app.problems.map { "  " + $0.printable }
            return lines + [
                "", "Mend it in \(root)/etc/curfew/apps/\(app.name).toml, then: \(Session.tool(root: root)) reload",
            ]
        }
        lines += facts.lines(style, width: width)
        if !tasks.isEmpty {
            let table = TaskTable(tasks, showsApp: false).lines(style, width: width.map { max(20, $0 - 2) })
            lines += ["", style.paint("Background tasks:", .dim)] + table.map { "  " + $0 }
        }
        if let end = app.lastTermination { lines += [""] + ending(end).lines(style, width: width) }
        if !log.lines.isEmpty {
            lines += ["", style.paint(log.title, .dim)]
            lines += log.lines.map { "  " + $0.printable.clipped(width.map { max(20, $0 - 2) } ?? .max) }
        }
        return lines
    }

    private var facts: Labelled {
        var facts = Labelled()
        facts.add("Says", app.statusText)
        facts.add("Process", app.mainPID.map { "pid \($0)" })
        facts.add("Memory", app.memoryBytes.map { Amounts.bytes($0) })
        facts.add("Launches", "\(app.launches) since curfewd started")
        facts.add("Priority", "band \(app.priorityBand)")
        facts.add("Modes", app.backgroundModes.isEmpty ? nil : app.backgroundModes.joined(separator: ", "))
        facts.add("Background time", app.backgroundTimeRemaining.map { Amounts.duration($0) + " left" })
        if !app.backgroundRefresh { facts.add("Refresh", "switched off") }
        facts.add("User", app.user.map { "number \($0)" })
        facts.add("Sandbox", sandbox)
        facts.add("Without", app.sandboxLacks.isEmpty ? nil : app.sandboxLacks.joined(separator: ", "), .caution)
        facts.add("Configured", "\(root)/etc/curfew/apps/\(app.name).toml")
        return facts
    }

    private var sandbox: String? {
        guard let level = app.sandbox else { return nil }
        return app.sandboxHas.isEmpty ? level : level + ": " + app.sandboxHas.joined(separator: ", ")
    }

    private func ending(_ end: TerminationRecord) -> Labelled {
        var lines = Labelled()
        if let time = end.time {
            lines.add(
                "Last end",
                "\(time.date), \(Amounts.age(Double(now.milliseconds - time.milliseconds) / 1000))")
        }
        lines.add("Because", end.reason, end.isOrderly ? .plain : .caution)
        lines.add("Time", end.timing)
        lines.add("More", end.report.map { "\(Session.tool(root: root)) report \($0)" })
        return lines
    }
}

extension TerminationRecord {
    /// "had 2 s, took 2.01 s".
    var timing: String? {
        guard isTimed, let wallSeconds else { return nil }
        let had = timeAllowance.map { "had \(Amounts.duration($0)), " } ?? ""
        return "\(had)took \(Amounts.duration(wallSeconds))"
    }
}
