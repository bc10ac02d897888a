/// io.curfew.Control: what an operator asks of the device: served by curfewd.
public enum ControlInterface {
    public static let name = "io.curfew.Control"

    /// The description, as GetInterfaceDescription gives it.
    public static let description = """
        # What an operator asks of the device; `curfew` is a client of this interface.
        # Socket: /run/curfew/io.curfew.Control, mode 0660, group curfew. Members of the group control apps; they are \
        not given root.
        interface io.curfew.Control

        type ScenePhase (active, inactive, background)

        type TaskState (notRunning, running, suspended, terminating)

        type SleepState (awake, preparing, asleep, darkWake)

        type ThermalState (nominal, fair, serious, critical)

        type MemoryPressure (normal, warning, critical)

        # ended: null while it is held; Monitor's last word on it is "ended" (by the app), "expired" or "died" (with \
        the app).
        type BackgroundTask (
          app: string,
          identifier: int,
          name: string,
          keepAwake: bool,
          secondsHeld: float,
          timeRemaining: ?float,
          ended: ?string
        )

        # time: RFC 3339, UTC. code: "0x8badf00d". reason: for programs, "handlerOverrun", "exited"; null: of the \
        board. explanation: the
        # same for people. event: the handler that was running, "DidEnterBackground". report: its identifier.
        type Termination (
          app: string,
          time: string,
          namespace: string,
          code: string,
          reason: ?string,
          explanation: string,
          event: ?string,
          timeAllowance: ?float,
          wallSeconds: ?float,
          cpuSeconds: ?float,
          report: ?string
        )

        # invalid: why its configuration cannot be used; then nothing else is meaningful. problems: the same, one by \
        one. leftDown: it ended
        # too often in a row, and is not restarted. statusText: what it says of itself; else how a hook has failed that
        # has not succeeded since. user: the number of the user that it was last started as. sandbox: "default",
        # "strict" or "off", of what runs or else of its next start. sandboxHas: what it is kept from, for people;
        # sandboxLacks: what it should have, and this kernel or container does not give.
        type App (
          name: string,
          invalid: ?string,
          problems: ?[]string,
          scenePhase: ?ScenePhase,
          taskState: TaskState,
          mainPID: ?int,
          priorityBand: int,
          backgroundModes: []string,
          backgroundRefresh: bool,
          backgroundTimeRemaining: ?float,
          statusText: ?string,
          memoryBytes: ?int,
          launches: int,
          leftDown: ?bool,
          user: ?int,
          sandbox: ?string,
          sandboxHas: ?[]string,
          sandboxLacks: ?[]string,
          lastTermination: ?Termination
        )

        # batteryLevel: 0 to 1. hardwareWatchdog: the device, or why there is none. hardwareWatchdogProblem: that alone;
        # null: there is one, or none is wanted. limit: why no app can come to the front. polled: what has to be looked
        # at now and then, as nothing announces it. bootCause: how the boot before this one ended. bootWasOrderly:
        # whether that is as it should be; null: not known. freezingProblem: why apps are neither frozen nor limited in
        # memory; null: they are.
        type Device (
          sleepState: SleepState,
          sleepId: int,
          externalPower: ?bool,
          batteryLevel: ?float,
          lowPowerMode: bool,
          thermalState: ThermalState,
          memoryPressure: MemoryPressure,
          profile: string,
          inhibitDelayMax: ?float,
          hardwareWatchdog: ?string,
          hardwareWatchdogProblem: ?string,
          underVoltage: bool,
          limit: ?string,
          polled: []string,
          bootCause: ?string,
          bootWasOrderly: ?bool,
          freezingProblem: ?string
        )

        method List() -> (apps: []App)

        method Describe(app: string) -> (app: App, tasks: []BackgroundTask)

        method DescribeDevice() -> (device: Device)

        # These return when the transition is complete. Launching what runs is no error.
        method Launch(app: string, background: ?bool) -> ()

        # Bring to the front, launched if need be (the app that was in front goes to background if the profile has one \
        front app).
        method Activate(app: string) -> ()

        method Background(app: string) -> ()

        method Terminate(app: string, force: ?bool) -> ()

        # changed: the names of apps, "curfew.toml" where its text is another, "hardware profile" where that, or its
        # text, is another.
        method Reload() -> (changed: []string)

        # null app: the setting for all. Not served yet.
        method SetBackgroundRefresh(app: ?string, enabled: bool) -> ()

        # Not served yet.
        method Push(app: string, payload: object) -> (delivered: bool)

        # null: automatic.
        method SetLowPowerMode(enabled: ?bool) -> ()

        # Makes a process a task of its own, `task-NAME`, with a budget, in a fresh cgroup: `curfew run` outside an \
        app forks a child that
        # waits, has it adopted, and lets it go on. The process must be a child of the caller and have the caller's \
        user.
        method AdoptTask(name: string, processIdentifier: int, keepAwake: ?bool, budget: ?float) -> (identifier: int)

        # The two edges of a sleep, for the system-sleep hook and for tests of an app. A start returns when all apps \
        are ready; killed: the
        # apps that had to be ended for it. It joins a sleep that was announced by other means; one without a kind is \
        denied when the sleep
        # is called off before. A kind but "logical" says what the kernel does: for root and the daemon's own user. An \
        end without one is
        # denied from logind's word of a sleep until the kernel has slept. sleepId: the sleep that an end is about, as \
        the start's reply
        # said; a hook's end ends no other. null: not known.
        method PrepareForSleep(start: bool, kind: ?string, sleepId: ?int) -> (sleepId: int, killed: []string)

        # since: RFC 3339, UTC, with or without a fraction of a second; what ended then or later.
        method ListTerminations(app: ?string, since: ?string) -> (terminations: []Termination)

        # Has the program that is installed by now go on where this daemon is; no app notices. Replies when it does.
        # For root and the daemon's own user. Denied, kind notUpgraded: it does not, for the reason given.
        method Upgrade() -> ()

        # Called with "more" (else org.varlink.service.ExpectedMore): first the state of everything as kinds "device", \
        "app" and "task" (detail: that
        # type), then one of kind "synchronized", then every change as it happens, those and "termination", one a reply.
        # What changes while the state of everything is said is said at once too.
        method Monitor() -> (time: string, kind: string, app: ?string, detail: object)

        error NoSuchApp (app: string)

        error NotRunning (app: string)

        # The app ended while the call waited for its transition.
        error AppEnded (termination: Termination)

        error InvalidConfiguration (file: string, line: ?int, message: string)

        # reason: "sleeping", "invalid configuration", "not your process", ... kind: for programs, which may meet \
        kinds that they do not
        # know: "sleeping", "shuttingDown", "invalidConfiguration", ...
        error Denied (reason: string, kind: ?string)

        """
}
