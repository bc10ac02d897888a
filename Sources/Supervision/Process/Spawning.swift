internal import CLinux
internal import Configuration
internal import ControlGroup
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

// Starting an app's program.

extension Supervisor {
    func spawn(_ id: AppID, _ instance: InstanceID, _ reason: LaunchReason, background: Bool) {
        if let adopted = core.view(of: id).flatMap({ adoptions.removeValue(forKey: $0.name) }) {
            return takeOver(adopted.handle, for: adopted.user, id, instance)
        }
        guard let app = supervised(id) else {
            return dispatch(
                .process(.spawnFailed(instance, code: ENOENT, explanation: "it is not configured any more")))
        }
        let process: AppProcess
        do throws(LaunchFailure) {
            process = try start(app, instance, reason)
        } catch {
            return dispatch(.process(.spawnFailed(instance, code: error.code, explanation: error.text)))
        }
        app.process = process
        processes[instance.rawValue] = process
        process.wasChanged()
        keptState?.note(app: id)
        process.watchMemoryLimit()
    }

    private func start(_ app: SupervisedApp, _ instance: InstanceID, _ reason: LaunchReason) throws(LaunchFailure)
        -> AppProcess
    {
        let credentials: Credentials?
        app.renewFolder()
        switch app.credentials {
        case .success(let found): credentials = found
        case .failure(let error): throw LaunchFailure(code: ENOENT, text: error.text)
        }
        let process = AppProcess(instance, app, self, group: try makeGroup(app))
        do throws(LaunchFailure) {
            try launch(process, app, credentials, reason)
        } catch {
            process.abandon()
            throw error
        }
        return process
    }

    private func launch(
        _ process: AppProcess, _ app: SupervisedApp, _ credentials: Credentials?, _ reason: LaunchReason
    ) throws(LaunchFailure) {
        do throws(SystemError) {
            let user = credentials?.user ?? geteuid()
            if app.notify?.isUsable(by: user) != true {
                app.notify = nil
                app.notify = try NotifyReceiver(app, self)
            }
            let notify = try app.notify?.admit(only: user)
            if app.door?.isThere != true {
                app.door = nil
                app.door = try AppDoor(app, self)
            }
            try app.door?.admit(only: user)
            let channel = try makeDelegate(process, app, credentials)
            process.delegate = channel
            let output = try openOutput(app, process.instance)
            let directory = try process.group?.openDirectory()
            let directoryDescriptor: Int32? =
                switch directory {
                case .some(let open): open.rawValue
                case .none: nil
                }
            var request = app.spawnRequest(credentials, reason, paths, notify: app.notify?.path)
            try confine(&request, app, app.configuration, credentials)
            if let notify, request.sandbox?.parts.isEmpty == false { request.sandbox?.places.append(notify) }
            request.controlGroupDescriptor = directoryDescriptor
            request.standardOutput = output.output
            request.standardError = output.error
            if let descriptor = channel?.inherited {
                request.passedDescriptors = [PassedDescriptor(source: descriptor, target: 3)]
            }
            do throws(SpawnError) {
                try process.start(request)
            } catch {
                throw error.systemError
            }
            channel?.didSpawn()
        } catch {
            throw LaunchFailure(code: error.errno.rawValue, text: error.text)
        }
    }

    private func noteMissing(_ app: SupervisedApp) {
        let new = app.missingControllers.subtracting(saidMissing)
        guard !new.isEmpty else { return }
        saidMissing.formUnion(new)
        log.daemon(
            .warning,
            "limits need the control group controllers \(new.text), which are not here: \(app.name) and others run "
                + "without")
    }

