internal import CLinux
internal import Configuration
internal import ControlGroup
internal import Journal
internal import ProcessControl
internal import SystemCalls

// What an app and its hooks are kept from.

extension Supervisor {
    func confine(
        _ request: inout SpawnRequest, _ app: SupervisedApp, _ configuration: AppConfiguration,
        _ credentials: Credentials?
    ) throws(SystemError) {
        request.limits += appLimits
        if configuration.sandbox.level != .off {
            request.limits.append(ResourceLimit(resource: Int32(linux_core_limit), soft: 0, hard: 0))
        }
        if app.countsByUser, let count = configuration.limits.processes {
            request.limits.append(
                ResourceLimit(resource: Int32(linux_process_limit), soft: UInt64(count), hard: UInt64(count)))
        }
        request.forbidsNewPrivileges = configuration.forbidsNewPrivileges
        // Without root's rights it has none to give, and no way to any.
        let hasNone = geteuid() != 0 && configuration.capabilities == 0 && configuration.forbidsNewPrivileges
        request.capabilities = hasNone ? nil : configuration.capabilities
        request.sandbox = configuration.sandbox.view(for: credentials)
        // Of a daemon with a root of its own, in /tmp, say.
        if configuration.sandbox.hidden(paths.runtime) != nil {
            request.sandbox?.places.append(.readable(paths.runtime))
        }
        if configuration.sandbox.filtersSystemCalls {
            request.sandbox?.filter = try confinement.systemCalls()
        } else if configuration.keepsFromNamespaces(as: credentials?.user ?? geteuid()) {
            request.sandbox?.filter = namespaces(app)
        }
    }

    /// A board without the library goes without.
    private func namespaces(_ app: SupervisedApp) -> [UInt64] {
        do throws(SystemError) {
            return try confinement.namespaces()
        } catch {
            if confinement.saysFirst() {
                log.daemon(
                    .warning, "\(app.name) and others can make namespaces, and mount in them: " + error.text)
            }
            return []
        }
    }

    /// What an app's sandbox goes without; said once for all apps.
    func note(_ lacks: Sandbox.Parts, _ app: SupervisedApp) {
        app.sandboxLacks = lacks
        guard let new = confinement.firstTime(lacks) else { return }
        log.daemon(
            .warning,
            "the sandbox of \(app.name) and others is without \(new.text), which this kernel or container does not give"
        )
    }
}

/// What the sandboxes of all apps have in common.
struct Confinement {
    private var filter: [UInt64] = []
    private var namespaceFilter: [UInt64] = []
    private var saidNamespaces = false
    private var saidLacks: Sandbox.Parts = []

    /// Made once: the library that makes it is loaded only where an app wants it.
    mutating func systemCalls() throws(SystemError) -> [UInt64] {
        if filter.isEmpty { filter = try SystemCallFilter.make() }
        return filter
    }

    mutating func namespaces() throws(SystemError) -> [UInt64] {
        if namespaceFilter.isEmpty { namespaceFilter = try SystemCallFilter.make(namespacesAlone: true) }
        return namespaceFilter
    }

    /// As far as has been tried, there is such a filter.
    var mayFilterNamespaces: Bool { !saidNamespaces }

    /// Whether it was not said yet that there is none of these.
    mutating func saysFirst() -> Bool {
        defer { saidNamespaces = true }
        return !saidNamespaces
    }

    /// What of it was not said before; nil: all was.
    mutating func firstTime(_ lacks: Sandbox.Parts) -> Sandbox.Parts? {
        let new = lacks.subtracting(saidLacks)
        saidLacks.formUnion(new)
        return new.isEmpty ? nil : new
    }
}

extension SupervisedApp {
    /// What it should have and goes without, for people.
    var shortcomings: [String] {
        var names = sandboxLacks.names
        if missingControllers.contains(.memory) { names.append("a limit of memory") }
        if missingControllers.contains(.processes) { names.append("a limit of processes") }
        return names
    }
}

extension Supervisor {
    /// What keeps an app from what its user could do, for people. process: what runs of it, as it was started.
    func protections(of app: SupervisedApp, _ process: AppProcess?) -> [String] {
        let configuration = process?.configuration ?? app.configuration
        let (sandbox, lacks) = (configuration.sandbox, app.sandboxLacks)
        let parts = lacks.contains(.namespaces) ? [] : sandbox.parts.subtracting(lacks)
        let user = process?.user ?? app.user
        var names = parts.subtracting(.network).names
        if parts.contains(.loopback) {
            names.append("lo alone")
        } else if parts.contains(.network) {
            names.append("no network")
        }
        if sandbox.filtersSystemCalls {
            names.append("fewer system calls")
        } else if confinement.mayFilterNamespaces, configuration.keepsFromNamespaces(as: user ?? geteuid()) {
            names.append("no namespaces of its own")
        }
        if configuration.forbidsNewPrivileges { names.append("no new privileges") }
        if configuration.capabilities == 0 { names.append("no capabilities") }
        return names
    }
}

extension AppConfiguration {
    /// A filter can be had without new privileges alone. One with CAP_SYS_ADMIN may do all that in the board's own.
    func keepsFromNamespaces(as user: UInt32) -> Bool {
        let given = capabilities ?? (user == 0 ? .max : 0)
        return sandbox.restrictsNamespaces && forbidsNewPrivileges && given & (1 << UInt64(CAP_SYS_ADMIN)) == 0
    }
}

extension SandboxConfiguration {
    var parts: Sandbox.Parts {
        var parts: Sandbox.Parts = []
        if protectsSystem { parts.insert(.system) }
        if hasPrivateTmp { parts.insert(.temporary) }
        if protectsHome { parts.insert(.homes) }
        if protectsProcesses { parts.insert(.processes) }
        if hasPrivateDevices { parts.insert(.devices) }
        if hasPrivateIPC { parts.insert(.ipc) }
        switch network {
        case .full: break
        case .loopback: parts.formUnion([.network, .loopback])
        case .none: parts.insert(.network)
        }
        return parts
    }

    /// nil: the system as it is.
    func view(for credentials: Credentials?) -> Sandbox? {
        let parts = parts
        if parts.isEmpty, !filtersSystemCalls, !restrictsNamespaces, readOnlyPaths.isEmpty { return nil }
        return Sandbox(parts, places: places(credentials), isOptional: level != .strict)
    }

    private func places(_ credentials: Credentials?) -> [Sandbox.Place] {
        var places: [Sandbox.Place] = []
        let user = credentials?.user ?? geteuid()
        if let home = credentials?.home, home.utf8.count > 1, home != credentials?.stateDirectory {
            places.append(.own(home))
        }
        if let folder = credentials?.stateDirectory, !folder.isEmpty { places.append(.own(folder)) }
        places.append(.own("/run/user/\(user)"))
        places += readWritePaths.map { .writable($0) }
        places += readOnlyPaths.map { .readable($0) }
        if hasPrivateDevices { places += devices.map { .device($0) } }
        return places
    }
}
