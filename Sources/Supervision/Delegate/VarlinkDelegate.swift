internal import EventLoop
internal import Journal
internal import Lifecycle
internal import ProcessControl
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
    /// By the app: until it has attached one, nothing returns.
    private var isBroken = false
    private var outstanding: (call: CallID, handler: HandlerCall)?

    /// The next loop has our end by this name.
    private static func keptName(_ instance: InstanceID) -> String { "delegate/\(instance.rawValue)" }
    private var kept: KeptCopy?

    /// Without a connection: the app has put one of its own in the place of the first, and does so again.
    init(_ process: AppProcess, _ supervisor: Supervisor) {
        self.process = process
        self.supervisor = supervisor
    }

    static func make(_ process: AppProcess, _ supervisor: Supervisor) throws(SystemError) -> VarlinkDelegate {
        let pair = try SocketPair()
        let kept = supervisor.keep(keptName(process.instance), pair.ours.rawValue)
        let delegate = try VarlinkDelegate(process, supervisor, pair.ours, kept, isRegained: false)
        delegate.theirs = .some(pair.theirs)
        return delegate
    }

    /// The one of an earlier loop; nil where that had none.
    static func regain(_ process: AppProcess, _ supervisor: Supervisor) throws(SystemError) -> VarlinkDelegate? {
        let name = keptName(process.instance)
        guard let ours = supervisor.keeper.takeKept(name) else { return nil }
        let kept = KeptCopy(takenFrom: supervisor.keeper, name)
        return try VarlinkDelegate(process, supervisor, ours, kept, isRegained: true)
    }

    private init(
        _ process: AppProcess, _ supervisor: Supervisor, _ ours: consuming FileDescriptor, _ kept: KeptCopy?,
        isRegained: Bool
    ) throws(SystemError) {
        self.process = process
        self.supervisor = supervisor
        self.kept = kept
        let connection = Connection(owning: ours, role: .client)
        let disposal = supervisor.disposal
        connection.refuseDescriptors { disposal.close($0) }
        if isRegained { connection.followsAnother() }
        watched = try WatchedConnection(connection, supervisor)
        // Should the loop die with it, or of what follows from it, the next one knows.
        connection.willTakeMessage = { [unowned(unsafe) self] in willBeAnswered() }
        connection.onClosed = { [unowned(unsafe) self] _, reason in
            watched?.stopWatching()
            didBreak(reason)
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

    func goOn(_ call: CallID, _ handler: HandlerCall) {
        outstanding = (call, handler)
        watched?.connection.awaitReply { [unowned(unsafe) self] in didRespond($0, call, handler.handler) }
    }

    func passOver(_ call: CallID) { watched?.connection.passOverReply() }

    var takesConnections: Bool { !isClosed }
    var hasAttached: Bool { attached != nil || isBroken }

    func attach(_ connection: Connection) {
        // No answer is taken over it any more: the process that holds its other end may outlive the app, and us.
        self.connection?.close()
        // First what the next loop is to know: it may find neither connection.
        attached = connection
        process.wasChanged()
        kept = nil
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
        // It counts as delivered from here on.
        connection?.sendNow()
    }

    /// Nor does the next loop take an answer over it: what has come was none.
    private func didBreak(_ reason: CloseReason) {
        if reason == .closedHere { return }
        isBroken = true
        process.isNotAnswered()
        kept = nil
    }

    private func willBeAnswered() { if let call = outstanding?.call { process.isAnswering(call) } }

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
        kept = nil
        theirs = nil
        attached?.close()
        watched?.connection.close()
    }
}
