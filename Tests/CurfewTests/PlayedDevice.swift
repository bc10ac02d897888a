import CLinux
import Foundation
import SystemCalls
import Testing
import Varlink

@testable import Curfew

/// A device that is only played: it serves io.curfew.Application, calls io.curfew.Delegate, and notes what it is asked.
final class PlayedDevice: @unchecked Sendable {
    enum Answer: Sendable {
        case reply(JSONObject)
        case error(String, JSONObject)
        /// None, until `answerHeld`.
        case hold
        /// Closes the connection without one.
        case hangUp
        case attach
    }

    /// nil: what a device would do.
    typealias Script = @Sendable (_ method: String, _ parameters: JSONObject) -> Answer?

    let path = NSTemporaryDirectory() + "curfew-device-\(UUID().uuidString.prefix(8))"
    /// "BeginBackgroundTask upload", "EndBackgroundTask 1", "lost"; in the order in which they came.
    let events = Events()
    let loop = DeviceLoop()
    private let script: Script

    // For the loop's thread.
    private var delegate: Connection?
    private var tasks: [(identifier: Int64, name: String, keepAwake: Bool)] = []
    private var count: Int64 = 0
    private var held: [Request] = []

    init(listens: Bool = true, _ script: @escaping Script = { _, _ in nil }) throws {
        self.script = script
        if listens { try listen() }
    }

    deinit {
        loop.stop()
        unlink(path)
    }

    func listen() throws {
        let isListening = loop.perform { [self] in
            guard let listener = try? Listener(path: path, mode: 0o600),
                let service = try? Service(product: "played", version: "0", url: ""),
                (try? service.register(ApplicationInterface.description) { [weak self] in self?.answer($0) }) != nil
            else { return false }
            let server = Server(listener, service)
            server.onConnected = { [unowned loop] in loop.connections.append($0) }
            server.onDisconnected = { [weak self] connection, _ in self?.forget(connection) }
            loop.servers = [server]
            return true
        }
        try #require(isListening)
    }

    /// As when the daemon dies: all connections end, and no server answers at the path.
    func die() {
        loop.perform { [self] in
            for server in loop.servers { server.stop(removePath: true) }
            loop.servers = []
            delegate?.close()
        }
    }

    func closeDelegate() { loop.perform { [self] in delegate?.close() } }

    func closeClients() {
        loop.perform { [self] in for connection in loop.connections where connection !== delegate { connection.close() }
        }
    }

    private func forget(_ connection: Connection) {
        loop.connections.removeAll { $0 === connection }
        if delegate === connection {
            delegate = nil
            events.note("lost")
        }
    }

    // MARK: What the app inherits

    /// With a delegate's socket where it is wanted.
    func environment(inherits: Bool = true, patience: Duration = .seconds(20)) throws -> LaunchEnvironment {
        var environment = LaunchEnvironment(app: "played", socket: path)
        environment.patience = patience.nanoseconds
        environment.say = { [events] in events.note("said: \($0)") }
        guard inherits else { return environment }
        let pair = try SocketPair()
        environment.delegate = pair.theirs.take()
        let ours = pair.ours.take()
        loop.perform { [self] in
            let connection = Connection(owning: FileDescriptor(owning: ours), role: .client)
            connection.onClosed = { [weak self] connection, _ in self?.forget(connection) }
            loop.connections.append(connection)
            delegate = connection
        }
        return environment
    }

    // MARK: Calling the delegate

    /// Calls a handler; returns what came of it.
    @discardableResult
    func call(_ method: String, _ parameters: JSONObject = [:]) async -> Response {
        await withCheckedContinuation { continuation in
            send(method, parameters) { continuation.resume(returning: $0) }
        }
    }

    /// Calls a handler and waits for nothing.
    func send(
        _ method: String, _ parameters: JSONObject = [:], oneway: Bool = false,
        _ answer: @escaping @Sendable (Response) -> Void = { _ in }
    ) {
        loop.perform { [self] in
            var parameters = parameters
            if !oneway, parameters["deadline"] == nil { parameters["deadline"] = 20.0 }
            let call = Call("io.curfew.Delegate." + method, parameters, oneway: oneway)
            let isSent = delegate?.call(call) { [events] response in
                events.note("returned \(method)")
                answer(response)
            }
            if isSent != true { answer(.connectionClosed) }
        }
    }

