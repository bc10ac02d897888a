internal import Configuration
internal import ControlGroup
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

// The configuration, at start and when it is read again.

extension Supervisor {
    /// Tells the core what is configured, and lets it begin; or go on from a former state, whose loop this signal has
    /// ended.
    func start(from former: KeptState.FormerState? = nil, signal: Int32? = nil) {
        if let core = former?.core, core.appIDs.contains(where: { hadFile(core.name(of: $0)) }) {
            configuration.missFolder(files)
        }
        sayProblems(configuration)
        reserveTraces()
        reports.reserve()
        recorder?.begin(with: signal == nil ? nil : former?.core)
        if let former, let core = former.core, let signal {
            resume(core, former, signal: signal)
        } else {
            letGoOfRest()
            dispatch(.freezing(available: groups != nil))
            apply(configuration)
            applyPreferences()
            dispatch(.started)
        }
        keepWatchdog()
        formerTexts = nil
        texts?.keep(by: keeper)
        keptState?.begin()
        pinnedFolders.pin(paths.folders)
    }

    /// An app of the loop before.
    private func hadFile(_ name: String?) -> Bool { name.flatMap { formerTexts?.text(of: $0) } != nil }

    /// Reads the files again. The names of what changed: apps, "curfew.toml" and "hardware profile", which no app can
    /// be called; with an error nothing does.
    func reload() -> Result<[String], ConfigurationError> {
        var (next, texts) = readConfiguration()
        if core.appIDs.contains(where: { apps[$0.rawValue]?.isAdopted != true }) { next.missFolder(files) }
        if let error = next.allErrors.first {
            sayProblems(next, isReload: true)
            log.reload(.error, "the configuration was not reloaded", .configurationInvalid)
            return .failure(error)
        }
        var changed = configuration.names(changedIn: next)
        let isOtherDevice = next.deviceMark != configuration.deviceMark
        let board = settings.board
        configuration = next
        keep(texts)
        sayProblems(next, isReload: true)
        apply(next)
        keepWatchdog()
        pinnedFolders.pin(paths.folders)
        if isOtherDevice { changed.append("curfew.toml") }
        let isOtherBoard = settings.board.mark != board.mark || settings.board.name != board.name
        if isOtherBoard { changed.append("hardware profile") }
        // What the core does not know of: the profile, the watchdog, what is polled.
        if isOtherDevice || isOtherBoard { control?.deviceDidChange() }
        let names = changed.isEmpty ? "" : ": " + changed.joined(separator: ", ")
        log.reload(.info, "configuration reloaded" + names, .configurationReloaded)
        notifier?.status(next.appCount)
        return .success(changed)
    }

    private func sayProblems(_ configuration: Configuration, isReload: Bool = false) {
        func say(_ priority: Journal.Priority, _ text: String) {
            if isReload {
                log.reload(priority, text, .configurationInvalid)
            } else {
                log.daemon(priority, text, .configurationInvalid)
            }
        }
        for error in configuration.allErrors { say(.error, error.text) }
        for warning in configuration.warnings { say(.warning, warning.text) }
    }

    /// What runs keeps its process; it is started by its new configuration the next time.
    /// tellsCore: else that goes on with what it knows.
    func apply(_ configuration: Configuration, tellsCore: Bool = true) {
        let valid = configuration.validApps
        use(configuration)
        for app in apps.values {
            if let configuration = configured(app.name), app.update(configuration) {
                detailsDidChange(app.id)
            }
        }
        findBoard(configuration)
        let policy = settings.policy(configuration.device.policy)
        tellHookLimit(policy.sleepAllowanceWithoutLogind)
        if tellsCore { dispatch(.configured(valid.map { $0.policy }, policy)) }
        followBoard()
    }

    /// The apps that are in it are those that can be started.
    func use(_ configuration: Configuration) {
        usable = [:]
        for (place, app) in configuration.apps.enumerated() where app.errors.isEmpty { usable[app.name] = place }
    }

    /// nil where there is no such app, or it cannot be used.
    func configured(_ name: String) -> AppConfiguration? {
        guard let place = usable[name], case .valid(let app) = configuration.apps[place] else { return nil }
        return app
    }

    /// The shell's side of an app, made when it is first needed.
    func supervised(_ id: AppID) -> SupervisedApp? {
        if let app = apps[id.rawValue] { return app }
        guard let name = core.view(of: id)?.name, let configuration = configured(name) else { return nil }
        let app = SupervisedApp(id, configuration, ownUsers)
        apps[id.rawValue] = app
        return app
    }
}

extension Configuration {
    /// "3 apps", for people.
    var appCount: String { apps.count == 1 ? "1 app" : "\(apps.count) apps" }

    var validApps: [AppConfiguration] {
        apps.compactMap { app in
            switch app {
            case .valid(let configuration): configuration
            case .invalid: nil
            }
        }
    }

    /// The apps that are new, gone or different in another configuration.
    func names(changedIn next: Configuration) -> [String] {
        var before: [String: Int] = [:]
        for (place, app) in apps.enumerated() { before[app.name] = place }
        var names: [String] = []
        for app in next.apps {
            if let place = before.removeValue(forKey: app.name), apps[place] == app { continue }
            names.append(app.name)
        }
        return (names + before.keys).sorted()
    }
}