    /// A fresh group for every instance: on Linux 6.18 one that has seen a kill is of no use any more.
    func makeGroup(_ app: SupervisedApp) throws(LaunchFailure) -> ControlGroup? {
        let limits = app.configuration.groupLimits
        app.missingControllers = []
        guard let groups else {
            for limit in limits { app.missingControllers.formUnion(limit.controller) }
            app.findSubstitutes()
            return nil
        }
        do throws(SystemError) {
            let group = try groups.create(app.name)
            if app.configuration.sandbox.protectsSystem { try group.forbidChildren() }
            for limit in limits {
                if case .unavailable(let controllers) = try group.apply(limit) {
                    app.missingControllers.formUnion(controllers)
                }
            }
            app.findSubstitutes()
            noteMissing(app)
            return group
        } catch {
            throw LaunchFailure(code: error.errno.rawValue, text: error.text)
        }
    }
}

extension AppProcess {
    /// It could not be asked for as a whole: the core does not know of it yet.
    func abandon() {
        delegate?.close()
        app.output?.close(instance)
        try? group?.remove()
    }
}

/// Why a program was not started. code: errno.
struct LaunchFailure: Error {
    let code: Int32
    let text: String
}

extension AppConfiguration {
    var groupLimits: [ControlGroupLimit] {
        var limits: [ControlGroupLimit] = []
        if let bytes = self.limits.memoryHigh { limits.append(.memoryHigh(bytes)) }
        if let bytes = self.limits.memoryMax { limits.append(.memoryMax(bytes)) }
        if let count = self.limits.processes { limits.append(.processes(Int64(count))) }
        return limits
    }

    func hook(for handler: Handler) -> [String]? { hooks.first { $0.handler == handler }?.command }

    func signal(for handler: Handler) -> Int32? { signals.first { $0.handler == handler }?.signal }
}

extension SupervisedApp {
    static let usualUmask: UInt32 = 0o022

    /// As systemd's services have it: nothing of the daemon's own environment.
    private static let searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    func spawnRequest(_ credentials: Credentials?, _ reason: LaunchReason, _ paths: RuntimePaths, notify: String?)
        -> SpawnRequest
    {
        var environment = baseEnvironment(configuration, credentials, paths, notify: notify)
        environment.setVariable("CURFEW_LAUNCH_REASON", reason.name)
        if configuration.delegate == .varlink { environment.setVariable("CURFEW_DELEGATE_FD", "3") }
        var request = SpawnRequest(arguments: configuration.exec, environment: environment)
        if let liveness = configuration.policy.liveness {
            request.environment.setVariable("WATCHDOG_USEC", "\(liveness.rawValue / 1000)")
            request.pidVariables = ["WATCHDOG_PID"]
        }
        request.credentials = credentials
        request.workingDirectory = configuration.workingDirectory ?? "/"
        request.umask = configuration.umask ?? Self.usualUmask
        request.nice = configuration.nice
        return request
    }

    /// What the app and its hooks have in common. The configuration's own variables win over ours, but for those of
    /// the contract.
    func baseEnvironment(
        _ configuration: AppConfiguration, _ credentials: Credentials?, _ paths: RuntimePaths, notify: String?
    ) -> [String] {
        var environment = [Self.searchPath]
        if let credentials, !credentials.name.isEmpty {
            environment += [
                "USER=\(credentials.name)", "LOGNAME=\(credentials.name)", "HOME=\(credentials.home)",
                "SHELL=\(credentials.shell)",
            ]
        } else if let credentials, !credentials.home.isEmpty {
            environment.append("HOME=\(credentials.home)")
        }
        for variable in configuration.environment where !variable.isCurfews {
            environment.setVariable(variable.name, variable.value)
        }
        if let folder = credentials?.stateDirectory, !folder.isEmpty {
            environment.setVariable("STATE_DIRECTORY", folder)
        }
        environment.setVariable("CURFEW_APP", name)
        environment.setVariable("CURFEW_SOCKET", door?.path ?? paths.applicationSocket)
        if let notify { environment.setVariable("NOTIFY_SOCKET", notify) }
        return environment
    }
}

extension [String] {
    /// Of an environment. Of a name that is there twice, programs take the one or the other.
    mutating func setVariable(_ name: String, _ value: String) {
        removeAll { $0.utf8.starts(with: (name + "=").utf8) }
        append(name + "=" + value)
    }
}
