import CLinux
import ProcessControl
import SystemCalls
import Testing

@testable import ControlGroup

@Suite struct MemoryReadingTests {
    private func memory(_ text: String) -> MemoryReading? { MemoryReading(parsing: Array(text.utf8)) }
    private func pressure(_ text: String) -> PressureReading? { PressureReading(parsing: Array(text.utf8)) }

    @Test func memoryOfThisBoard() throws {
        let reading = try MemoryReading()
        #expect(reading.totalBytes > 16 << 20)
        #expect((1...reading.totalBytes).contains(reading.availableBytes))
    }

    @Test func memoryInfo() {
        let text = "MemTotal:       16384 kB\nMemFree:  100 kB\nMemAvailable:    2048 kB\nSwapTotal: 0 kB\n"
        #expect(memory(text)?.totalBytes == 16_777_216)
        #expect(memory(text)?.availableBytes == 2_097_152)
        // A balloon, or memory taken offline between the two lines.
        #expect(memory("MemTotal: 10 kB\nMemAvailable: 20 kB\n")?.availableBytes == 10240)
    }

    @Test(arguments: [
        "", "\n", "MemTotal: 100 kB\n", "MemAvailable: 100 kB\n", "MemTotal: 0 kB\nMemAvailable: 0 kB\n",
        "MemTotal: x kB\nMemAvailable: 10 kB\n", "MemTotal: -5 kB\nMemAvailable: 10 kB\n",
        "MemTotal: 9223372036854775807 kB\nMemAvailable: 1 kB\n",
        "MemTotal: 99999999999999999999999 kB\nMemAvailable: 1 kB\n", "MemTotal: 100 kB\nMemAvailable:\n",
        "xMemTotal: 100 kB\nMemAvailable: 1 kB\n", "MemTotal: 100 kB MemAvailable: 1 kB\n", "\0\0\0\0",
    ]) func memoryInfoThatMakesNoSense(text: String) throws {
        #expect(memory(text) == nil)
        try withTemporaryDirectory { directory in
            try Files.replace(directory + "/meminfo", with: Array(text.utf8), durable: false)
            let error = try #require(throws: SystemError.self) { try MemoryReading(path: directory + "/meminfo") }
            #expect(error == SystemError("read", directory + "/meminfo", errno: .invalid))
        }
    }

    @Test func pressureLines() throws {
        let text =
            "some avg10=1.28 avg60=0.35 avg300=0.52 total=4559243\n"
            + "full avg10=100.00 avg60=0.32 avg300=0.50 total=4312803\n"
        let reading = try #require(pressure(text))
        #expect(reading.someAverage10 == 128 && reading.fullAverage10 == 10000)
        #expect(reading.someTotal == 4_559_243 && reading.fullTotal == 4_312_803)
        for broken in [
            "", "some avg10=1.28 total=5\n", "some avg10= total=5\nfull avg10=1.00 total=1\n",
            "some total=5\nfull total=5\n", "some avg10=1.00 total=x\nfull avg10=1.00 total=1\n",
        ] { #expect(pressure(broken) == nil) }
    }

    @Test func eventsAreCounted() {
        let text = "low 0\nhigh 17\nmax 3\noom 2\noom_kill 1\noom_group_kill 4\nsock_throttled 9\n"
        let events = MemoryEvents(parsing: Array(text.utf8))
        #expect(events.high == 17 && events.max == 3 && events.oom == 2)
        #expect(events.oomKill == 1 && events.oomGroupKill == 4)
        let old = MemoryEvents(parsing: Array("low 0\nhigh 1\nmax 0\noom 0\noom_kill 5\n".utf8))
        #expect(old.oomKill == 5 && old.oomGroupKill == 0)
    }

    @Test func eventsChange_andEndWithTheGroup() throws {
        try withTemporaryDirectory { directory in
            let file = directory + "/memory.events"
            try Files.replace(file, with: Array("high 1\nmax 0\noom 0\noom_kill 0\n".utf8), durable: false)
            let group = ControlGroup(name: "app.1", path: directory, controllers: [.memory])
            let events = try #require(try group.openMemoryEvents())
            let before = try #require(try events.read())
            // In place, as the kernel does.
            try Files.writeExisting(file, "high 3\nmax 0\noom 1\noom_kill 1\n")
            let after = try #require(try events.read())
            #expect(after.high - before.high == 2 && after.oomKill - before.oomKill == 1)
            try Files.remove(file)
            #expect(throws: SystemError.self) { try group.openMemoryEvents() }
        }
    }

    @Test func withoutTheController_noEvents() throws {
        let group = ControlGroup(name: "app.1", path: "/nowhere", controllers: [.processes])
        #expect(try group.openMemoryEvents() == nil)
        #expect(group.memoryBytes == nil)
        #expect(group.footprintBytes == 0)
        #expect(group.oomdKills == 0)
    }
}

@Suite(.enabled(if: hasControlGroups, "\(controlGroupProblem ?? "")")) struct FootprintTests {
    /// A shell that has a text of so many MiB.
    private func eater(_ mebibytes: Int, _ writing: Int32) -> SpawnRequest {
        var request = shell(
            "text=$(head -c \(mebibytes << 20) /dev/zero | tr '\\0' x); echo ready; read line; echo ${#text}")
        request.standardOutput = writing
        return request
    }

    @Test func footprintIsWhatTheProcessesHave() throws {
        try withControlGroupRoot { root in
            let group = try root.create("app")
            #expect(group.footprintBytes == 0 || group.controllers.contains(.memory))
            let pipe = try Pipe()
            let input = try Pipe()
            var request = eater(32, pipe.writing.rawValue)
            request.standardInput = input.reading.rawValue
            let child = try group.start(request)
            #expect(waitReadable(pipe.reading.rawValue))
            // Without the controller, whatever this machine has.
            let bare = ControlGroup(name: group.name, path: group.path, controllers: [])
            #expect(bare.footprintBytes > 32 << 20)
            #expect(bare.footprintBytes < 256 << 20)
            try group.kill()
            _ = try waitForEnd(of: child)
            #expect(bare.footprintBytes == 0)
        }
    }

    @Test func killsBySystemdOomd() throws {
        try withControlGroupRoot { root in
            let group = try root.create("app")
            #expect(group.oomdKills == 0)
            for (value, kills) in [("3", 3), ("", 0), ("x", 0)] as [(String, Int64)] {
                let result = value.withCString { setxattr(group.path, "user.oomd_ooms", $0, value.utf8.count, 0) }
                try #require(result == 0)
                #expect(group.oomdKills == kills)
            }
        }
    }
}
