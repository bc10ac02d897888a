internal import Lifecycle

/// What happened, for people. Written out only when it is asked for: most seeds pass.
struct Trace {
    enum Entry {
        case step(Step)
        case board(Nanoseconds, String)
        case plan(Nanoseconds, FaultPlan)
        /// The daemon has died: what came before is to be read with these names.
        case death(Nanoseconds, AppDirectory)

        var at: Nanoseconds {
            switch self {
            case .step(let step): step.at.monotonic
            case .board(let at, _), .plan(let at, _), .death(let at, _): at
            }
        }
    }

    private var entries: [Entry] = []
    private var oldest = 0
    private let keepsAll: Bool
    private static let kept = 400

    init(keepsAll: Bool) { self.keepsAll = keepsAll }

    mutating func add(_ step: Step) { add(.step(step)) }
    mutating func add(_ plan: FaultPlan, at: Nanoseconds) { add(.plan(at, plan)) }
    mutating func add(death names: AppDirectory, at: Nanoseconds) { add(.death(at, names)) }
    mutating func add(board line: String, at: Nanoseconds) { add(.board(at, line)) }

    private mutating func add(_ entry: Entry) {
        if keepsAll || entries.count < Self.kept {
            entries.append(entry)
        } else {
            entries[oldest] = entry
            oldest = (oldest + 1) % Self.kept
        }
    }

    var inOrder: [Entry] { Array(entries[oldest...] + entries[..<oldest]) }

    /// The names that each entry is to be read with. last: those of the present.
    func named(_ last: AppDirectory) -> [(entry: Entry, names: AppDirectory)] {
        var names = last
        var named: [(entry: Entry, names: AppDirectory)] = []
        for entry in inOrder.reversed() {
            if case .death(_, let former) = entry { names = former }
            named.append((entry, names))
        }
        return named.reversed()
    }

    func lines(_ names: AppDirectory) -> [String] {
        var lines: [String] = []
        for (entry, names) in named(names) {
            switch entry {
            case .death(let at, _): lines.append("\(Self.stamp(at))      ~ the daemon dies")
            case .board(let at, let line): lines.append("\(Self.stamp(at))      ~ \(line)")
            case .plan(let at, let plan): lines.append("\(Self.stamp(at))      ~ faults: \(plan.description)")
            case .step(let step):
                let asks = step.asksNow.map { "  (wakes \(Self.stamp($0.at)): \($0.reason.text(names)))" } ?? ""
                lines.append("\(Self.stamp(step.at.monotonic)) \(step.number). \(step.event.text(names))\(asks)")
                for effect in step.effects { lines.append("                      -> \(effect.text(names))") }
            }
        }
        return lines
    }

    /// Seconds and microseconds of MONOTONIC.
    private static func stamp(_ time: Nanoseconds) -> String {
        if time == .max { return "never" }
        let micro = time.rawValue / 1000
        let fraction = String(micro % 1_000_000)
        let padding = String(repeating: "0", count: Swift.max(6 - fraction.count, 0))
        let text = "\(micro / 1_000_000).\(padding)\(fraction)"
        return String(repeating: " ", count: Swift.max(14 - text.count, 0)) + text
    }
}
