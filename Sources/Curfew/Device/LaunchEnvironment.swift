internal import CLinux
internal import SystemCalls

/// What an app inherits of the device that launched it.
struct LaunchEnvironment: Sendable {
    /// CURFEW_APP; nil: the process was not started by curfewd.
    var app: String?
    /// CURFEW_SOCKET.
    var socket = "/run/curfew/io.curfew.Application"
    /// CURFEW_DELEGATE_FD.
    var delegate: Int32?
    /// How long a call waits for the device, in nanoseconds.
    var patience: Int64 = 5_000_000_000
    /// A line for the people who look after the app.
    var say: @Sendable (String) -> Void = { text in
        try? FileDescriptor.writeAll(Array("curfew: \(text)\n".utf8), to: 2)
    }

    /// This process's own.
    static var inherited: LaunchEnvironment {
        var environment = LaunchEnvironment()
        environment.app = variable("CURFEW_APP")
        if let socket = variable("CURFEW_SOCKET") { environment.socket = socket }
        environment.delegate = variable("CURFEW_DELEGATE_FD").flatMap { Int32($0) }
        return environment
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}
