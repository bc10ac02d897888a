internal import Lifecycle

/// The keys of an app's file, each declared once: what it takes, where its value belongs, what the manual says. The
/// defaults are those of `AppConfiguration`.
struct AppKeys {
    static let refusals = [
        (
            section: "allowances", key: Handler.backgroundTaskWillExpire.key,
            why: "has no allowance of its own: its call gets what is left of the task budget"
        )
    ]

    let keys: KeyWalk
    let accounts: KnownAccounts
    var app: AppConfiguration

    mutating func walk() {
        keys.group("program")
        program()
        surroundings()
        keys.group("sandbox")
        confinement()
        keys.group("lifecycle")
        lifecycle()
        keys.group("restart")
        restart()
        keys.group("delegate")
        delegate()
        allowances()
        background()
        limits()
        hooks()
        signals()
    }

    private mutating func program() {
        keys.value(
            "exec", TomlTable.commandExpected, &app.exec,
            .init(
                "Required. No shell is involved.",
                example: #"["/path/of/program", "argument"]"#),
            show: { .list($0) }, read: { table, _ in table.command("exec") })
        keys.value(
            "description", "one line of text", &app.description,
            .init("One line for people.", example: #""text""#),
            show: { $0.isEmpty ? .unset : .text($0) }, read: AppFile.description)
    }

    private mutating func surroundings() {
        keys.value(
            "working-directory", AppFile.directoryExpected, &app.workingDirectory,
            .init("Where it starts; / by default.", example: #""/""#),
            show: { .optional($0) }, read: AppFile.directory)
        keys.value(
            "environment", "a table of strings", &app.environment,
            .init(
                "Beside these it gets a plain PATH and what is listed under ENVIRONMENT, nothing of the daemon's own.",
                example: #"{ KEY = "value" }"#),
            show: { .list($0.map { .init($0.name, $0.value) }) }, read: AppFile.environment)
        keys.value(
            "umask", AppFile.umaskExpected, &app.umask,
            .init("Of the app and its hooks. By default 0022.", example: #""0022""#),
            show: { .optional($0.map(AppFile.octal)) }, read: AppFile.umask)
        keys.integer(
            "nice", -20...19, &app.nice,
            .init(
                """
                Of the app, and not of its hooks, which are to be done soon. By default what curfewd was started with; \
                curfewd itself takes -10.
                """, example: "0"))
    }

    private mutating func lifecycle() {
        keys.word(
            "launch", [("boot", .boot), ("manual", .manual), ("on-demand", .onDemand)], &app.policy.launch,
            "When it is launched without being asked.")
        keys.word(
            "start", [("active", .active), ("background", .background)], &app.policy.start,
            "The scene phase after a launch at boot.")
        keys.word(
            "readiness", [("launch", .launch), ("notify", .notify)], &app.policy.readiness, "What ends the launch.")
        keys.boolean("suspend", &app.policy.suspend, "false: never frozen, a modem daemon, say.")
        keys.value(
            "after", "an array of apps' names", &app.policy.after,
            .init("Launched after these, frozen before them, and ended before them.", example: #"["storage"]"#),
            show: { .list($0) }, read: AppFile.after)
        keys.duration(
            "liveness", .milliseconds(100)...Nanoseconds.seconds(86_400), &app.policy.liveness,
            .init(
                "The longest time between two WATCHDOG=1; then it is killed. Not watched by default. After a reload it "
                    + "counts from the next launch on: the program knows what it was started with.",
                example: #""10s""#))
        keys.integer(
            "priority-band", 0...1000, &app.policy.priorityBand,
            "Whose end is the lesser loss when the board runs out of memory or is critically hot: lower goes first.")
        keys.boolean("essential", &app.policy.isEssential, "true: the board is worth nothing without it.")
    }

    private mutating func restart() {
        keys.word(
            "restart", [("always", .always), ("on-failure", .onFailure), ("never", .never)], &app.policy.restart,
            "After which ends it is started again.")
        keys.duration(
            "restart-delay", .zero...Nanoseconds.seconds(3600), &app.policy.restartDelay,
            "How long after its end. Doubles with each end in a row, up to `restart-delay-max`.")
        keys.duration(
            "restart-delay-max", .zero...Nanoseconds.seconds(86_400), &app.policy.restartDelayMax,
            "The longest delay.")
        keys.duration(
            "restart-reset", .milliseconds(1)...Nanoseconds.seconds(604_800), &app.policy.restartReset,
            "An uptime after which an end is not in a row any more. Time in which the app was frozen does not count.")
        keys.integer(
            "restart-limit", 1...1_000_000, &app.policy.restartLimit,
            "Ends in a row before it is left down, until `curfew launch` or `curfew activate`.")
    }

    private mutating func delegate() {
        keys.word(
            "delegate", [("varlink", .varlink), ("hooks", .hooks), ("signals", .signals), ("none", .none)],
            &app.delegate, "How the app hears of a transition.")
    }

    private mutating func allowances() {
        let range = Nanoseconds.milliseconds(1)...Nanoseconds.seconds(600)
        keys.section("allowances") {
            for handler in Handler.allCases where handler != .backgroundTaskWillExpire {
                keys.duration(handler.key, range, &app.policy.allowances[handler], "")
            }
            keys.group("background-calls")
            // Of calls that the core does not make yet.
            keys.duration("perform-fetch", range, &app.background.fetchAllowance, .withoutEffect(""))
            keys.duration(
                "did-receive-remote-notification", range, &app.background.remoteNotificationAllowance,
                .withoutEffect(""))
            keys.duration(
                "handle-events-for-background-session", range, &app.background.backgroundSessionAllowance,
                .withoutEffect(""))
        }
    }

    private mutating func background() {
        keys.section("background") {
            keys.duration(
                "task-budget", .seconds(1)...Nanoseconds.seconds(86_400), &app.policy.taskBudget,
                "What all its tasks together have when it enters background with a task held.")
            keys.word(
                "task-policy", [("opportunistic", false), ("keep-awake", true)], &app.policy.keepsAwake,
                "Whether its tasks may keep the board awake.")
            keys.value(
                "modes", AppFile.modesExpected, &app.background.modes,
                .withoutEffect("Uses for which it may go on running in background.", example: #"["audio"]"#),
                show: { .list($0.map { $0.key }) }, read: AppFile.modes)
            keys.value(
                "accessory", "a table of strings", &app.background.accessory,
                .withoutEffect(
                    "Properties that make a device its accessory, as udev names them.",
                    example: #"{ ID_VENDOR_ID = "0483" }"#),
                show: { .list($0.map { .init($0.name, $0.value) }) }, read: AppFile.accessory)
            keys.boolean(
                "refresh", &app.background.refresh, "Whether it may be updated in background; the app is told.")
            keys.duration(
                "fetch-interval", .seconds(60)...Nanoseconds.seconds(2_592_000), &app.background.fetchInterval,
                "The least time between two background fetches: bounds what the app asks for.")
        }
    }

    private mutating func limits() {
        keys.section("limits") {
            keys.size(
                "memory-high", atLeast: 1 << 20, &app.limits.memoryHigh,
                "From here on it is slowed down and hears DidReceiveMemoryWarning.")
            keys.size(
                "memory-max", atLeast: 1 << 20, &app.limits.memoryMax,
                "Here the kernel kills it; the end is recorded as jetsam, code 9.")
            // The kernel's own limit on process ids.
            keys.integer(
                "processes", 1...4_194_304, &app.limits.processes, "How many processes and threads it may have.")
        }
    }

    private mutating func hooks() {
        keys.section("hooks") {
            keys.group("handlers")
            for handler in Handler.allCases {
                var hook: [String] = []
                keys.value(
                    handler.key, TomlTable.commandExpected, &hook, "", show: { .list($0) },
                    read: { table, _ in table.command(handler.key) })
                if !hook.isEmpty { app.hooks.append(AppConfiguration.Hook(handler: handler, command: hook)) }
            }
        }
    }

    private mutating func signals() {
        keys.section("signals") {
            keys.boolean(
                "acknowledge", &app.acknowledge,
                "Whether it answers each signal with READY=1; false: the handler has returned at once.")
            keys.group("handlers")
            for handler in Handler.allCases {
                var signal: Int32?
                keys.value(
                    handler.key, AppFile.signalExpected, &signal, "",
                    show: { .optional($0.map(SignalName.text)) }, read: AppFile.signal)
                if let signal {
                    app.signals.append(AppConfiguration.HandlerSignal(handler: handler, signal: signal))
                }
            }
        }
    }
}

extension ConfigurationKey.About {
    /// Of what is checked, and not used yet.
    static func withoutEffect(_ text: String, example: String? = nil) -> Self {
        Self(
            text + (text.isEmpty ? "" : " ") + "Read and checked, and without effect in this version.",
            example: example, hasEffect: false)
    }
}
