/// What the device tells an app. Implement the handlers you need; the others return at once.
///
/// Handlers of one app never overlap: the next is called when the one before has returned. Until a handler has
/// returned the transition that it belongs to is not complete, and when it has not at its deadline the app is ended.
/// They run in the Swift concurrency pool, so do not block its threads.
///
/// A handler that throws counts as returned; what it threw is written to stderr.
public protocol ApplicationDelegate: Sendable {
    /// The app was launched, and why. The first call; the app is ready when this has returned.
    func didFinishLaunching(_ app: Application, reason: LaunchReason, deadline: Deadline) async throws

    /// The app is in front now.
    func didBecomeActive(_ app: Application, deadline: Deadline) async throws

    /// The app stays in sight but is not the one that is used any more: pause.
    func willResignActive(_ app: Application, deadline: Deadline) async throws

    /// The app is not seen any more. Save what matters: it may be suspended or gone after this. To go on with
    /// something, hold a background task when this returns, as `Application.startBackgroundTask` does.
    func didEnterBackground(_ app: Application, deadline: Deadline) async throws

    /// On the way back to the front; `didBecomeActive` follows.
    func willEnterForeground(_ app: Application, deadline: Deadline) async throws

    /// The app is about to be ended. Nothing is called after this, and `Application.run` returns. reason: what ends it,
    /// such as "user" or "shutdown". An app that is suspended is ended without this call.
    func willTerminate(_ app: Application, reason: String, deadline: Deadline) async throws

    /// A background task's time is about to run out: end it now. An app that still holds one at the end of its time is
    /// ended. Called for the newest task first. Tasks that a closure holds (`withBackgroundTask`) were cancelled
    /// already and end themselves.
    func backgroundTaskWillExpire(_ app: Application, _ task: BackgroundTask, deadline: Deadline) async throws

    /// Time to look for new data; says whether there was any.
    func performFetch(_ app: Application, deadline: Deadline) async throws -> FetchResult

    /// A message came from far away; says whether there is new data because of it.
    func didReceiveRemoteNotification(
        _ app: Application, _ notification: RemoteNotification, deadline: Deadline
    ) async throws -> FetchResult

    /// All transfers of a background session are done. When this returns the app may be suspended again.
    func handleEventsForBackgroundSession(_ app: Application, session: String, deadline: Deadline) async throws

    /// Memory is short: give up what can be made again. The device does not wait for this one.
    func didReceiveMemoryWarning(_ app: Application, level: MemoryLevel) async throws

    /// The power supply, the battery (in steps of 5 %) or low power mode changed: save energy without external power,
    /// and more of it in low power mode. The device does not wait for this one.
    func powerStateDidChange(_ app: Application, _ state: PowerState) async throws

    /// The board became hotter or cooler: from serious on do less, as critical may end the app. The device does not
    /// wait for this one.
    func thermalStateDidChange(_ app: Application, _ state: ThermalState) async throws
}

extension ApplicationDelegate {
    public func didFinishLaunching(_ app: Application, reason: LaunchReason, deadline: Deadline) async throws {}
    public func didBecomeActive(_ app: Application, deadline: Deadline) async throws {}
    public func willResignActive(_ app: Application, deadline: Deadline) async throws {}
    public func didEnterBackground(_ app: Application, deadline: Deadline) async throws {}
    public func willEnterForeground(_ app: Application, deadline: Deadline) async throws {}
    public func willTerminate(_ app: Application, reason: String, deadline: Deadline) async throws {}
    public func backgroundTaskWillExpire(_ app: Application, _ task: BackgroundTask, deadline: Deadline) async throws {}
    public func performFetch(_ app: Application, deadline: Deadline) async throws -> FetchResult { .noData }
    /// Finds no new data.
    public func didReceiveRemoteNotification(
        _ app: Application, _ notification: RemoteNotification, deadline: Deadline
    ) async throws -> FetchResult { .noData }
    /// Has nothing to do.
    public func handleEventsForBackgroundSession(_ app: Application, session: String, deadline: Deadline) async throws {
    }
    public func didReceiveMemoryWarning(_ app: Application, level: MemoryLevel) async throws {}
    public func powerStateDidChange(_ app: Application, _ state: PowerState) async throws {}
    public func thermalStateDidChange(_ app: Application, _ state: ThermalState) async throws {}
}
