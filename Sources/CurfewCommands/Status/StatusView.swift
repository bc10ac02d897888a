/// What `curfew status` shows: the device, and a table of its apps.
struct StatusView {
    let device: DeviceRecord
    let apps: [AppRecord]
    let tasks: [BackgroundTaskRecord]
    let root: String
    let now: LocalTime

    func lines(_ style: Style, width: Int?) -> [String] {
        DeviceLines(device: device).lines(style, width: width) + [""]
            + (apps.isEmpty ? emptyLines : table.lines(style, width: width))
    }

    private var emptyLines: [String] {
        let example = "exec = [\"/usr/bin/python3\", \"-m\", \"http.server\"]"
        return [
            "No apps yet. To add the first one:",
            "  echo '\(example)' | \(root.isEmpty ? "sudo " : "")tee \(root)/etc/curfew/apps/web.toml",
            "  \(Session.tool(root: root)) reload; \(Session.tool(root: root)) launch web",
            "All that such a file may say: man curfew-app",
        ]
    }

    private var table: Table {
        var table = Table(
            [
                Table.Column(title: "APP"), Table.Column(title: "STATE"),
                Table.Column(title: "PID", isNumber: true, dispensability: 2),
                Table.Column(title: "MEMORY", isNumber: true, dispensability: 3),
                Table.Column(title: "LAUNCHES", isNumber: true, dispensability: 4),
            ] + (hasBackgroundWork ? [Table.Column(title: "BACKGROUND", dispensability: 1)] : [])
                + [Table.Column(title: "LAST END")])
        for app in apps {
            table.add(
                [
                    Table.Cell(app.name, .bold), Table.Cell(app.state, app.tone),
                    Table.Cell(app.mainPID.map { "\($0)" } ?? "-"),
                    Table.Cell(app.memoryBytes.map { Amounts.bytes($0) } ?? "-"),
                    Table.Cell(app.invalid == nil ? "\(app.launches)" : "-"),
                ] + (hasBackgroundWork ? [Table.Cell(background(app))] : []) + [lastEnd(app)])
        }
        return table
    }

    /// Some app holds a task, or has a limit to its time in background.
    private var hasBackgroundWork: Bool {
        !tasks.isEmpty || apps.contains { $0.backgroundTimeRemaining != nil }
    }

    /// "2 tasks, 9 min 50 s left".
    private func background(_ app: AppRecord) -> String {
        let held = tasks.count { $0.app == app.name }
        let parts = [
            held == 0 ? nil : Amounts.count(held, "task"),
            app.backgroundTimeRemaining.map { Amounts.duration($0) + " left" },
        ].compactMap { $0 }
        return parts.isEmpty ? "-" : parts.joined(separator: ", ")
    }

    private func lastEnd(_ app: AppRecord) -> Table.Cell {
        if let invalid = app.invalid { return Table.Cell(invalid, .bad) }
        guard let end = app.lastTermination else { return Table.Cell(app.isLeftDown ? "left down" : "-", .dim) }
        let age = end.time.map { Amounts.age(Double(now.milliseconds - $0.milliseconds) / 1000) + ": " } ?? ""
        let leftDown = app.isLeftDown ? "left down; " : ""
        let report = end.report.map { " [report \($0)]" } ?? ""
        return Table.Cell(leftDown + age + end.reason + report, end.isOrderly ? .dim : app.isLeftDown ? .bad : .caution)
    }
}
