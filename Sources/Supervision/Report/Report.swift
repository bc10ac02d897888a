internal import Lifecycle
internal import SystemCalls
internal import Varlink

/// One end of an app as it is kept and shown: the core's record, with what only the shell knows.
struct Report {
    let id: Int
    /// CLOCK_REALTIME, ns.
    let time: Int64
    let termination: Termination
    let cpuNanoseconds: Int64?
    /// The last lines it wrote, where there is no journal that has them.
    let output: [String]

    /// As `Termination` of io.curfew.Control.
    var control: JSON {
        var object = JSONObject()
        object["app"] = .string(termination.name)
        object["time"] = .string(Timestamp.text(time))
        object["namespace"] = .string(termination.reason.namespace.name)
        object["code"] = .string("0x" + String(termination.reason.code, radix: 16))
        object["explanation"] = .string(termination.reason.explanation)
        object["event"] = JSON(termination.handler?.method)
        object["timeAllowance"] = JSON(termination.allowance?.seconds)
        object["wallSeconds"] = JSON((termination.taken ?? termination.uptime).seconds)
        object["cpuSeconds"] = JSON(cpuNanoseconds.map { Double($0) / 1e9 })
        object["report"] = .string("\(id)")
        return .object(object)
    }

    /// As it is written to disk: the same, and more.
    var stored: JSON {
        guard case .object(var object) = control else { return control }
        object["uptime"] = .number(termination.uptime.seconds)
        object["scenePhase"] = .string(termination.phase.name)
        object["sleepId"] = JSON(termination.sleep.map { Int64($0) })
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
