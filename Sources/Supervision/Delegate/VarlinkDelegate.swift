internal import EventLoop
internal import Journal
internal import Lifecycle
internal import SystemCalls
internal import Varlink

/// For apps that use a client library: the app serves `io.curfew.Delegate` on one end of a socket pair it inherits, and
/// a handler has returned when its reply has come.
final class VarlinkDelegate: DelegateChannel {
    private unowned(unsafe) let process: AppProcess
    private unowned(unsafe) let supervisor: Supervisor
    private var watched: WatchedConnection?
    /// The app's end, until it has it.
    private var theirs: FileDescriptor?
    /// The connection that the app has put in its place.
    private var attached: Connection?
    private var isClosed = false
    private var outstanding: (call: CallID, handler: HandlerCall)?

    init(_ process: AppProcess, _ supervisor: Supervisor) throws(SystemError) {
        self.process = process
        self.supervisor = supervisor
        let pair = try SocketPair()
        theirs = .some(pair.theirs)
        let connection = Connection(owning: pair.ours, role: .client)
        let disposal = supervisor.disposal
        connection.refuseDescriptors { disposal.close($0) }
        watched = try WatchedConnection(connection, supervisor)
        connection.onClosed = { [unowned(unsafe) self] _, reason in
            watched?.stopWatching()
            say(reason)
        }
    }

    var inherited: Int32? {
        switch theirs {
        case .some(let descriptor): descriptor.rawValue
        case .none: nil
        }
    }

    func didSpawn() { theirs = nil }
    func didBecomeReady() {}

    func deliver(_ call: CallID, _ handler: HandlerCall, allowance: Nanoseconds) {
        outstanding = (call, handler)
        send(call, handler, allowance: allowance)
    }

    var takesConnections: Bool { !isClosed }

    func attach(_ connection: Connection) {
        // No answer is taken over it any more: the process that holds its other end may outlive the app, and us.
        self.connection?.close()
        attached = connection
        // The one before may have gone down with the call unread.
        let now = Nanoseconds(rawValue: Clocks.monotonic)
        if let (call, handler) = outstanding, let left = supervisor.core.timeLeft(of: call, process.instance, at: now) {
            send(call, handler, allowance: left)
        }
    }

    func inform(_ information: Information) {
        let method: String
        let parameters: JSONObject
        switch information {
        case .didReceiveMemoryWarning(let level):
            method = "DidReceiveMemoryWarning"
            parameters = ["level": .string(level.name)]
        case .powerStateDidChange(let externalPower, let batteryLevel, let lowPowerMode):
            method = "PowerStateDidChange"
            parameters = [
                "externalPower": .bool(externalPower), "batteryLevel": JSON(batteryLevel.map { Double($0) / 100 }),
                "lowPowerMode": .bool(lowPowerMode),
            ]
        case .thermalStateDidChange(let state):
            method = "ThermalStateDidChange"
            parameters = ["state": .string(state.name)]
        }
        _ = connection?.call(Call("io.curfew.Delegate." + method, parameters, oneway: true))
    }

    private var connection: Connection? { attached ?? watched?.connection }

    private func send(_ call: CallID, _ handler: HandlerCall, allowance: Nanoseconds) {
        var parameters: JSONObject = ["deadline": .number(allowance.seconds)]
        switch handler {
        case .didFinishLaunching(let reason): parameters["reason"] = .string(reason.name)
        case .willTerminate(let reason): parameters["reason"] = .string(reason)
        case .backgroundTaskWillExpire(let task, let name):
            parameters["identifier"] = .integer(task.rawValue)
            parameters["name"] = .string(name)
        case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground: break
        }
        // What cannot be sent stays unanswered: its time runs all the same.
        connection?.call(Call("io.curfew.Delegate." + handler.handler.method, parameters)) {
            [unowned(unsafe) self] response in
            didRespond(response, call, handler.handler)
        }
    }

    private func didRespond(_ response: Response, _ call: CallID, _ handler: Handler) {
        switch response {
        case .reply: break
        case .connectionClosed: return
        case .error(let name, _):
            let unimplemented = ["org.varlink.service.MethodNotImplemented", "org.varlink.service.MethodNotFound"]
            if !unimplemented.contains(name) {
                supervisor.log.handlerFailed(process.app.name, handler, "the app replied with error \(name)")
            }
        }
        if outstanding?.call == call { outstanding = nil }
        supervisor.dispatch(.app(.handlerReturned(process.instance, call)))
    }

    func didLose(_ connection: Connection, _ reason: CloseReason) {
        if attached === connection { say(reason) }
    }

    private func say(_ reason: CloseReason) {
        switch reason {
        case .closedHere, .endOfStream: break
        case .system, .protocolError, .outputOverflow, .messageTooLong:
            supervisor.log.caused(
                by: process.app.name, .warning,
                "its delegate connection was closed: \(reason.text); handlers return when it attaches a new one")
        }
    }

    func close() {
        isClosed = true
        theirs = nil
        attached?.close()
        watched?.connection.close()
    }
}
