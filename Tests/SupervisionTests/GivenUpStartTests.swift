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
    private let loop: EventLoop

    init() throws {
        loop = try EventLoop()
        let paths = RuntimePaths(root: "/nonexistent")
        supervisor = try Supervisor(
            loop: loop, paths: paths, log: Log(journal: Journal(identifier: "curfewd", socketPath: nil)), groups: nil,
            configuration: Configuration.load(paths: ConfigurationPaths(root: "/nonexistent")))
    }

    private func start(_ number: Int64, of app: SupervisedApp? = nil) throws -> AppProcess {
        let app =
            app ?? SupervisedApp(AppID(rawValue: 0), AppConfiguration(name: "late", exec: ["/bin/sleep", "1000"]))
        let process = AppProcess(InstanceID(rawValue: number), app, supervisor, group: nil)
        try process.started(ChildProcess.spawn(SpawnRequest(arguments: ["/bin/sleep", "1000"])))
        app.process = process
        supervisor.processes[number] = process
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
        let process = try start(1)
        let pid = try #require(process.child).pid
        process.kill()
        supervisor.clear(process.instance)
        #expect(supervisor.processes[1] != nil)
        try run { supervisor.processes[1] == nil && !isThere(pid) }
        #expect(process.app.process == nil)
    }

    /// Nothing of it was ever there, or all of it is gone.
    @Test func clearedWithoutAProcess() throws {
        supervisor.clear(InstanceID(rawValue: 7))
        let process = try start(8)
        process.kill()
        supervisor.clear(process.instance)
        try run { supervisor.processes[8] == nil }
        supervisor.clear(process.instance)
        #expect(supervisor.processes.isEmpty)
    }

    @Test func abandonedHalfWay() throws {
        let process = try start(9)
        supervisor.processes[9] = nil
        let pid = try #require(process.child).pid
        process.abandon()
        #expect(!isThere(pid))
    }

    /// One that could not be killed is gone at last: by then its app runs again.
    @Test func goneLate_itLeavesTheNextOneItsPlace() throws {
        let late = try start(10)
        let next = try start(11, of: late.app)
        late.kill()
        supervisor.clear(late.instance)
        try run { supervisor.processes[10] == nil }
        #expect(late.app.process === next)
        next.kill()
        supervisor.clear(next.instance)
        try run { supervisor.processes[11] == nil }
        #expect(late.app.process == nil)
    }

    /// A child that others have reaped does not keep the loop busy.
    @Test func strayThatOthersReaped() throws {
        let child = try ChildProcess.spawn(SpawnRequest(arguments: ["/bin/true"]))
        supervisor.strays.take(child)
        var status: Int32 = 0
        #expect(waitpid(child.pid, &status, 0) == child.pid)
        try run { supervisor.strays.isEmpty }
    }
}
