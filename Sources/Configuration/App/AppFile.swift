internal import Lifecycle

/// Reads an app's file into an `AppConfiguration`.
enum AppFile {
    /// What the file says, with the lines that later checks speak about.
    struct Result {
        var entry: AppEntry
        var afterLine: Int?
        var userLine: Int?
        var execLine: Int?
        var hooksLine: Int?
        var signalsLine: Int?
        var startLine: Int?
        var sandboxLine: Int?
        var devicesLine: Int?
        /// Where they are asked for.
        var keys: [ConfigurationKey] = []
    }

    /// name: from the file's name, already known to be well formed or not.
    static func parse(
        _ bytes: [UInt8], name: String, file: String, sandbox: SandboxConfiguration.Level = .standard,
        accounts: KnownAccounts, lists: Bool = false
    ) -> Result {
        let problems = Problems(file: file)
        if let objection = AppName.objection(name) { problems.add(nil, objection) }
        var result = Result(entry: .invalid(name: readable(name), errors: []))
        let value = Document.read(bytes, problems)
        if value != nil || lists {
            let root =
                value.map { TomlTable($0, name: "", problems: problems) } ?? TomlTable(name: "", Problems(file: file))
            let keys = KeyWalk(root, lists: lists)
            var app = AppConfiguration(name: name, exec: [])
            app.take(sandbox)
            app = read(keys, app, accounts)
            result.afterLine = root.line(of: "after")
            result.userLine = root.line(of: "user")
            result.execLine = root.line(of: "exec")
            result.hooksLine = root.line(of: "hooks")
            result.signalsLine = root.line(of: "signals")
            result.sandboxLine = root.line(of: "sandbox")
            result.devicesLine = root.line(of: "devices")
            result.startLine = root.line(of: "start")
            result.keys = keys.keys
            result.entry = .valid(app)
        }
        if !problems.isEmpty { result.entry = .invalid(name: readable(name), errors: problems.sorted) }
        return result
    }

    private static func read(
        _ keys: KeyWalk, _ app: AppConfiguration, _ accounts: KnownAccounts
    ) -> AppConfiguration {
        var file = AppKeys(keys: keys, accounts: accounts, app: app)
        file.walk()
        keys.refuseUnknown(AppKeys.refusals)
        var app = file.app
        relate(app, keys.table)
        if app.sandbox.filtersSystemCalls { app.forbidsNewPrivileges = true }
        // A file may keep what another delegate would use.
        if app.delegate != .hooks { app.hooks = [] }
        if app.delegate != .signals { (app.signals, app.acknowledge) = ([], true) }
        switch app.delegate {
        case .none: app.policy.handlers = []
        case .varlink: app.policy.handlers = .all
        case .hooks: app.policy.handlers = app.hooks.reduce(into: []) { $0.insert(HandlerSet($1.handler)) }
        case .signals: app.policy.handlers = app.signals.reduce(into: []) { $0.insert(HandlerSet($1.handler)) }
        }
        return app
    }

    /// What one key alone does not show.
    private static func relate(_ app: AppConfiguration, _ root: TomlTable) {
        let problems = root.problems
        if root.entry("exec") == nil {
            problems.add(nil, "'exec' is missing; expected exec = [\"/path/of/program\", \"argument\"]")
        }
        if app.policy.restartDelay > app.policy.restartDelayMax {
            problems.add(
                root.line(of: "restart-delay-max") ?? root.line(of: "restart-delay"),
                "'restart-delay' (\(app.policy.restartDelay.text)) is more than 'restart-delay-max' "
                    + "(\(app.policy.restartDelayMax.text))")
        }
        if let high = app.limits.memoryHigh, let max = app.limits.memoryMax, high > max {
            problems.add(
                root.inner("limits")?.line(of: "memory-high"),
                "'memory-high' in [limits] is more than 'memory-max' (\(max) bytes)")
        }
    }
}
