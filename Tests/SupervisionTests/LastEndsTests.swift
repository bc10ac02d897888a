import Lifecycle
import Testing

@testable import Supervision

@Suite struct LastEndsTests {
    /// "a" and "b" have ended, "c" has not.
    private func core() -> DeviceLifecycle {
        var core = DeviceLifecycle()
        let now = Instant(monotonic: .seconds(1), boottime: .seconds(1))
        let policies = ["a", "b", "c"].map { name in
            var policy = AppPolicy(name: name)
            policy.launch = .boot
            return policy
        }
        _ = core.handle(.configured(policies, DevicePolicy()), at: now)
        _ = core.handle(.started, at: now)
        for app in core.appIDs.prefix(2) {
            if let instance = core.view(of: app)?.instance {
                _ = core.handle(.process(.spawned(instance)), at: now)
                _ = core.handle(.process(.exited(instance, .signalled(11))), at: now)
            }
        }
        return core
    }

    private func reports(_ core: DeviceLifecycle) throws -> [Int: Report] {
        var reports: [Int: Report] = [:]
        for (place, cpu) in [(0, Int64?.some(5)), (1, nil)] {
            let end = try #require(core.view(of: AppID(rawValue: place))?.lastTermination)
            reports[place] = Report(
                id: 70 + place, time: 1_000 + Int64(place), subject: .app(end), cpuNanoseconds: cpu, output: ["x"])
        }
        return reports
    }

    @Test func theyAreReadAsTheyWereWritten_withTheCoresWordOfThem() throws {
        let core = core()
        let reports = try reports(core)
        var bytes = ArraySlice(LastEnds(reports).bytes + [1, 2])
        let read = try #require(LastEnds(&bytes)).reports(core)
        #expect(bytes == [1, 2] && read.keys.sorted() == [0, 1])
        for (app, report) in read {
            #expect(report.id == reports[app]?.id && report.time == reports[app]?.time)
            #expect(report.cpuNanoseconds == reports[app]?.cpuNanoseconds && report.name == reports[app]?.name)
        }
        // Of what the core does not know nothing is said.
        var again = ArraySlice(LastEnds(reports).bytes)
        #expect(try #require(LastEnds(&again)).reports(DeviceLifecycle()).isEmpty)
    }

    @Test func whatIsCutIsRefused() throws {
        let bytes = LastEnds(try reports(core())).bytes
        for length in 0..<bytes.count {
            var cut = bytes.prefix(length)
            #expect(LastEnds(&cut) == nil)
        }
        var tooMany = ArraySlice([UInt8](repeating: 0xff, count: 7) + [0x7f] + bytes)
        #expect(LastEnds(&tooMany) == nil)
        var negative = ArraySlice([UInt8](repeating: 0xff, count: 8) + bytes)
        #expect(LastEnds(&negative) == nil)
    }
}
