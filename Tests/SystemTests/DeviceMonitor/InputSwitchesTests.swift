import CLinux
import SystemCalls
import Testing

@testable import DeviceMonitor

/// The nodes are FIFOs: they give events as they were written, and no answer to an ioctl, as a kernel without
/// EVIOCSMASK.
@Suite struct InputSwitchesTests {
    private let tree: Tree

    init() throws { tree = try Tree() }

    private func add(_ name: String, switches: String = "0", keys: String = "0") throws {
        try tree.add("class/input/\(name)/device/capabilities", ["sw": switches + "\n", "key": keys + "\n"])
        try Files.createDirectories(tree.root + "/nodes")
        try #require(mkfifo("\(tree.root)/nodes/\(name)", 0o600) == 0)
    }

    private func open() -> InputSwitches { InputSwitches(sysfs: tree.root, devices: tree.root + "/nodes") }

    private func writer(_ name: String) throws -> FileDescriptor {
        try FileDescriptor.open("\(tree.root)/nodes/\(name)", O_WRONLY)
    }

    private func write(_ events: [(type: Int32, code: Int32, value: Int32)], to file: borrowing FileDescriptor) throws {
        for event in events {
            var raw = input_event()
            raw.type = UInt16(event.type)
            raw.code = UInt16(event.code)
            raw.value = event.value
            try file.writeAll(withUnsafeBytes(of: &raw) { Array($0) })
        }
    }

    private static let report = (type: EV_SYN, code: SYN_REPORT, value: Int32(0))

    @Test func onlyDevicesWithSwitchesOrThoseKeys() throws {
        try add("event0", switches: "1")
        try add("event1", keys: "10000000000000 0")  // KEY_POWER
        try add("event2", keys: "4000 0 0")  // KEY_SLEEP
        try add("event3", keys: "8000 0 0")  // KEY_WAKEUP
        try add("event4", switches: "2", keys: "7 ffefffffffffffff fffffffffffffffe")
        try add("event5", keys: "zz 10000000000000x 0")
        try add("mouse0", switches: "1")
        try tree.add("class/input/event7", ["name": "no capabilities"])
        #expect(open().names == ["event0", "event1", "event2", "event3"])
    }

    @Test func noDevices() throws {
        let switches = open()
        #expect(switches.descriptors.isEmpty && switches.lidClosed == nil && switches.rescan().isEmpty)
    }

    @Test func lidAndKeys() throws {
        try add("event0", switches: "1", keys: "10000000000000 0")
        let switches = open()
        let descriptor = try #require(switches.descriptors.first)
        let node = try writer("event0")
        #expect(switches.lidClosed == nil)
        try write([(EV_SW, SW_LID, 1), Self.report], to: node)
        #expect(switches.receive(descriptor) == [] && switches.lidClosed == true)
        try write(
            [
                (EV_KEY, KEY_POWER, 1), Self.report, (EV_KEY, KEY_POWER, 2), (EV_KEY, KEY_A, 1), Self.report,
                (EV_KEY, KEY_POWER, 0), (EV_KEY, KEY_SLEEP, 1), (EV_KEY, KEY_WAKEUP, 1), (EV_SW, SW_TABLET_MODE, 1),
                (EV_SW, SW_LID, 0), Self.report,
            ], to: node)
        #expect(
            switches.receive(descriptor) == [
                .init(key: .power, pressed: true), .init(key: .power, pressed: false),
                .init(key: .sleep, pressed: true),
                .init(key: .wakeUp, pressed: true),
            ])
        #expect(switches.lidClosed == false)
        #expect(switches.receive(descriptor) == [])
    }

    @Test func eventsAfterLostOnes_areNotBelieved() throws {
        try add("event0", switches: "1", keys: "10000000000000 0")
        let switches = open()
        let descriptor = try #require(switches.descriptors.first)
        let node = try writer("event0")
        try write(
            [
                (EV_SW, SW_LID, 0), Self.report, (EV_SYN, SYN_DROPPED, 0), (EV_SW, SW_LID, 1), (EV_KEY, KEY_POWER, 1),
                Self.report, (EV_KEY, KEY_POWER, 0), Self.report,
            ], to: node)
        #expect(switches.receive(descriptor) == [.init(key: .power, pressed: false)])
        #expect(switches.lidClosed == false)
    }

    @Test func deviceThatGoes_andOneThatComes() throws {
        try add("event0", switches: "1")
        let switches = open()
        let descriptor = try #require(switches.descriptors.first)
        do {
            let node = try writer("event0")
            try write([(EV_SW, SW_LID, 1), Self.report], to: node)
            #expect(switches.receive(descriptor) == [])
        }
        #expect(switches.lidClosed == true)
        #expect(switches.receive(descriptor) == nil)
        // Until it is removed the descriptor stays open, for the loop that watches it.
        #expect(fcntl_isOpen(descriptor))
        switches.remove(descriptor)
        #expect(!fcntl_isOpen(descriptor))
        #expect(switches.lidClosed == nil && switches.descriptors.isEmpty)
        #expect(switches.receive(descriptor) == nil)
        try add("event1", keys: "10000000000000 0")
        tree.remove("class/input/event0")
        #expect(switches.rescan() == switches.descriptors)
        #expect(switches.names == ["event1"] && switches.rescan().isEmpty)
    }

    @Test func halfAnEvent_endsTheDevice() throws {
        try add("event0", switches: "1")
        let switches = open()
        let node = try writer("event0")
        try node.writeAll([1, 2, 3])
        #expect(switches.receive(switches.descriptors[0]) == nil)
    }

    private func fcntl_isOpen(_ descriptor: Int32) -> Bool { linux_get_flags(descriptor) >= 0 }
}
