import CLinux
import SystemCalls
import Testing
import WakeAlarm

@Suite struct WakeAlarmTests {
    private func isReadable(_ alarm: WakeAlarm, within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: alarm.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) == 1
    }

    /// A directory as the kernel has it for a real-time clock.
    private func clock(_ seconds: String) throws -> String {
        var name = Array("/tmp/curfew-rtc-XXXXXX".utf8CString)
        let directory = String(cString: try #require(mkdtemp(&name)))
        for (file, text) in [("since_epoch", seconds), ("wakealarm", "")] {
            let descriptor = try FileDescriptor.open("\(directory)/\(file)", O_WRONLY | O_CREAT, mode: 0o644)
            try descriptor.writeAll(Array(text.utf8))
        }
        return directory
    }

    private func remove(_ directory: String) {
        for file in ["/since_epoch", "/wakealarm", ""] { _ = CLinux.remove(directory + file) }
    }

    @Test(arguments: [WakeAlarm.Means.kernelTimer, .realTimeClock])
    func alarmComesAtItsMoment(_ means: WakeAlarm.Means) throws {
        let directory = try clock("1000\n")
        defer { remove(directory) }
        let alarm = try WakeAlarm(clock: directory, means: means)
        let moment = Clocks.boottime + 50_000_000
        try alarm.set(at: moment)
        #expect(isReadable(alarm, within: 10_000))
        #expect(Clocks.boottime >= moment)
        #expect(alarm.acknowledge())
        #expect(!alarm.acknowledge())
    }

    @Test func alarmThatWasClearedNeverComes() throws {
        let alarm = try WakeAlarm()
        try alarm.set(at: Clocks.boottime + 20_000_000)
        try alarm.clear()
        #expect(!isReadable(alarm, within: 100))
        // A moment that has passed is now.
        try alarm.set(at: -5)
        #expect(isReadable(alarm, within: 10_000))
    }

    @Test func realTimeClockIsSetLateRatherThanEarly() throws {
        let directory = try clock("1000\n")
        defer { remove(directory) }
        let alarm = try WakeAlarm(clock: directory, means: .realTimeClock)
        try alarm.set(at: Clocks.boottime + 60_500_000_000)
        let written = String(decoding: try Files.read(directory + "/wakealarm", limit: 32), as: UTF8.self)
        #expect(written == "1061" || written == "1060")
        try alarm.clear()
        #expect(try Files.read(directory + "/wakealarm", limit: 32).first == UInt8(ascii: "0"))
    }

    @Test func boardWithoutAClockIsAnError() throws {
        let alarm = try WakeAlarm(clock: "/nonexistent", means: .realTimeClock)
        let error = try #require(throws: SystemError.self) { try alarm.set(at: Clocks.boottime + 1_000_000_000) }
        #expect(error.text.contains("/nonexistent"))
    }
}
