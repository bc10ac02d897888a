import CLinux
import Foundation
import SystemCalls
import Testing

/// A message bus of its own in a temporary directory: a real dbus-daemon, and python-dbusmock's logind on it.
final class PrivateBus {
    let directory: String
    var socket: String { directory + "/bus" }
    var address: String { "unix:path=" + socket }
    private var daemon: Program?
    private var logind: Program?
    private var others: [Program] = []

    /// Makes the directory and the configuration; nothing runs yet.
    init(in parent: String = NSTemporaryDirectory()) throws {
        var template = Array((parent + "/curfew-bus-XXXXXX").utf8CString)
        directory = String(cString: try #require(mkdtemp(&template)))
        try """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>system</type>
          <listen>\(address)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
          </policy>
        </busconfig>
        """.write(toFile: directory + "/bus.conf", atomically: true, encoding: .utf8)
    }

    /// With bus and logind running.
    static func withLogind(inhibitDelayMax microseconds: UInt64 = 5_000_000) throws -> PrivateBus {
        let bus = try PrivateBus()
        try bus.startBus()
        try bus.startLogind(inhibitDelayMax: microseconds)
        return bus
    }

    deinit {
        for process in [daemon, logind] + others { end(process) }
        try? FileManager.default.removeItem(atPath: directory)
    }

    // MARK: The daemon

    /// Returns when the socket takes connections.
    func startBus() throws {
        let new = try launch(
            "/usr/bin/dbus-daemon",
            ["--nofork", "--nopidfile", "--print-address=1", "--config-file", directory + "/bus.conf"])
        daemon = new
        try #require(!new.readSome().isEmpty, "dbus-daemon did not start")
    }

    func killBus() {
        end(daemon)
        daemon = nil
        killLogind()
    }

    /// Lets the bus be reached by another path too.
    func linkSocket(at path: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: socket)
    }

    func pauseBus() { daemon?.signal(SIGSTOP) }
    func resumeBus() { daemon?.signal(SIGCONT) }

    // MARK: logind

    /// Returns when the name is owned and its properties are there.
    func startLogind(inhibitDelayMax microseconds: UInt64 = 5_000_000) throws {
        let log = directory + "/logind.log"
        logind = try launch(
            "/usr/bin/python3", ["-m", "dbusmock", "--system", "--template", "logind", "--logfile", log])
        try run("/usr/bin/gdbus", ["wait", "--system", "--timeout", "30", "org.freedesktop.login1"])
        try mock("AddProperty", manager, "InhibitDelayMaxUSec", "<uint64 \(microseconds)>")
    }

    func killLogind() {
        end(logind)
        logind = nil
    }

    func pauseLogind() { logind?.signal(SIGSTOP) }
    func resumeLogind() { logind?.signal(SIGCONT) }

    func setInhibitDelayMax(_ microseconds: UInt64) throws {
        try mock("UpdateProperties", manager, "{'InhibitDelayMaxUSec': <uint64 \(microseconds)>}")
    }

    func setPreparingForSleep(_ value: Bool) throws {
        try mock("UpdateProperties", manager, "{'PreparingForSleep': <\(value)>}")
    }

    func emit(_ signal: String, _ value: Bool) throws { try mock("EmitSignal", manager, signal, "b", "[<\(value)>]") }

    /// Sends signals back to back, so that nothing logind answers comes in between; then stops logind, if so asked.
    func emitAtOnce(_ signals: [(String, Bool)], thenPause: Bool = false) throws {
        var code = signals.map { name, value in
            "self.EmitSignal('\(manager)', '\(name)', 'b', [\(value ? "True" : "False")])"
        }
        if thenPause { code += ["self.connection.flush()", "import os", "os.kill(os.getpid(), 19)"] }
        try addBurst(code.joined(separator: "\n"))
        // A logind that is stopped does not reply.
        others.append(try launch("/usr/bin/gdbus", burst))
    }

    /// Runs Python code in the mock, as a method of the manager's object.
    func script(_ code: String) throws {
        try addBurst(code)
        try run("/usr/bin/gdbus", burst)
    }

    /// The same; does not wait for its end.
    func startScript(_ code: String) throws {
        try addBurst(code)
        others.append(try launch("/usr/bin/gdbus", burst))
    }

    private var burst: [String] {
        ["call", "--system", "--dest", "org.freedesktop.login1"] + object + ["--method", manager + ".Burst"]
    }

    private func addBurst(_ code: String) throws { try mock("AddMethod", manager, "Burst", "", "", code) }

    /// A signal as logind's by another client, straight to every client of the bus.
    func forge(_ signal: String, _ value: Bool) throws {
        try forge("\(manager).\(signal)", at: "/org/freedesktop/login1", "\(value)")
    }

    func forge(_ signal: String, at path: String, _ arguments: String...) throws {
        let names = try run(
            "/usr/bin/gdbus",
            [
                "call", "--system", "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus",
                "--method",
                "org.freedesktop.DBus.ListNames",
            ])
        for name in names.split(separator: "'").filter({ $0.hasPrefix(":") }) {
            // Those who have left since are no error.
            _ = try? run(
                "/usr/bin/gdbus",
                ["emit", "--system", "--dest", String(name), "--object-path", path, "--signal", signal] + arguments)
        }
    }

    /// "sleep delay" for each lock that is held.
    func inhibitors() throws -> [String] {
        let text = try run(
            "/usr/bin/gdbus",
            ["call", "--system", "--dest", "org.freedesktop.login1"] + object + [
                "--method", manager + ".ListInhibitors",
            ])
        let words = text.split(separator: "'", omittingEmptySubsequences: false).map(String.init)
        return words.indices.filter { words[$0] == "Curfew" && $0 >= 2 && $0 + 4 < words.count }
            .map { "\(words[$0 - 2]) \(words[$0 + 4])" }.sorted()
    }

    /// How often the logind that is there, or was there last, has been called so.
    func calls(of method: String) throws -> Int {
        let log = try String(contentsOfFile: directory + "/logind.log", encoding: .utf8)
        return log.split(separator: "\n").filter { line in
            let words = line.split(separator: " ")
            return words.count > 1 && words[1] == method[...]
        }.count
    }

    private let manager = "org.freedesktop.login1.Manager"
    private let object = ["--object-path", "/org/freedesktop/login1"]

    private func mock(_ method: String, _ arguments: String...) throws {
        try run(
            "/usr/bin/gdbus",
            ["call", "--system", "--dest", "org.freedesktop.login1"] + object + [
                "--method", "org.freedesktop.DBus.Mock." + method,
            ] + arguments)
    }

    // MARK: Processes

    private func launch(_ path: String, _ arguments: [String]) throws -> Program {
        try Program(path, arguments, environment: ["PATH=/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS=\(address)"])
    }

    @discardableResult
    private func run(_ path: String, _ arguments: [String]) throws -> String {
        let program = try launch(path, arguments)
        let output = program.readAll()
        try #require(program.wait() == 0, "\(path) \(arguments.joined(separator: " "))")
        return output
    }

    private func end(_ program: Program?) {
        program?.signal(SIGKILL)
        _ = program?.wait()
    }
}
