internal import Lifecycle

/// What the shell alone knows of the last end of each app, beside the core's word of it.
struct LastEnds {
    private struct End {
        var app: Int64
        var report: Int64
        /// CLOCK_REALTIME, ns.
        var time: Int64
        /// Nanoseconds; -1: not known.
        var cpu: Int64
    }

    private var all: [End] = []

    init() {}

    init(_ reports: [Int: Report]) {
        all = reports.map { app, report in
            End(app: Int64(app), report: Int64(report.id), time: report.time, cpu: report.cpuNanoseconds ?? -1)
        }
    }

    /// How many there are, then each; in the layout of the machine.
    var bytes: [UInt8] {
        withUnsafeBytes(of: Int64(all.count)) { Array($0) } + all.withUnsafeBytes { Array($0) }
    }

    /// Takes them off. nil: they are not there.
    init?(_ bytes: inout ArraySlice<UInt8>) {
        guard let count = bytes.takeNumber(), count >= 0, count <= bytes.count / MemoryLayout<End>.size else {
            return nil
        }
        for _ in 0..<count {
            guard let app = bytes.takeNumber(), let report = bytes.takeNumber(), let time = bytes.takeNumber(),
                let cpu = bytes.takeNumber()
            else { return nil }
            all.append(End(app: app, report: report, time: time, cpu: cpu))
        }
    }

    /// As far as the core knows of them, too. What they wrote is in the store.
    func reports(_ core: DeviceLifecycle) -> [Int: Report] {
        var reports: [Int: Report] = [:]
        for end in all {
            guard let app = Int(exactly: end.app), let view = core.view(of: AppID(rawValue: app)),
                let termination = view.lastTermination, let id = Int(exactly: end.report)
            else { continue }
            reports[app] = Report(
                id: id, time: end.time, subject: .app(termination), cpuNanoseconds: end.cpu < 0 ? nil : end.cpu,
                output: [])
        }
        return reports
    }
}

extension ArraySlice<UInt8> {
    /// nil: it is not all there.
    mutating func takeNumber() -> Int64? {
        let size = MemoryLayout<Int64>.size
        guard count >= size else { return nil }
        defer { self = dropFirst(size) }
        return withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }
    }
}
