internal import ArgumentParser
internal import Varlink

struct LowPowerCommand: SessionCommand {
    static let configuration = CommandConfiguration(
        commandName: "low-power", abstract: "Low power mode: on, off, or as the board's conditions ask.",
        discussion: """
            In low power mode a sleeping board is not woken for background tasks, these have 30 s at most, and apps \
            are told to save energy. auto, the default: a low battery turns it on, and what else [policy] in \
            curfew.toml says. The setting lasts over restarts and reboots.
            """)

    @Argument(help: "on, off or auto.") var setting: Setting
    @OptionGroup var global: GlobalOptions

    enum Setting: String, ExpressibleByArgument, CaseIterable {
        case on, off, auto

        var enabled: Bool? {
            switch self {
            case .on: true
            case .off: false
            case .auto: nil
            }
        }
    }

    func run(_ session: Session) throws(CommandFailure) {
        let control = try session.control()
        let device: DeviceRecord
        do throws(VarlinkError) {
            _ = try control.call("SetLowPowerMode", ["enabled": JSON(setting.enabled)])
            device = DeviceRecord(try control.call("DescribeDevice")["device"] ?? .null)
        } catch {
            throw .of(error, app: nil, doing: "set to low power mode '\(setting.rawValue)'", session: session)
        }
        if session.isJSON {
            let outcome: JSONObject = [
                "setting": .string(setting.rawValue), "lowPowerMode": .bool(device.lowPowerMode),
            ]
            return session.say(JSON.object(outcome).line)
        }
        session.say(sentence(isOn: device.lowPowerMode, session.tool))
    }

    private func sentence(isOn: Bool, _ tool: String) -> String {
        let now = isOn ? "on" : "off"
        guard let enabled = setting.enabled else { return "low power mode is automatic, and \(now) now" }
        // A setting that was changed a moment ago turns back only after policy.debounce.
        let state = enabled == isOn ? "is \(now)" : "will be \(setting.rawValue) in a moment"
        return "low power mode \(state), until you say otherwise (automatic: \(tool) low-power auto)"
    }
}
