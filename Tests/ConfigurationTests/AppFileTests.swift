import Configuration
import Lifecycle
import Testing

@Suite struct AppFileTests {
    /// The first part of the contract's example; its tables for other delegates follow in their own tests.
    static let example = """
        exec = ["/usr/bin/camera", "--fps", "30"]   # required; no shell
        description = "Camera"
        user = "camera"                  # default: the daemon's; `curfew check` warns of root
        launch = "boot"                  # boot | manual | on-demand (background updates only)
        start = "active"                 # scene phase after a boot launch: active | background
        delegate = "varlink"             # varlink | hooks | signals | none
        readiness = "launch"             # launch: exec succeeded; notify: READY=1
        restart = "on-failure"           # always | on-failure | never
        restart-delay = "100ms"          # doubles to restart-delay-max; back to the start after restart-reset
        restart-delay-max = "30s"
        restart-reset = "60s"
        restart-limit = 10               # ends in a row before it is left down
        priority-band = 100              # jetsam: lower goes first
        suspend = true                   # false: never frozen (a modem daemon, say)
        after = ["storage"]              # launched after, frozen before
        liveness = "10s"                 # WATCHDOG_USEC

        [allowances]                     # per handler
        did-enter-background = "5s"

        [background]
        task-budget = "600s"
        task-policy = "opportunistic"    # opportunistic | keep-awake
        modes = ["audio", "external-accessory"]
        accessory = { subsystem = "usb", ID_VENDOR_ID = "0483" }
        refresh = true                   # may use background updates
        fetch-interval = "30min"

        [limits]
        memory-high = "128M"
        memory-max = "192M"
        processes = 64

        """

    /// What an app has whose file says nothing.
    private static func sandboxed(_ exec: [String]) -> AppConfiguration {
        var app = AppConfiguration(name: "camera", exec: exec)
        app.sandbox = SandboxConfiguration(.standard)
        app.user = "auto"
        app.forbidsNewPrivileges = true
        app.capabilities = 0
        app.limits.processes = 256
        return app
    }

    @Test func contractsExample() throws {
        var expected = Self.sandboxed(["/usr/bin/camera", "--fps", "30"])
        expected.description = "Camera"
        expected.user = "camera"
        expected.policy.launch = .boot
        expected.delegate = .varlink
        expected.policy.handlers = .all
        expected.policy.after = ["storage"]
        expected.policy.liveness = .seconds(10)
        expected.background.modes = [.audio, .externalAccessory]
        expected.background.accessory = [
            .init(name: "subsystem", value: "usb"), .init(name: "ID_VENDOR_ID", value: "0483"),
        ]
        expected.background.fetchInterval = .seconds(1800)
        expected.limits = .init(memoryHigh: 128 << 20, memoryMax: 192 << 20, processes: 64)
        #expect(try app(Self.example) == expected)
    }

    @Test func contractsExampleWithHooks() throws {
        let text = Self.example.replacing("\"varlink\"", with: "\"hooks\"")
        let app = try app(text + "[hooks]\ndid-enter-background = [\"/usr/libexec/camera/flush\"]\n")
        #expect(app.hooks == [.init(handler: .didEnterBackground, command: ["/usr/libexec/camera/flush"])])
        #expect(app.policy.handlers == HandlerSet(.didEnterBackground))
    }

