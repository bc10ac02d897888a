internal import ArgumentParser
internal import Varlink

struct TasksCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "tasks", abstract: "Background tasks, and what is left of their budgets.",
        discussion: """
            An app that holds a background task is not suspended. In front it has no limit; in background its tasks \
            share one budget ([background] task-budget), and an app that still holds one when it is spent is killed.

            Policies: opportunistic tasks sleep and wake with the board; keep-awake tasks keep it from going to sleep.

            Example: curfew tasks --json | jq -r '.tasks[] | [.app, .name, .timeRemaining] | @tsv'
            """)

    @OptionGroup var global: GlobalOptions

    func run(_ session: Session) throws(CommandFailure) {
        let tasks = try Snapshot.take(session).tasks
        if session.isJSON { return session.say(JSON.object(["tasks": .array(tasks)]).prettyText()) }
        if tasks.isEmpty { return session.say("No app holds a background task.") }
        let table = TaskTable(tasks.map { BackgroundTaskRecord($0) })
        for line in table.lines(session.style, width: session.console.width) { session.say(line) }
    }
}

/// Background tasks, a line each.
struct TaskTable {
    let tasks: [BackgroundTaskRecord]
    /// Without the app's name where all are of one app.
    var showsApp = true

    init(_ tasks: [BackgroundTaskRecord], showsApp: Bool = true) {
        self.tasks = tasks
        self.showsApp = showsApp
    }

    func lines(_ style: Style, width: Int?) -> [String] {
        var table = Table(
            (showsApp ? [Table.Column(title: "APP")] : []) + [
                Table.Column(title: "ID", isNumber: true, dispensability: 2),
                Table.Column(title: "POLICY", dispensability: 3),
                Table.Column(title: "HELD FOR", isNumber: true, dispensability: 1),
                Table.Column(title: "TIME LEFT", isNumber: true), Table.Column(title: "NAME"),
            ])
        for task in tasks {
            let isShort = task.timeRemaining.map { $0 < 10 } ?? false
            table.add(
                (showsApp ? [Table.Cell(task.app, .bold)] : []) + [
                    Table.Cell("\(task.identifier)"), Table.Cell(task.policy),
                    Table.Cell(Amounts.duration(task.secondsHeld)),
                    Table.Cell(task.remaining, task.timeRemaining == nil ? .dim : isShort ? .caution : .plain),
                    Table.Cell(task.name),
                ])
        }
        return table.lines(style, width: width)
    }
}
