internal import SystemCalls
internal import Varlink

/// Tells what happens on a private board: chapters, and under them what happened when, and to whom.
final class Story {
    let console: Console
    let isJSON: Bool
    private let start = Clocks.monotonic
    /// Time that passed at once, in seconds.
    var skipped = 0.0
    /// Nothing more is told.
    var isOver = false

    private let nameWidth: Int

    init(_ session: Session, widestName: Int = 0) {
        nameWidth = max(7, widestName)
        console = session.console
        isJSON = session.isJSON
    }

    var style: Style { console.outputStyle }
    /// Seconds since it began.
    var elapsed: Double { Double(Clocks.monotonic - start) / 1e9 + skipped }

    func chapter(_ title: String, _ explanation: String = "") {
        if isJSON { return write(["chapter": .string(title), "text": .string(explanation)]) }
        console.output("\n" + style.paint(title, .bold) + "\n")
        note(explanation)
    }

    /// A remark to the reader.
    func note(_ text: String, _ tone: Tone = .dim) {
        guard !text.isEmpty else { return }
        if isJSON { return write(["note": .string(text)]) }
        for line in text.printable.wrapped(min(console.width ?? 96, 96)) {
            console.output(style.paint(line, tone) + "\n")
        }
    }

    /// What the device says of an app, or of itself.
    func tell(_ subject: String, _ text: String, _ tone: Tone = .plain) {
        if isJSON { return write(["app": .string(subject), "text": .string(text)]) }
        line(subject, style.paint(text.printable, tone))
    }

    /// What an app says itself.
    func quote(_ app: String, _ text: String) {
        if isJSON { return write(["app": .string(app), "says": .string(text)]) }
        line(app, style.paint("“\(text.printable)”", .accent))
    }

    /// Text that stands for itself: a report.
    func block(_ lines: [String]) {
        if isJSON { return }
        for line in lines { console.output(line.isEmpty ? "\n" : "  " + line + "\n") }
    }

    private func line(_ subject: String, _ text: String) {
        guard !isOver else { return }
        let time = Amounts.fixed(elapsed, 2).padded(6, toRight: true)
        console.output("\(style.paint(time + " s", .dim))  \(style.paint(subject.padded(nameWidth), .bold))  \(text)\n")
    }

    /// With --json: an object a line.
    func write(_ object: JSONObject) {
        guard !isOver else { return }
        var timed = object
        timed["time"] = .number((elapsed * 1000).rounded() / 1000)
        console.output(JSON.object(timed).line + "\n")
    }
}
