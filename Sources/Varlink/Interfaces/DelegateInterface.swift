/// io.curfew.Delegate: what the device calls on an app: served by the app.
public enum DelegateInterface {
    public static let name = "io.curfew.Delegate"

    /// The description, as GetInterfaceDescription gives it.
    public static let description = """
        # What the device calls on an app. The app is the Varlink *server* here: it inherits one end of a socket pair \
        as file
        # descriptor $CURFEW_DELEGATE_FD; curfewd sends a call, and the app's reply says that its handler has returned.
        # deadline: seconds from the moment of the call. Calls come one at a time.
        # The same calls come over a connection upgraded by io.curfew.Application.AttachDelegate.
        # A reply with error org.varlink.service.MethodNotImplemented or MethodNotFound counts as handled: an app \
        implements only what it needs.
        interface io.curfew.Delegate

        type LaunchReason (user, boot, restart, backgroundFetch, remoteNotification, backgroundSession, \
        backgroundTask, location, accessory)

        type FetchResult (newData, noData, failed)

        type MemoryLevel (warning, critical)

        type ThermalState (nominal, fair, serious, critical)

        method DidFinishLaunching(reason: LaunchReason, deadline: float) -> ()

        method DidBecomeActive(deadline: float) -> ()

        method WillResignActive(deadline: float) -> ()

        method DidEnterBackground(deadline: float) -> ()

        method WillEnterForeground(deadline: float) -> ()

        method WillTerminate(reason: string, deadline: float) -> ()

        # Time is about to run out: end the task now.
        method BackgroundTaskWillExpire(identifier: int, name: string, deadline: float) -> ()

        method PerformFetch(deadline: float) -> (result: FetchResult)

        method DidReceiveRemoteNotification(payload: object, deadline: float) -> (result: FetchResult)

        # All transfers of a background session are done; the reply says that it is safe to suspend the app again.
        method HandleEventsForBackgroundSession(session: string, deadline: float) -> ()

        # Information, sent with "oneway": true; no reply.
        method DidReceiveMemoryWarning(level: MemoryLevel) -> ()

        method PowerStateDidChange(externalPower: bool, batteryLevel: ?float, lowPowerMode: bool) -> ()

        method ThermalStateDidChange(state: ThermalState) -> ()

        # The handler itself failed. It counts as handled; the device writes it down.
        error HandlerFailed ()

        """
}
