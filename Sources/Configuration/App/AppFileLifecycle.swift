internal import Lifecycle

/// The keys that the core works with.
extension AppFile {
    mutating func readLifecycle() {
        if let launch = root.choice(
            "launch", [("boot", LaunchPolicy.boot), ("manual", .manual), ("on-demand", .onDemand)])
        {
            app.policy.launch = launch
        }
        if let start = root.choice("start", [("active", ScenePhase.active), ("background", .background)]) {
            app.policy.start = start
        }
        if let readiness = root.choice("readiness", [("launch", Readiness.launch), ("notify", .notify)]) {
            app.policy.readiness = readiness
        }
        if let suspend = root.boolean("suspend") { app.policy.suspend = suspend }
        app.policy.liveness = root.duration("liveness", .milliseconds(100)...Nanoseconds.seconds(86_400))
        if let band = root.integer("priority-band", 0...1000) { app.policy.priorityBand = band }
        if let essential = root.boolean("essential") { app.policy.isEssential = essential }
    }

    mutating func readRestart() {
        if let restart = root.choice(
            "restart", [("always", RestartPolicy.always), ("on-failure", .onFailure), ("never", .never)])
        {
            app.policy.restart = restart
        }
        if let delay = root.duration("restart-delay", .zero...Nanoseconds.seconds(3600)) {
            app.policy.restartDelay = delay
        }
        if let delay = root.duration("restart-delay-max", .zero...Nanoseconds.seconds(86_400)) {
            app.policy.restartDelayMax = delay
        }
        if let time = root.duration("restart-reset", .milliseconds(1)...Nanoseconds.seconds(604_800)) {
            app.policy.restartReset = time
        }
        if let limit = root.integer("restart-limit", 1...1_000_000) { app.policy.restartLimit = limit }
        if app.policy.restartDelay > app.policy.restartDelayMax {
            root.problems.add(
                root.line(of: "restart-delay-max") ?? root.line(of: "restart-delay"),
                "'restart-delay' (\(app.policy.restartDelay.text)) is more than 'restart-delay-max' "
                    + "(\(app.policy.restartDelayMax.text))")
        }
    }

    mutating func readAfter() {
        for name in root.strings("after", expected: "an array of apps' names") ?? [] where !root.problems.isFull {
            if !AppName.isWellFormed(name) {
                root.problems.add(
                    root.line(of: "after"), "'after' holds \"\(readable(name))\", which is no app's name")
            } else if !app.policy.after.contains(name) {
                app.policy.after.append(name)
            }
        }
    }

    mutating func readAllowances() {
        guard let table = root.table("allowances", .app) else { return }
        for handler in AppKey.timed {
            if let time = table.duration(handler.key, Self.allowance) { app.policy.allowances[handler] = time }
        }
        if let time = table.duration(AppKey.fetch, Self.allowance) { app.background.fetchAllowance = time }
        if let time = table.duration(AppKey.remoteNotification, Self.allowance) {
            app.background.remoteNotificationAllowance = time
        }
        if let time = table.duration(AppKey.backgroundSession, Self.allowance) {
            app.background.backgroundSessionAllowance = time
        }
    }

    mutating func readDelegate() {
        let choices: [(String, AppConfiguration.Delegate)] = [
            ("varlink", .varlink), ("hooks", .hooks), ("signals", .signals), ("none", .none),
        ]
        if let delegate = root.choice("delegate", choices) { app.delegate = delegate }
        readHooks()
        readSignals()
        // A file may keep what another delegate would use.
        if app.delegate != .hooks { app.hooks = [] }
        if app.delegate != .signals { (app.signals, app.acknowledge) = ([], true) }
        switch app.delegate {
        case .none: app.policy.handlers = []
        case .varlink: app.policy.handlers = .all
        case .hooks: app.policy.handlers = app.hooks.reduce(into: []) { $0.insert(HandlerSet($1.handler)) }
        case .signals: app.policy.handlers = app.signals.reduce(into: []) { $0.insert(HandlerSet($1.handler)) }
        }
    }

    private mutating func readHooks() {
        guard let table = root.table("hooks", .app) else { return }
        for handler in Handler.allCases {
            if let command = table.command(handler.key) {
                app.hooks.append(AppConfiguration.Hook(handler: handler, command: command))
            }
        }
    }

    private mutating func readSignals() {
        guard let table = root.table("signals", .app) else { return }
        if let acknowledge = table.boolean("acknowledge") { app.acknowledge = acknowledge }
        for handler in Handler.allCases {
            guard let text = table.string(handler.key, expected: "a signal's name") else { continue }
            if let number = SignalName.number(text) {
                app.signals.append(AppConfiguration.HandlerSignal(handler: handler, signal: number))
            } else if let entry = table.entry(handler.key) {
                table.mismatch(
                    entry, expected: "the name of a signal that a program can catch, such as \"SIGUSR1\"")
            }
        }
    }
}
