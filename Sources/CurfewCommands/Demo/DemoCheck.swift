internal import Varlink

/// Something the demo has shown, or failed to show.
struct DemoCheck: Equatable {
    let text: String
    let holds: Bool

    init(_ text: String, _ holds: Bool) {
        self.text = text
        self.holds = holds
    }
}

extension Story {
    func verdict(_ checks: [DemoCheck]) {
        if isJSON {
            let problems = checks.filter { !$0.holds }.map { JSON.string($0.text) }
            return write(["ok": .bool(problems.isEmpty), "problems": .array(problems)])
        }
        for check in checks {
            let mark = check.holds ? style.paint("yes", .good) : style.paint("NO ", .bad)
            console.output("  \(mark)  \(check.text.printable)\n")
        }
    }
}
