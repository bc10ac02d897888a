internal import Configuration
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls
internal import Varlink

/// The way an instance hears of its transitions. Each call is answered, at some time or never, by `handlerReturned`;
/// the core keeps the time.
protocol DelegateChannel: AnyObject {
    /// A descriptor that the app inherits as number 3.
    var inherited: Int32? { get }
    /// The app has its own copy of `inherited`.
    func didSpawn()
    func deliver(_ call: CallID, _ handler: HandlerCall, allowance: Nanoseconds)
    /// Its command did not get to run in time, and must not run any more.
    func giveUp(_ call: CallID)
    /// No reply is awaited.
    func inform(_ information: Information)
    /// Whether the app may put a connection of its own in the place of this one.
    var takesConnections: Bool { get }
    /// Calls go over this connection from now on, the outstanding one again; the one before is closed.
    func attach(_ connection: Connection)
    /// A connection of the app's was closed, perhaps that one.
    func didLose(_ connection: Connection, _ reason: CloseReason)
    /// READY=1 came over the notify socket.
    func didBecomeReady()
    /// An earlier loop has delivered it; its answer counts.
    func goOn(_ call: CallID, _ handler: HandlerCall)
    /// The answer to it has been heard, and may come again.
    func passOver(_ call: CallID)
    /// For the next loop: what runs of a hook, and whether the app has put a connection of its own in.
    var keptHook: KeptApps.Hook? { get }
    var hasAttached: Bool { get }
    /// A call goes on though the main process has ended.
    var isBusyWithoutMain: Bool { get }
    /// Nothing is delivered or answered any more.
    func close()
}

extension DelegateChannel {
    func giveUp(_ call: CallID) {}
    func inform(_ information: Information) {}
    var takesConnections: Bool { false }
    func attach(_ connection: Connection) {}
    func didLose(_ connection: Connection, _ reason: CloseReason) {}
    func passOver(_ call: CallID) {}
    var isBusyWithoutMain: Bool { false }
    var keptHook: KeptApps.Hook? { nil }
    var hasAttached: Bool { false }
}

extension Supervisor {
    /// The one of an app that an earlier loop had in hand; nil for one that is never told.
    func regainDelegate(_ process: AppProcess, _ kept: KeptApps.Process, _ app: SupervisedApp) throws(SystemError)
        -> (any DelegateChannel)?
    {
        if let delegate = try VarlinkDelegate.regain(process, self) { return delegate }
        let credentials: Credentials? = if case .success(let found) = app.credentials { found } else { nil }
        switch app.configuration.delegate {
        case .none: return nil
        // What was kept of its connection may be lost: it attaches another.
        case .varlink: return VarlinkDelegate(process, self)
        case .hooks: return HookDelegate(process, self, credentials, regained: kept.hook)
        case .signals: return SignalDelegate(process, self)
        }
    }

    /// nil for an app that is never told.
    func makeDelegate(_ process: AppProcess, _ app: SupervisedApp, _ credentials: Credentials?) throws(SystemError)
        -> (any DelegateChannel)?
    {
        switch app.configuration.delegate {
        case .none: nil
        case .varlink: try VarlinkDelegate.make(process, self)
        case .hooks: HookDelegate(process, self, credentials, regained: nil)
        case .signals: SignalDelegate(process, self)
        }
    }
}
