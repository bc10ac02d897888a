internal import CLinux
internal import Lifecycle

/// What is allowed, but probably not meant.
struct AppAdvice {
    private(set) var warnings: [ConfigurationError] = []
    private let accounts: KnownAccounts

    init(accounts: KnownAccounts) { self.accounts = accounts }

    mutating func warn(_ file: String, _ line: Int?, _ message: String) {
        warnings.append(ConfigurationError(file: file, line: line, message: message))
    }

    /// What can be said of one app alone.
    mutating func consider(_ app: AppConfiguration, _ source: AppFile.Result, file: String) {
        if let user = app.user {
            if accounts.user(user) == .exists(id: 0) {
                warn(file, source.userLine, "runs as root; give it a user of its own")
            }
        } else {
            warn(file, nil, "'user' is not set: it runs as curfewd's own user, which is usually root")
        }
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

    /// It is the app's user's alone: who changes it gains nothing.
    private func isOwn(_ program: stat, _ app: AppConfiguration) -> Bool {
        guard let user = app.user, case .exists(let id) = accounts.user(user) else { return false }
        return program.st_uid == id && program.st_mode & 0o022 == 0
    }

    /// Programs that are not there, or cannot be run. They may come later, so a load does not mind.
    mutating func considerPrograms(_ app: AppConfiguration, _ source: AppFile.Result, file: String) {
        let programs = app.exec.prefix(1).map { ($0, source.execLine) }
        let hooks = app.hooks.flatMap { $0.command.prefix(1) }.map { ($0, source.hooksLine) }
        for (program, line) in programs + hooks {
            var status = stat()
            if linux_stat(program, &status) != 0 {
                warn(file, line, "the program \(readable(program)) is not there")
            } else if FileKind(status) != .regular || status.st_mode & 0o111 == 0 {
                warn(file, line, "\(readable(program)) is not an executable file")
            } else if !isOwn(status, app), let why = Ownership.objection(to: status) {
                warn(file, line, "the program \(readable(program)) \(why)")
            }
        }
    }
}
