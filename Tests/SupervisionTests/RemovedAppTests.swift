import EventLoop
import SystemCalls
import Testing
import Varlink

@testable import Lifecycle
@testable import Supervision

/// An app whose file is gone is the shell's until its last process is.
@Suite struct RemovedAppTests {
    @Test func itsReportHasWhatItWrote() throws {
        let shell = try PlayedShell(["late": "exec = [\"/bin/sh\", \"-c\", \"echo hello; exec sleep 1000\"]\n"])
        try shell.run { shell.supervisor.apps[0]?.output?.lastLines(1, bytes: 100) == ["hello"] }
        try shell.configure("late", nil)
        try shell.run { shell.supervisor.processes.isEmpty }
        #expect(shell.supervisor.reports.all().last?["output"] == ["hello"])
        // Its notify socket and its pipe go with it.
        let socket = try #require(shell.supervisor.apps[0]?.notify?.path)
        #expect(Files.exists(socket))
        try shell.run { shell.supervisor.apps.isEmpty }
        #expect(!Files.exists(socket))
    }

    @Test func putBackBeforeItsEnd_itKeepsItsNotifySocket() throws {
        let text = "exec = [\"/bin/sh\", \"-c\", \"trap '' TERM; echo hello; exec sleep 1000\"]\n"
        let shell = try PlayedShell(["late": text])
        try shell.run { shell.supervisor.apps[0]?.output?.lastLines(1, bytes: 100) == ["hello"] }
        // By number: the test is not to hold it.
        let old = try #require(shell.supervisor.processes.keys.first)
        try shell.configure("late", nil)
        try shell.configure("late", text)
        try #require(shell.supervisor.processes[old]).kill()
        try shell.run { shell.supervisor.processes.contains { $0.key != old && $0.value.mainPID != nil } }
        #expect(shell.supervisor.processes[old] == nil)
        // What is left of the old one is let go of.
        while try shell.loop.runOnce(timeoutMicroseconds: 0) {}
        let socket = try #require(shell.supervisor.apps[0]?.notify?.path)
        #expect(Files.exists(socket))
    }
}
