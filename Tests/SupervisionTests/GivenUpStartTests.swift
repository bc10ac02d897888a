import CLinux
import Configuration
import EventLoop
import Journal
import ProcessControl
import SystemCalls
import Testing

@testable import Lifecycle
@testable import Supervision

/// A start that the core has given up, or that failed half way: no process, no zombie and no entry may stay.
@Suite struct GivenUpStartTests {
    private let supervisor: Supervisor
    private let keeper: TestKeeper
    private let loop: EventLoop

    init() throws {
        loop = try EventLoop()
        let paths = RuntimePaths(root: "/nonexistent")
        keeper = try TestKeeper(loop)
        supervisor = try Supervisor(
            loop: loop, keeper: keeper.loopSide, paths: paths,
            log: Log(journal: Journal(identifier: "curfewd", socketPath: nil)), groups: nil,
            configuration: Configuration.load(paths: ConfigurationPaths(root: "/nonexistent")))
    }

    private func start(_ number: Int64, of app: SupervisedApp? = nil) throws -> AppProcess {
        let app =
            app
            ?? SupervisedApp(
                AppID(rawValue: 0), AppConfiguration(name: "late", exec: ["/bin/sleep", "1000"]),
                OwnUsers(directory: "/nonexistent"))
        let process = AppProcess(InstanceID(rawValue: number), app, supervisor, group: nil)
        try process.start(SpawnRequest(arguments: ["/bin/sleep", "1000"]))
        app.process = process
        supervisor.processes[number] = process
        return process
    }

    private func started(_ number: Int64, of app: SupervisedApp? = nil) throws -> AppProcess {
        let process = try start(number, of: app)
        try run { process.child?.isRunning == true }
        return process
    }

    private func isThere(_ pid: Int32) -> Bool { Files.exists("/proc/\(pid)") }

    private func run(until condition: () -> Bool) throws {
        let end = Clocks.monotonic + 10_000_000_000
        while !condition(), Clocks.monotonic < end { _ = try loop.runOnce(timeoutMicroseconds: 20_000) }
        #expect(condition())
    }

    /// As the core gives up: both at once, and no word of its end yet.
    @Test func killedAndClearedAtOnce() throws {
        let process = try started(1)
        let pid = try #require(process.mainPID)
        process.kill()
        supervisor.clear(process.instance)
        #expect(supervisor.processes[1] != nil)
        try run { supervisor.processes[1] == nil && !isThere(pid) }
        #expect(process.app.process == nil)
    }

    /// The keeper has not come to it yet: it is not gone before it was started and killed.
    @Test func killedAndClearedBeforeItIsStarted() throws {
        keeper.isHeldUp = true
        let process = try start(2)
        process.kill()
        supervisor.clear(process.instance)
        for _ in 0..<5 { _ = try loop.runOnce(timeoutMicroseconds: 1000) }
        #expect(supervisor.processes[2] != nil && process.mainPID == nil)
        keeper.isHeldUp = false
        try run { process.mainPID != nil }
        let pid = try #require(process.mainPID)
        try run { supervisor.processes[2] == nil && !isThere(pid) }
    }

    /// What an app says proves that it runs, before the keeper says so; its word after that changes nothing.
    @Test func heardBeforeTheKeepersWord() throws {
        let process = try start(3)
        process.isHeard()
        try run { process.child?.isRunning == true }
        process.kill()
        supervisor.clear(process.instance)
        try run { supervisor.processes[3] == nil }
    }

    /// Nothing of it was ever there, or all of it is gone.
    @Test func clearedWithoutAProcess() throws {
        supervisor.clear(InstanceID(rawValue: 7))
        let process = try started(8)
        process.kill()
        supervisor.clear(process.instance)
        try run { supervisor.processes[8] == nil }
        supervisor.clear(process.instance)
        #expect(supervisor.processes.isEmpty)
    }

    /// A program that cannot be started leaves no process and no entry.
    @Test func failedStart() throws {
        let app = SupervisedApp(
            AppID(rawValue: 0), AppConfiguration(name: "late", exec: ["/nonexistent"]),
            OwnUsers(directory: "/nonexistent"))
        let process = AppProcess(InstanceID(rawValue: 9), app, supervisor, group: nil)
        try process.start(SpawnRequest(arguments: ["/nonexistent"]))
        app.process = process
        supervisor.processes[9] = process
        try run { supervisor.processes[9] == nil }
        #expect(app.process == nil)
    }

    /// One that could not be killed is gone at last: by then its app runs again.
    @Test func goneLate_itLeavesTheNextOneItsPlace() throws {
        let late = try started(10)
        let next = try started(11, of: late.app)
        late.kill()
        supervisor.clear(late.instance)
        try run { supervisor.processes[10] == nil }
        #expect(late.app.process === next)
        next.kill()
        supervisor.clear(next.instance)
        try run { supervisor.processes[11] == nil }
        #expect(late.app.process == nil)
    }
}
