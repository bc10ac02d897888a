internal import Lifecycle
internal import SystemCalls
internal import Varlink

/// One end of an app, or of a boot of the board, as it is kept and shown: with what only the shell knows.
struct Report {
    enum Subject {
        case app(Termination)
        /// Of which nothing but this is known: how the boot before this one ended (`board`), or an app that a dead
        /// daemon had left.
        case told(name: String, TerminationNamespace, explanation: String)
    }

    /// What the end of a boot is kept under. No app has such a name.
    static let board = "(board)"

    let id: Int
    /// CLOCK_REALTIME, ns.
    let time: Int64
    let subject: Subject
    let cpuNanoseconds: Int64?
    /// The last lines it wrote, where there is no journal that has them.
    let output: [String]

    /// The app's.
    var name: String {
        switch subject {
        case .app(let termination): termination.name
        case .told(let name, _, _): name
        }
    }

    /// As `Termination` of io.curfew.Control.
    var control: JSON { .object(members) }

    /// What of a stored report belongs to that: the members below.
    static let controlMembers = [
        "app", "time", "namespace", "code", "reason", "explanation", "event", "timeAllowance", "wallSeconds",
        "cpuSeconds", "report",
    ]

    private var members: JSONObject {
        var object = JSONObject()
        object["app"] = .string(name)
        object["time"] = .string(Timestamp.text(time))
        switch subject {
        case .app(let termination):
            let reason = termination.reason
            object["namespace"] = .string(reason.namespace.name)
            object["code"] = .string("0x" + String(reason.code, radix: 16))
            object["reason"] = .string(reason.name)
            object["explanation"] = .string(reason.explanation)
            object["event"] = JSON(termination.handler?.method)
            object["timeAllowance"] = JSON(termination.allowance?.seconds)
            object["wallSeconds"] = JSON((termination.taken ?? termination.uptime).seconds)
        case .told(_, let namespace, let explanation):
            object["namespace"] = .string(namespace.name)
            object["code"] = "0x0"
            object["reason"] = name == Self.board ? .null : "daemonDied"
            object["explanation"] = .string(explanation)
            object["event"] = .null
            object["timeAllowance"] = .null
            object["wallSeconds"] = .null
        }
        object["cpuSeconds"] = JSON(cpuNanoseconds.map { Double($0) / 1e9 })
        object["report"] = .string("\(id)")
        return object
    }

    /// As it is written to disk: the same, and more.
    var stored: JSON {
        var object = members
        switch subject {
        case .app(let termination):
            object["uptime"] = .number(termination.uptime.seconds)
            object["scenePhase"] = .string(termination.phase.name)
            object["sleepId"] = JSON(termination.sleep.map { Int64($0) })
        case .told:
            object["uptime"] = .null
            object["scenePhase"] = .null
            object["sleepId"] = .null
        }
        object["output"] = .array(output.map { .string($0) })
        return .object(object)
    }
}

/// RFC 3339 in UTC, without a library: from days since 1970 by the civil calendar's 400-year cycle.
enum Timestamp {
    static func text(_ realtime: Int64) -> String {
        let seconds = realtime / 1_000_000_000
        let milliseconds = realtime % 1_000_000_000 / 1_000_000
        let (year, month, day) = date(days: seconds / 86400)
        let time = seconds % 86400
        return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T\(pad(time / 3600, 2)):\(pad(time / 60 % 60, 2)):"
            + "\(pad(time % 60, 2)).\(pad(milliseconds, 3))Z"
    }

    /// Sorts, as text, among others of these as the moment among theirs: without what a fraction may end with ("Z",
    /// zeros). nil: it is no moment in UTC like "2026-01-31T12:00:00Z", with or without a fraction of a second.
    static func sortable(_ text: String) -> String? {
        var bytes = Array(text.utf8)
        guard bytes.count >= form.count + 1, bytes.removeLast() == UInt8(ascii: "Z") else { return nil }
        for (byte, wanted) in zip(bytes, form) where byte != wanted {
            guard wanted == zero, isDigit(byte) else { return nil }
        }
        for part in parts {
            let number = Int(bytes[part.place] - zero) * 10 + Int(bytes[part.place + 1] - zero)
            guard part.range.contains(number) else { return nil }
        }
        if bytes.count > form.count {
            let digits = bytes[(form.count + 1)...]
            guard bytes[form.count] == point, !digits.isEmpty, digits.allSatisfy(isDigit) else { return nil }
            while bytes.last == zero { bytes.removeLast() }
            if bytes.count == form.count + 1 { bytes.removeLast() }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let zero = UInt8(ascii: "0")
    private static let point = UInt8(ascii: ".")
    /// 0: any digit.
    private static let form = Array("0000-00-00T00:00:00".utf8)
    /// Month, day, hour, minute and second, which may be a leap second.
    private static let parts: [(place: Int, range: ClosedRange<Int>)] = [
        (5, 1...12), (8, 1...31), (11, 0...23), (14, 0...59), (17, 0...60),
    ]

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= zero && byte <= UInt8(ascii: "9") }

    /// Counts years from March, so that the leap day comes last.
    private static func date(days: Int64) -> (Int64, Int64, Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func pad(_ number: Int64, _ width: Int) -> String {
        var text = "\(number)"
        while text.utf8.count < width { text = "0" + text }
        return text
    }
}
