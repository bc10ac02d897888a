import Configuration
import Lifecycle

// Bytes as an app's file, as curfew.toml and as a hardware profile. Whatever they are, the loader must come back with
// a configuration that keeps its promises, or with errors that can be shown on a terminal.

private let anyone = Accounts(user: { _ in .exists(id: 1000) }, group: { _ in .missing })

private func checkErrors(_ errors: [ConfigurationError]) {
    precondition(errors.count <= 20)
    for error in errors {
        // The way out for assertions of toml++: an input that takes it belongs in the list of CToml.
        precondition(error.message != "not TOML: malformed")
        precondition(!error.message.isEmpty && error.message.utf8.count < 2000)
        precondition(error.message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
    }
}

private func checkApp(_ app: AppConfiguration) {
    precondition(app.exec.first?.utf8.first == UInt8(ascii: "/"))
    precondition(app.exec.allSatisfy { !$0.utf8.contains(0) })
    precondition(app.hooks.allSatisfy { $0.command.first?.utf8.first == UInt8(ascii: "/") })
    precondition(app.signals.allSatisfy { (1...64).contains($0.signal) && $0.signal != 9 && $0.signal != 19 })
    precondition(app.policy.after.allSatisfy { AppName.isWellFormed($0) })
    precondition(app.policy.restartDelay <= app.policy.restartDelayMax && app.policy.restartLimit >= 1)
    precondition(app.environment.allSatisfy { !$0.name.isEmpty && !$0.value.utf8.contains(0) })
    precondition((app.limits.memoryHigh ?? 0) <= (app.limits.memoryMax ?? .max))
}

private func checkProfile(_ profile: HardwareProfile) {
    precondition(!profile.description.isEmpty && profile.match != BoardMatch())
    precondition(profile.match.dmi.allSatisfy { $0.count == BoardIdentity.dmiKeys.count })
    precondition((profile.watchdog.timeout ?? .zero) <= (profile.watchdog.maxTimeout ?? .seconds(604_800)))
    precondition(profile.power.batteryCritical < profile.power.batteryLow)
    precondition(!(profile.power.underVoltage?.chip.utf8.contains(UInt8(ascii: "/")) ?? false))
    precondition(profile.memory.pressureWarning < profile.memory.pressureCritical)
    precondition(profile.thermal.allSatisfy { ($0.fair ?? -41) < ($0.critical ?? 201) })
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    switch AppConfiguration.parse(bytes, name: "fuzz", file: "fuzz.toml", accounts: anyone) {
    case .valid(let app): checkApp(app)
    case .invalid(_, let errors):
        precondition(!errors.isEmpty)
        checkErrors(errors)
    }
    let (device, errors) = DeviceConfiguration.parse(bytes, file: "curfew.toml")
    checkErrors(errors)
    precondition(device.policy.sleepMargin < device.policy.sleepAllowanceMax)
    let (profile, problems) = HardwareProfile.parse(bytes, name: "fuzz", file: "fuzz.toml")
    checkErrors(problems)
    precondition((profile == nil) == !problems.isEmpty)
    if let profile { checkProfile(profile) }
    return 0
}
