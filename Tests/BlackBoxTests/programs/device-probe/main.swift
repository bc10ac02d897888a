// What DeviceMonitor hears and reads, line by line, until the input ends.
//
//   device-probe udev|kernel|auto [FAMILY GROUP]
//
// In the kernel's group network devices count too (as accessories): they are what a test can have. FAMILY GROUP: of
// generic netlink, in place of the thermal one; then every command counts.
import CLinux
import DeviceMonitor
import SystemCalls

func say(_ line: String) { try? FileDescriptor.writeAll(Array((line + "\n").utf8), to: 1) }

func word(_ value: Bool?) -> String { value.map { $0 ? "yes" : "no" } ?? "unknown" }

func sayState(_ inputs: InputSwitches) {
    let power = PowerSupplies().read()
    say("power external=\(word(power.externalPower)) level=\(power.batteryLevel.map { "\($0)" } ?? "unknown")")
    for zone in (try? ThermalZone.all()) ?? [] {
        say("zone \(zone.name) temperature=\(zone.temperature() ?? -1) trips=\(zone.trips.count)")
    }
    if let voltage = try? UnderVoltage(chip: "rpi_volt", attribute: "in0_lcrit_alarm") {
        say("under-voltage \(word(voltage.read()))")
    }
    say("lid \(word(inputs.lidClosed))")
    say("end")
}

func openMonitor(_ group: String) throws(SystemError) -> DeviceMonitor {
    switch group {
    case "udev": return try DeviceMonitor(.udev, DeviceMonitor.Subsystem.all)
    case "kernel":
        let network = DeviceMonitor.Subsystem(name: "net", changes: .accessory)
        return try DeviceMonitor(.kernel, DeviceMonitor.Subsystem.all + [network])
    default: return try DeviceMonitor()
    }
}

func run(_ arguments: [String]) throws(SystemError) {
    let monitor = try openMonitor(arguments.first ?? "auto")
    let heat =
        arguments.count > 2 ? try ThermalEvents(arguments[1], arguments[2], .max) : try? ThermalEvents()
    let inputs = InputSwitches()
    say("group \(monitor.group == .udev ? "udev" : "kernel")")
    sayState(inputs)
    while true {
        var files = ([0, monitor.descriptor, heat?.descriptor ?? -1] + inputs.descriptors).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        _ = poll(&files, nfds_t(files.count), -1)
        if files[0].revents != 0 { return }
        var changes: DeviceChanges = []
        if files[1].revents != 0 { changes.formUnion(monitor.receive()) }
        if files[2].revents != 0, let heat { changes.formUnion(heat.receive()) }
        for file in files[3...] where file.revents != 0 {
            if let keys = inputs.receive(file.fd) {
                for change in keys { say("key \(change.key) \(change.pressed ? "down" : "up")") }
                say("lid \(word(inputs.lidClosed))")
            } else {
                say("device gone")
                inputs.remove(file.fd)
            }
        }
        if changes.contains(.inputs) { say("new inputs \(inputs.rescan().count)") }
        if !changes.isEmpty {
            say("changes \(changes.rawValue)")
            sayState(inputs)
        }
    }
}

do throws(SystemError) {
    try run(Array(CommandLine.arguments.dropFirst()))
} catch {
    say("error \(error.text)")
    exit(1)
}
