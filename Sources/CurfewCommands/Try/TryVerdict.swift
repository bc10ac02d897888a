internal import SystemCalls
internal import Varlink

/// What a trial has shown.
struct TryVerdict {
    let app: String
    let handled: [HandledRecord]
    /// Those that are still held come last.
    let tasks: [BackgroundTaskRecord]
    let terminations: [TerminationRecord]
    /// The line of the script that failed.
    var failedStep: String?

    var kills: [TerminationRecord] { terminations.filter(\.isKill) }
    /// Ends that were not asked for: crashes, exits with another status than 0.
    var failures: [TerminationRecord] { terminations.filter { !$0.isKill && !$0.isOrderly } }
    var isGood: Bool { kills.isEmpty && failures.isEmpty && failedStep == nil }

    /// "OK", "2 kills, 1 failed step".
    var summary: String {
        let parts = [
            (kills.count, "kill"), (failures.count, "failed end"), (failedStep == nil ? 0 : 1, "failed step"),
        ].filter { $0.0 > 0 }.map { Amounts.count($0.0, $0.1) }
        return parts.isEmpty ? "OK" : parts.joined(separator: ", ")
    }

    func lines(_ style: Style, width: Int?) -> [String] {
        var lines: [String] = []
        if !handlers.isEmpty { lines += handlerTable.lines(style, width: width) }
        if !tasks.isEmpty { lines += [""] + taskTable.lines(style, width: width) }
        for end in kills + failures {
            let account = ReportAccount(report: end, root: "", now: LocalTime(milliseconds: 0))
            lines += ["", style.paint(account.headline.printable, .bad)]
            lines += ["  " + end.reason.printable] + account.adviceLines(width: width)
        }
        if let failedStep { lines += ["", style.paint(failedStep.printable, .bad)] }
        return lines + ["", style.paint(summary, isGood ? .good : .bad)]
    }

    /// One kind of call, over the whole trial.
    struct HandlerSummary: Equatable {
        let handler: String
        var count = 0
        var overruns = 0
        var longest = 0.0
        /// The shortest of those it was given.
        var allowance: Double
    }

    /// In the order of their first calls.
    var handlers: [HandlerSummary] {
        var summaries: [HandlerSummary] = []
        for call in handled {
            let place = summaries.firstIndex { $0.handler == call.handler }
            var summary =
                place.map { summaries[$0] }
                ?? HandlerSummary(handler: call.handler, allowance: call.timeAllowance)
            summary.count += 1
            summary.overruns += call.outcome == "overran" ? 1 : 0
            summary.longest = max(summary.longest, call.seconds)
            summary.allowance = min(summary.allowance, call.timeAllowance)
            if let place { summaries[place] = summary } else { summaries.append(summary) }
        }
        return summaries
    }

    private var handlerTable: Table {
        var table = Table([
            Table.Column(title: "HANDLER"), Table.Column(title: "CALLS", isNumber: true),
            Table.Column(title: "LONGEST", isNumber: true), Table.Column(title: "ALLOWED", isNumber: true),
        ])
        for summary in handlers {
            table.add([
                Table.Cell(summary.handler, .bold), Table.Cell("\(summary.count)"),
                Table.Cell(Amounts.duration(summary.longest), summary.overruns > 0 ? .bad : .plain),
                Table.Cell(Amounts.duration(summary.allowance)),
            ])
        }
        return table
    }

    private var taskTable: Table {
        var table = Table([
            Table.Column(title: "TASK"), Table.Column(title: "HELD FOR", isNumber: true), Table.Column(title: "END"),
        ])
        for task in tasks {
            table.add([
                Table.Cell(task.name, .bold), Table.Cell(Amounts.duration(task.secondsHeld)),
                Table.Cell(task.ended ?? "still held", task.ended == "expired" ? .bad : .plain),
            ])
        }
        return table
    }

    var json: JSON {
        [
            "ok": .bool(isGood), "summary": .string(summary), "app": .string(app),
            "handlers": .array(
                handlers.map { summary in
                    [
                        "handler": .string(summary.handler), "calls": .integer(Int64(summary.count)),
                        "overruns": .integer(Int64(summary.overruns)), "longestSeconds": .number(summary.longest),
                        "timeAllowance": .number(summary.allowance),
                    ]
                }),
            "tasks": .array(
                tasks.map { task in
                    ["name": .string(task.name), "secondsHeld": .number(task.secondsHeld), "ended": JSON(task.ended)]
                }),
            "kills": .array(kills.map(\.json)), "failures": .array(failures.map(\.json)),
            "failedStep": JSON(failedStep),
        ]
    }
}
