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
    /// A call goes on though the main process has ended.
    var isBusyWithoutMain: Bool { get }
    /// Nothing is delivered or answered any more.
    func close()
}

extension DelegateChannel {
    func inform(_ information: Information) {}
    var takesConnections: Bool { false }
    func attach(_ connection: Connection) {}
    func didLose(_ connection: Connection, _ reason: CloseReason) {}
    var isBusyWithoutMain: Bool { false }
}

extension Supervisor {
    /// nil for an app that is never told.
    func makeDelegate(_ process: AppProcess, _ app: SupervisedApp, _ credentials: Credentials?) throws(SystemError)
        -> (any DelegateChannel)?
    {
        switch app.configuration.delegate {
        case .none: nil
        case .varlink: try VarlinkDelegate(process, self)
        case .hooks: HookDelegate(process, self, credentials)
        case .signals: SignalDelegate(process, self)
        }
    }
}
