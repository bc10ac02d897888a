internal import Configuration
internal import ControlGroup
internal import Journal
internal import Lifecycle
internal import SystemCalls

// The configuration, at start and when it is read again.

extension Supervisor {
    /// Tells the core what is configured, and lets it begin.
    func start() {
        sayProblems(configuration)
        dispatch(.freezing(available: groups != nil))
        apply(configuration)
        dispatch(.started)
    }

    /// Reads the files again. The names of the apps that changed; with an error nothing does.
    func reload() -> Result<[String], ConfigurationError> {
        let next = Configuration.load(paths: ConfigurationPaths(root: paths.root.isEmpty ? nil : paths.root))
        if let error = next.allErrors.first {
            sayProblems(next)
            log.daemon(.error, "the configuration was not reloaded", .configurationInvalid)
            return .failure(error)
        }
        let changed = configuration.names(changedIn: next)
        configuration = next
        sayProblems(next)
        apply(next)
        log.daemon(
            .info,
            changed.isEmpty
                ? "configuration reloaded"
                : "configuration reloaded: "
                    + changed.joined(separator: ", "), .configurationReloaded)
        return .success(changed)
    }

    private func sayProblems(_ configuration: Configuration) {
        for warning in configuration.warnings { log.daemon(.warning, warning.text, .configurationInvalid) }
        for error in configuration.allErrors { log.daemon(.error, error.text, .configurationInvalid) }
    }

    /// What runs keeps its process; it is started by its new configuration the next time.
    private func apply(_ configuration: Configuration) {
        let valid = configuration.validApps
        configured = [:]
        for app in valid { configured[app.policy.name] = app }
        for app in apps.values {
            if let configuration = configured[app.name] { app.update(configuration) }
        }
        dispatch(.configured(valid.map { $0.policy }, configuration.device.policy))
    }

    /// The shell's side of an app, made when it is first needed.
    func supervised(_ id: AppID) -> SupervisedApp? {
        if let app = apps[id.rawValue] { return app }
        guard let name = core.view(of: id)?.name, let configuration = configured[name] else { return nil }
        let app = SupervisedApp(id, configuration)
        apps[id.rawValue] = app
        return app
    }
}

extension Configuration {
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
        var names: [String] = []
        for app in next.apps where !apps.contains(app) { names.append(app.name) }
        for app in apps where !next.apps.contains(where: { $0.name == app.name }) { names.append(app.name) }
        return names.sorted()
    }
}