    /// Bytes that are no Varlink, or half a call.
    func sendRaw(_ text: String) {
        loop.perform { [self] in
            guard let delegate else { return }
            _ = linux_unix_send(delegate.descriptor, text, text.utf8.count)
        }
    }

    // MARK: Answering

    private func answer(_ request: Request) {
        let method = String(request.method.dropFirst(ApplicationInterface.name.count + 1))
        let subject =
            request.parameters["name"]?.stringValue ?? request.parameters["identifier"].map { "\($0.intValue ?? 0)" }
        events.note([method, subject].compactMap { $0 }.joined(separator: " "))
        switch script(method, request.parameters) ?? usual(method, request.parameters) {
        case .reply(let object): request.reply(object)
        case .error(let name, let parameters): request.fail(error: name, parameters)
        case .hold: held.append(request)
        case .hangUp: request.connection?.close()
        case .attach:
            let connection = request.connection
            if request.acceptUpgrade() { delegate = connection }
        }
    }

    func answerHeld(_ answer: @escaping @Sendable (PlayedDevice) -> JSONObject) {
        loop.perform { [self] in
            for request in held { request.reply(answer(self)) }
            held = []
        }
    }

    /// What a device with time for every app answers. On the loop's thread.
    func usual(_ method: String, _ parameters: JSONObject) -> Answer {
        switch method {
        case "BeginBackgroundTask":
            count += 1
            let name = parameters["name"]?.stringValue ?? ""
            tasks.append((count, name, parameters["keepAwake"]?.boolValue ?? false))
            return .reply(["identifier": .integer(count), "timeRemaining": 600.0])
        case "EndBackgroundTask":
            let identifier = parameters["identifier"]?.intValue ?? 0
            guard let index = tasks.firstIndex(where: { $0.identifier == identifier }) else {
                let name = "io.curfew.Application.NoSuchBackgroundTask"
                return .error(name, ["identifier": .integer(identifier)])
            }
            tasks.remove(at: index)
            return .reply([:])
        case "GetBackgroundTimeRemaining": return .reply(["seconds": 599.5])
        case "SetMinimumBackgroundFetchInterval": return .reply(["effective": 900.0])
        case "AttachDelegate": return .attach
        case "GetState":
            let listed: [JSON] = tasks.map {
                [
                    "identifier": .integer($0.identifier), "name": .string($0.name), "keepAwake": .bool($0.keepAwake),
                    "secondsHeld": 1.5,
                ]
            }
            return .reply(["state": Self.state, "tasks": .array(listed)])
        default: return .error("org.varlink.service.MethodNotImplemented", ["method": .string(method)])
        }
    }

    var heldTasks: [String] { loop.perform { [self] in tasks.map(\.name) } }

    static let state: JSON = [
        "app": "played", "scenePhase": "background", "taskState": "running", "backgroundTimeRemaining": 12.25,
        "backgroundRefreshStatus": "restricted", "lowPowerMode": true, "thermalState": "fair",
    ]
}

/// What happened, for the one who waits for it. Waiting ends with the test's time limit.
struct Events: Sendable {
    private let stream: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func note(_ text: String) { continuation.yield(text) }

    /// The next so many.
    func next(_ count: Int = 1) async -> [String] {
        var found: [String] = []
        var iterator = stream.makeAsyncIterator()
        while found.count < count, let event = await iterator.next() { found.append(event) }
        return found
    }

    /// Passes over others until this one comes; false when the time is up.
    func until(_ wanted: String) async -> Bool {
        for await event in stream where event == wanted { return true }
        return false
    }

    /// All that have happened by now.
    func all() async -> [String] {
        note("now")
        var found: [String] = []
        for await event in stream {
            if event == "now" { break }
            found.append(event)
        }
        return found
    }
}