    @Test func contractsExampleWithSignals() throws {
        let text = Self.example.replacing("\"varlink\"", with: "\"signals\"")
        let signals = "[signals]\ndid-enter-background = \"SIGUSR1\"\nwill-enter-foreground = \"SIGUSR2\"\n"
        let app = try app(text + signals)
        #expect(
            app.signals == [
                .init(handler: .didEnterBackground, signal: 10), .init(handler: .willEnterForeground, signal: 12),
            ])
        #expect(app.policy.handlers == [HandlerSet(.didEnterBackground), HandlerSet(.willEnterForeground)])
        #expect(app.acknowledge)
        #expect(try !self.acknowledge(text + signals + "acknowledge = false\n"))
    }

    private func acknowledge(_ text: String) throws -> Bool { try app(text).acknowledge }

    @Test func defaults() throws {
        #expect(try app(minimal) == Self.sandboxed(["/bin/true"]))
        var policy = AppPolicy(name: "camera")
        policy.launch = .boot
        #expect(try app(minimal).policy == policy)
    }

    @Test(
        arguments: [
            ("group = \"video\"", { @Sendable in $0.group = "video" }),
            ("working-directory = \"/var/lib/x\"", { $0.workingDirectory = "/var/lib/x" }),
            (
                "environment = { ZED = \"1\", ALPHA = \"\" }",
                { $0.environment = [.init(name: "ZED", value: "1"), .init(name: "ALPHA", value: "")] }
            ),
            ("umask = \"0027\"", { $0.umask = 0o027 }),
            ("umask = \"0\"", { $0.umask = 0 }),
            ("no-new-privileges = false", { $0.forbidsNewPrivileges = false }),
            ("user = \"root\"", { $0.user = "root" }),
            ("protect-system = false", { $0.sandbox.protectsSystem = false }),
            ("read-write-paths = [\"/srv\", \"/var/x\"]", { $0.sandbox.readWritePaths = ["/srv", "/var/x"] }),
            ("read-only-paths = [\"/home/pi/app\"]", { $0.sandbox.readOnlyPaths = ["/home/pi/app"] }),
            ("private-tmp = false", { $0.sandbox.hasPrivateTmp = false }),
            ("protect-home = false", { $0.sandbox.protectsHome = false }),
            ("protect-proc = false", { $0.sandbox.protectsProcesses = false }),
            ("private-devices = true", { $0.sandbox.hasPrivateDevices = true }),
            ("devices = [\"/dev/snd\"]", { $0.sandbox.devices = ["/dev/snd"] }),
            ("network = \"none\"", { $0.sandbox.network = .none }),
            ("network = \"loopback\"", { $0.sandbox.network = .loopback }),
            ("system-call-filter = true", { $0.sandbox.filtersSystemCalls = true }),
            (
                "sandbox = \"strict\"",
                {
                    $0.sandbox = SandboxConfiguration(.strict)
                    $0.sandbox.hasPrivateDevices = true
                    $0.sandbox.filtersSystemCalls = true
                }
            ),
            (
                "sandbox = \"off\"",
                {
                    $0 = AppConfiguration(name: "camera", exec: ["/bin/true"])
                    $0.sandbox.protectsSystem = false
                }
            ),
            // A filter is nothing without it.
            (
                "system-call-filter = true\nno-new-privileges = false",
                { $0.sandbox.filtersSystemCalls = true }
            ),
            ("capabilities = []", { $0.capabilities = 0 }),
            ("capabilities = [\"CAP_CHOWN\", \"CAP_CHECKPOINT_RESTORE\"]", { $0.capabilities = 1 | 1 << 40 }),
            ("nice = -20", { $0.nice = -20 }),
            ("nice = 19", { $0.nice = 19 }),
            ("launch = \"manual\"", { $0.policy.launch = .manual }),
            ("launch = \"on-demand\"", { $0.policy.launch = .onDemand }),
            ("start = \"background\"", { $0.policy.start = .background }),
            ("delegate = \"none\"", { $0.delegate = .none }),
            ("readiness = \"notify\"", { $0.policy.readiness = .notify }),
            ("restart = \"always\"", { $0.policy.restart = .always }),
            ("restart = \"never\"", { $0.policy.restart = .never }),
            ("restart-delay = \"0\"", { $0.policy.restartDelay = .zero }),
            ("restart-delay-max = \"100ms\"", { $0.policy.restartDelayMax = .milliseconds(100) }),
            ("restart-reset = \"1min\"", { $0.policy.restartReset = .seconds(60) }),
            ("restart-limit = 1", { $0.policy.restartLimit = 1 }),
            ("priority-band = 0", { $0.policy.priorityBand = 0 }),
            ("essential = true", { $0.policy.isEssential = true }),
            ("suspend = false", { $0.policy.suspend = false }),
            ("after = [\"b\", \"a\", \"b\"]", { $0.policy.after = ["b", "a"] }),
            ("liveness = \"100ms\"", { $0.policy.liveness = .milliseconds(100) }),
            ("limits.memory-max = \"1G\"", { $0.limits.memoryMax = 1 << 30 }),
            ("limits.processes = 1", { $0.limits.processes = 1 }),
            ("background.task-budget = \"30s\"", { $0.policy.taskBudget = .seconds(30) }),
            ("background.task-policy = \"keep-awake\"", { $0.policy.keepsAwake = true }),
            ("background.refresh = false", { $0.background.refresh = false }),
            (
                "background.modes = [\"newsstand-content\", \"voip\", \"location\"]",
                { $0.background.modes = [.voip, .location, .newsstandContent] }
            ),
            ("allowances.perform-fetch = \"20s\"", { $0.background.fetchAllowance = .seconds(20) }),
            (
                "allowances.did-receive-remote-notification = \"21s\"",
                { $0.background.remoteNotificationAllowance = .seconds(21) }
            ),
            (
                "allowances.handle-events-for-background-session = \"22s\"",
                { $0.background.backgroundSessionAllowance = .seconds(22) }
            ),
        ] as [(String, @Sendable (inout AppConfiguration) -> Void)])
    func goodValue(line: String, change: @Sendable (inout AppConfiguration) -> Void) throws {
        var expected = Self.sandboxed(["/bin/true"])
        change(&expected)
        #expect(try app(minimal + line + "\n") == expected)
    }

    @Test(arguments: Handler.allCases) func everyHandler(handler: Handler) throws {
        var expected = Allowances()
        expected[handler] = .milliseconds(1500)
        // The expiration handler has what is left of the budget.
        if handler != .backgroundTaskWillExpire {
            let allowance = "allowances.\(handler.key) = \"1.5s\"\n"
            #expect(try app(minimal + allowance).policy.allowances == expected)
        }

        let hook = try app(minimal + "delegate = \"hooks\"\nhooks.\(handler.key) = [\"/x\", \"y\"]\n")
        #expect(hook.hooks == [.init(handler: handler, command: ["/x", "y"])])
        #expect(hook.policy.handlers == HandlerSet(handler))

        let signal = try app(minimal + "delegate = \"signals\"\nsignals.\(handler.key) = \"TERM\"\n")
        #expect(signal.signals == [.init(handler: handler, signal: 15)])
        #expect(signal.policy.handlers == HandlerSet(handler))
    }

    @Test(arguments: ["a", "camera-2", "0", "-", String(repeating: "x", count: 63), "task"])
    func goodName(name: String) throws { #expect(try app(minimal, name: name).name == name) }

    @Test func byteOrderMarkIsSkipped() throws {
        #expect(try app("\u{FEFF}" + minimal).exec == ["/bin/true"])
    }

    @Test func textOfOtherLanguages() throws {
        #expect(try app(minimal + "description = \"Kamera für Zürich 📷\"\n").description == "Kamera für Zürich 📷")
    }
}
