import Foundation
import Varlink

@testable import CurfewCommands

/// A curfewd that is only played: it serves io.curfew.Control, and io.curfew.Application on the same socket, in a root
/// of its own, on a thread of its own, and answers as a test says.
final class PlayedDaemon: @unchecked Sendable {
    enum Answer {
        case reply(JSONObject)
        case replies([JSONObject])
        /// A first reply; the others never come.
        case open(JSONObject)
        case error(String, JSONObject)
        /// Nothing, ever.
        case silence
        /// Closes the connection without an answer.
        case hangUp

        /// The first block of `Monitor`.
        static func state(apps: [JSON], tasks: [JSON] = [], then changes: [JSONObject] = []) -> Answer {
            let state = [Sample.change("device", Sample.device)] + apps.map { Sample.change("app", $0) }
            return .replies(
                state + tasks.map { Sample.change("task", $0) } + [Sample.change("synchronized", [:])] + changes)
        }
    }

    typealias Script = @Sendable (String, JSONObject) -> Answer

    let root: String
    private let script: Script
    private let stop: [Int32]
    private let stopped = DispatchSemaphore(value: 0)

    init(_ script: @escaping Script) throws {
        root = NSTemporaryDirectory() + "curfew-\(UUID().uuidString.prefix(8))"
        let directory = root + "/run/curfew"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        self.script = script
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        stop = ends
        let ready = DispatchSemaphore(value: 0)
        let path = directory + "/io.curfew.Control"
        Thread.detachNewThread { [self] in
            serve(path, ready)
            stopped.signal()
        }
        ready.wait()
    }

    private func serve(_ path: String, _ ready: DispatchSemaphore) {
        defer { ready.signal() }
        guard let listener = try? Listener(path: path, mode: 0o600),
            let service = try? Service(product: "played", version: "0", url: ""),
            (try? service.register(ControlInterface.description) { self.answer($0) }) != nil,
            (try? service.register(ApplicationInterface.description) { self.answer($0) }) != nil
        else { return }
        let loop = DescriptorLoop()
        let server = Server(listener, service)
        var sources: [Int32: DescriptorLoop.Source] = [:]
        server.onConnected = { connection in
            sources[connection.descriptor] = loop.watch(
                connection.descriptor,
                { (connection.wantsRead ? POLLIN : 0) | (connection.wantsWrite ? POLLOUT : 0) },
                { events in
                    if events & POLLIN != 0 { connection.onReadable() }
                    if events & POLLOUT != 0 { connection.onWritable() }
                    if events & (POLLHUP | POLLERR) != 0 { connection.onHangup() }
                })
        }
        server.onDisconnected = { connection, _ in sources.removeValue(forKey: connection.descriptor)?.cancel() }
        loop.watch(readable: server.descriptor) { server.onAcceptable() }
        var isOver = false
        loop.watch(readable: stop[0]) { isOver = true }
        ready.signal()
        _ = loop.run { isOver }
        server.stop(removePath: true)
    }

    private func answer(_ request: Request) {
        let method = request.method.split(separator: ".").last.map(String.init) ?? ""
        switch script(method, request.parameters) {
        case .reply(let object): request.reply(object)
        case .replies(let objects):
            for object in objects { request.reply(continuing: object) }
            request.fail(error: "org.varlink.service.MethodNotImplemented")
        case .open(let object): request.reply(continuing: object)
        case .error(let name, let parameters): request.fail(error: name, parameters)
        case .silence: break
        case .hangUp: request.connection?.close()
        }
    }

    deinit {
        _ = write(stop[1], "x", 1)
        stopped.wait()
        close(stop[0])
        close(stop[1])
        try? FileManager.default.removeItem(atPath: root)
    }

    // MARK: Running the tool against it

    struct Outcome {
        let code: Int32
        let output: String
        let error: String
    }

    func run(_ arguments: String...) -> Outcome { Self.run(["--root", root] + arguments) }

    var controlSocket: String { root + "/run/curfew/io.curfew.Control" }

    /// As a process of an app would.
    func runInside(_ arguments: String...) -> Outcome {
        Self.run(arguments, environment: ["CURFEW_APP": "camera", "CURFEW_SOCKET": controlSocket])
    }

    static func run(_ arguments: [String], width: Int? = nil, environment: [String: String] = [:]) -> Outcome {
        var output = ""
        var error = ""
        let console = Console.captured(output: { output += $0 }, error: { error += $0 }, width: width)
        let code = CurfewTool.run(arguments, console) { environment[$0] }
        return Outcome(code: code, output: output, error: error)
    }
}

/// Values as the daemon sends them.
enum Sample {
    static func app(_ name: String, _ changes: JSONObject = [:]) -> JSON {
        var object: JSONObject = [
            "name": .string(name), "invalid": .null, "scenePhase": "active", "taskState": "running", "mainPID": 1234,
            "priorityBand": 100, "backgroundModes": [], "backgroundRefresh": true, "backgroundTimeRemaining": .null,
            "statusText": .null, "memoryBytes": 12_900_000, "launches": 1, "lastTermination": .null,
        ]
        for member in changes.members { object[member.name] = member.value }
        return .object(object)
    }

    static func change(_ kind: String, _ detail: JSON) -> JSONObject {
        [
            "time": "2026-11-21T05:48:23.123Z", "kind": .string(kind),
            "app": detail["app"] ?? detail["name"] ?? .null, "detail": detail,
        ]
    }

    static func task(_ name: String, _ changes: JSONObject = [:]) -> JSON {
        var object: JSONObject = [
            "app": "camera", "identifier": 7, "name": .string(name), "keepAwake": false, "secondsHeld": 3.0,
            "timeRemaining": .null, "ended": .null,
        ]
        for member in changes.members { object[member.name] = member.value }
        return .object(object)
    }

    static let budget: JSON = [
        "app": "camera", "time": "2026-11-21T05:48:23.123Z", "namespace": "backgroundTask", "code": "0x2182bad2",
        "reason": "taskBudgetSpent",
        "explanation": "background task \"upload\" was still held when the budget of 10 min was spent", "event": .null,
        "timeAllowance": 600.0, "wallSeconds": 600.0, "cpuSeconds": 1.5, "report": "18",
    ]

    static let device: JSON = [
        "sleepState": "awake", "sleepId": 3, "externalPower": false, "batteryLevel": 0.82, "lowPowerMode": false,
        "thermalState": "nominal", "memoryPressure": "normal", "profile": "auto", "inhibitDelayMax": 5.0,
        "hardwareWatchdog": .null,
    ]

    static let overrun: JSON = [
        "app": "camera", "time": "2026-11-21T05:48:23.123Z", "namespace": "watchdog", "code": "0x8badf00d",
        "reason": "handlerOverrun", "explanation": "scene-update: DidEnterBackground did not return within 5 s",
        "event": "DidEnterBackground",
        "timeAllowance": 5.0, "wallSeconds": 5.0004, "cpuSeconds": 0.02, "report": "17",
    ]
}
