/// io.curfew.Application: what an app asks of the device: served by curfewd.
public enum ApplicationInterface {
    public static let name = "io.curfew.Application"
    /// Of a background task's name, in bytes. The C client has its own (`NAME_LIMIT` in Clients/c/curfew.c).
    public static let taskNameLimit = 255

    /// The socket of all, beside that of one app, which is its user's alone: for what was started as root and is
    /// another user now (EACCES).
    public static func sharedSocket(besides own: String) -> String? {
        let parts = own.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count > 2, parts[parts.count - 2].elementsEqual("apps".utf8) else { return nil }
        return parts.dropLast(2).map { String(decoding: $0, as: UTF8.self) + "/" }.joined() + name
    }

    /// The description, as GetInterfaceDescription gives it.
    public static let description = """
        # What an app asks of the device it runs on.
        # Socket: $CURFEW_SOCKET (default /run/curfew/io.curfew.Application), mode 0666. The caller is identified by \
        the kernel when
        # its connection is accepted; nothing it sends can name another app. Times are seconds; a null time means "no \
        limit".
        interface io.curfew.Application

        type ScenePhase (active, inactive, background)

        type TaskState (notRunning, running, suspended, terminating)

        type BackgroundRefreshStatus (available, denied, restricted)

        type ThermalState (nominal, fair, serious, critical)

        type State (
          app: string,
          scenePhase: ?ScenePhase,
          taskState: TaskState,
          backgroundTimeRemaining: ?float,
          backgroundRefreshStatus: BackgroundRefreshStatus,
          lowPowerMode: bool,
          thermalState: ThermalState
        )

        type BackgroundTask (
          identifier: int,
          name: string,
          keepAwake: bool,
          secondsHeld: float
        )

        # The caller's own state.
        method GetState() -> (state: State, tasks: []BackgroundTask)

        # Ask for time to finish something. Every call must be matched by EndBackgroundTask.
        # keepAwake: null takes the app's configured policy; true needs task-policy = "keep-awake".
        # processIdentifier: the task ends by itself when that process of the caller's cgroup exits.
        # timeAllowed: a limit of this task's own, within the app's pool; when it is over, its expiration handler is \
        called and it ends.
        # name: 255 bytes at most, without control characters.
        # Called with "more" there are two replies: a second one comes when the task's time is about to run out \
        (timeRemaining: what there
        # is left), or when it has ended (timeRemaining: 0). For programs that are not the app's delegate. Later \
        calls on the same
        # connection are answered after that one.
        method BeginBackgroundTask(name: string, keepAwake: ?bool, processIdentifier: ?int, timeAllowed: ?float) -> \
        (identifier: int, timeRemaining: ?float)

        method EndBackgroundTask(identifier: int) -> ()

        method GetBackgroundTimeRemaining() -> (seconds: ?float)

        # Called with "upgrade": after the reply this connection carries io.curfew.Delegate calls from the device to \
        the app, in place of the
        # inherited descriptor. For apps that were started through a wrapper that closed it, and after the daemon came \
        back from a crash.
        method AttachDelegate() -> ()

        # Seconds between background fetches; null: never. The device may make it longer.
        method SetMinimumBackgroundFetchInterval(seconds: ?float) -> (effective: ?float)

        # The peer is in no supervised app's cgroup.
        error NotAnApp ()

        error NoSuchBackgroundTask (identifier: int)

        # The app holds as many tasks as it may (64).
        error TooManyBackgroundTasks (limit: int)

        # The budget is spent, the policy does not allow it, or the app is being ended.
        error BackgroundTimeDenied (reason: string)

        # Nothing is called on this app's delegate: its configuration has another kind, or none.
        error DelegateDenied (reason: string)

        """
}
