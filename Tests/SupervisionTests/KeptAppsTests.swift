import Lifecycle
import ProcessControl
import Testing

@testable import Supervision

@Suite struct KeptAppsTests {
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

    @Test func endsAreReadAsTheyWereWritten_withTheCoresWordOfThem() throws {
        let core = core()
        let reports = try reports(core)
        var kept = KeptApps()
        kept.ends = reports.map { KeptApps.End($0.key, $0.value, isWritten: $0.key == 0) }
        let read = try #require(KeptApps(kept.bytes))
        #expect(read.ends.count == 2)
        for end in read.ends {
            let (app, report) = try #require(end.report(core.lastTerminations))
            #expect(end.isWritten == (app == 0))
            #expect(report.id == reports[app]?.id && report.time == reports[app]?.time)
            #expect(report.cpuNanoseconds == reports[app]?.cpuNanoseconds && report.name == reports[app]?.name)
            // Of an end that the core does not know, or of an app with a later one, nothing is said.
            var other = end
            other.instance += 1
            #expect(end.report([]) == nil && other.report(core.lastTerminations) == nil)
        }
    }

    private func process(_ instance: Int64, group: String = "") -> KeptApps.Process {
        var process = KeptApps.Process()
        process.instance = instance
        process.child = 70 + instance
        process.started = KnownProcess(pid: Int32(80 + instance), identity: 90)
        process.group = group
        process.user = 1000
        process.startedAt = 5
        process.isAskedToEnd = true
        process.killedAt = 6
        process.heldExit = .signalled(15)
        process.mainPID = 7
        process.mainIdentity = 8
        process.hook = KeptApps.Hook(child: 9, call: CallID(rawValue: 10), handler: .didEnterBackground)
        process.hasAttached = true
        process.delivered = CallID(rawValue: 11)
        process.answered = CallID(rawValue: 12)
        process.wasSentTerm = true
        return process
    }

    @Test func processesAndAppsAreReadAsTheyWereWritten() throws {
        var kept = KeptApps()
        kept.processes = [process(1, group: "camera.3"), KeptApps.Process()]
        var app = KeptApps.App()
        app.id = 4
        app.notifyPath = "/run/curfew/notify/x"
        app.notifyUser = 1000
        app.status = ""
        app.failedHook = .willTerminate
        app.hookFailure = "its hook exited with status 3"
        app.adopter = 5
        kept.apps = [app, KeptApps.App()]
        kept.gone = [8]
        kept.followed = [KeptApps.Followed(instance: 1, task: 2, pid: 3, identity: 4)]
        let read = try #require(KeptApps(kept.bytes))
        #expect("\(read)" == "\(kept)")
        #expect(!read.isEmpty && KeptApps().isEmpty)
        for status in [ExitStatus.unknown, .exited(3), .withLoop(signal: 11)] {
            kept.processes[0].heldExit = status
            #expect(KeptApps(kept.bytes)?.processes[0].heldExit == status)
        }
    }

    @Test func oneWrongByteAnywhereMakesThemUnreadable() throws {
        var kept = KeptApps()
        kept.processes = [process(1, group: "camera.3")]
        let bytes = kept.bytes
        for place in bytes.indices {
            var wrong = bytes
            wrong[place] ^= 0x41
            #expect(KeptApps(wrong) == nil)
            #expect(KeptApps(Array(bytes[..<place])) == nil)
        }
    }

    @Test func whatHasChangedTakesThePlaceOfWhatWas() throws {
        var kept = KeptApps()
        kept.processes = [process(1), process(2), process(3)]
        var changes = KeptApps()
        changes.processes = [process(2, group: "new"), process(4)]
        changes.gone = [1]
        for (id, status) in [(1, "a"), (2, "b")] {
            var app = KeptApps.App()
            app.id = Int64(id)
            app.status = status
            if id == 1 { kept.apps.append(app) }
            app.status = status + "!"
            changes.apps.append(app)
        }
        let reports = try reports(core())
        kept.ends = reports.map { KeptApps.End($0.key, $0.value, isWritten: $0.key == 0) }
        changes.ends = [kept.ends[0]]
        changes.ends[0].report = 99
        kept.merge(changes)
        #expect(kept.processes.map { $0.instance }.sorted() == [2, 3, 4])
        #expect(kept.followed == nil)
        changes.followed = [KeptApps.Followed(instance: 1, task: 2, pid: 3, identity: 4)]
        kept.merge(changes)
        kept.merge(KeptApps())
        #expect(kept.followed?.map { $0.task } == [2])
        changes.followed = []
        kept.merge(changes)
        #expect(kept.followed?.isEmpty == true)
        #expect(kept.processes.first { $0.instance == 2 }?.group == "new")
        #expect(kept.apps.map { $0.status } == ["a!", "b!"])
        #expect(kept.ends.map { $0.report }.sorted() == [kept.ends.first { $0.report != 99 }?.report, 99])
    }
}
