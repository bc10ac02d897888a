internal import CLinux
internal import Lifecycle

/// What is allowed, but probably not meant.
struct AppAdvice {
    private(set) var warnings: [ConfigurationError] = []
    let accounts: KnownAccounts
    let owners: Ownership

    init(accounts: KnownAccounts, owners: Ownership) {
        self.accounts = accounts
        self.owners = owners
    }

    mutating func warn(_ file: String, _ line: Int?, _ message: String) {
        warnings.append(ConfigurationError(file: file, line: line, message: message))
    }

    /// What can be said of one app alone.
    mutating func consider(_ app: AppConfiguration, _ source: AppFile.Result, file: String) {
        if let user = app.user {
            if user != AppConfiguration.ownUser, accounts.user(user) == .exists(id: 0) {
                warn(file, source.userLine, "runs as root; give it a user of its own")
            }
        } else {
            warn(
                file, nil,
                "'user' is not set: it runs as curfewd's own user, which is usually root; user = \"auto\" gives it one "
                    + "of its own")
        }
        considerSandbox(app, source, file: file)
        let stays = !app.policy.suspend || app.delegate != .none
        if app.policy.launch == .boot, app.policy.start == .background, !stays {
            warn(
                file, source.startLine,
                "is suspended as soon as it is launched; set suspend = false if it must run in background")
        }
        if app.policy.launch == .onDemand, !app.background.refresh {
            warn(file, nil, "is never launched by itself: launch = \"on-demand\" needs refresh = true in [background]")
        }
        considerDelegate(app, source, file: file)
        considerEnvironment(app, file: file)
    }

    /// They are left out, and the folder's name is overwritten.
    private mutating func considerEnvironment(_ app: AppConfiguration, file: String) {
        for variable in app.environment {
            let name = variable.name
            guard variable.isCurfews || app.hasStateFolder && name == "STATE_DIRECTORY" else { continue }
            warn(file, nil, "'\(name)' in environment is not used: it is curfewd's own, which sets it or leaves it out")
        }
    }

    private mutating func considerSandbox(_ app: AppConfiguration, _ source: AppFile.Result, file: String) {
        let sandbox = app.sandbox
        if sandbox.level == .off, let line = source.sandboxLine {
            warn(file, line, "is not sandboxed: it sees and can change what its user can")
        }
        if !sandbox.devices.isEmpty, !sandbox.hasPrivateDevices {
            warn(file, source.devicesLine, "'devices' is not used without private-devices = true")
        }
        for (path, line) in programs(app, source) { considerHidden(path, "the program", line, app, file) }
    }

    func programs(_ app: AppConfiguration, _ source: AppFile.Result) -> [(String, Int?)] {
        app.exec.prefix(1).map { ($0, source.execLine) }
            + app.hooks.flatMap { $0.command.prefix(1) }.map { ($0, source.hooksLine) }
    }

    private mutating func considerDelegate(_ app: AppConfiguration, _ source: AppFile.Result, file: String) {
        if let line = source.hooksLine, app.delegate != .hooks {
            warn(file, line, "[hooks] is not used without delegate = \"hooks\"")
        }
        if let line = source.signalsLine, app.delegate != .signals {
            warn(file, line, "[signals] is not used without delegate = \"signals\"")
        }
        if app.signals.contains(where: { $0.handler == .didFinishLaunching }) {
            warn(
                file, source.signalsLine,
                "did-finish-launching is sent before the program can be ready for it; readiness = \"notify\" waits for "
                    + "READY=1")
        }
        switch app.delegate {
        case .hooks where app.hooks.isEmpty: warn(file, nil, "has delegate = \"hooks\" but no [hooks]")
        case .signals where app.signals.isEmpty: warn(file, nil, "has delegate = \"signals\" but no [signals]")
        case .none, .varlink, .hooks, .signals: break
        }
    }

    /// What a start needs and does not find. It may come later, with a disk, so a load does not mind.
    mutating func considerPlaces(_ app: AppConfiguration, _ source: AppFile.Result, file: String) {
        let sandbox = app.sandbox
        var places = sandbox.readWritePaths.map { ("read-write-paths", $0) }
        places += sandbox.readOnlyPaths.map { ("read-only-paths", $0) }
        if let path = app.workingDirectory { places.append(("working-directory", path)) }
        // Its state folder is made as it is launched.
        if app.hasStateFolder { places.removeAll { $0.1 == "/var/lib/curfew-apps/" + app.name } }
        for (key, path) in places {
            var status = stat()
            if linux_stat(path, &status) != 0 {
                warn(file, nil, "\(key): \(readable(path)) is not there; without it the app is not started")
            } else if key == "read-write-paths", isRootsAlone(status), !runsAsRoot(app) {
                warn(
                    file, nil,
                    "\(key): \(readable(path)) is writable for root alone, and the app is not root's: give it to the "
                        + "app's user, whose number curfew status \(app.name) shows")
            }
        }
        if let path = app.workingDirectory { considerHidden(path, "the working-directory", nil, app, file) }
        let arguments =
            app.exec.dropFirst().map { ($0, source.execLine) }
            + app.hooks.flatMap { $0.command.dropFirst() }.map { ($0, source.hooksLine) }
        for (path, line) in arguments where path.utf8.first == UInt8(ascii: "/") {
            var status = stat()
            // What is not there yet, it may make itself.
            if linux_stat(path, &status) == 0 { considerHidden(path, "the argument", line, app, file) }
        }
    }

    private func isRootsAlone(_ place: stat) -> Bool { place.st_uid == 0 && place.st_mode & 0o022 == 0 }

    private func runsAsRoot(_ app: AppConfiguration) -> Bool {
        guard let user = app.user else { return true }
        return user != AppConfiguration.ownUser && accounts.user(user) == .exists(id: 0)
    }

    private mutating func considerHidden(
        _ path: String, _ name: String, _ line: Int?, _ app: AppConfiguration, _ file: String
    ) {
        // Of a user of the system's, its home is seen.
        guard app.user == AppConfiguration.ownUser, let folder = app.sandbox.hidden(path) else { return }
        warn(
            file, line,
            "\(name) \(readable(path)) is in \(folder), which its sandbox hides; move it, or list its folder in "
                + "read-only-paths or read-write-paths")
    }
}
