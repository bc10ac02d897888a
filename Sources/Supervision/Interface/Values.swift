internal import Configuration
internal import HardwareWatchdog
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls
internal import Varlink

// The values of io.curfew.Control and io.curfew.Application.

extension Supervisor {
    /// `Device` of io.curfew.Control.
    var deviceValue: JSON {
        let device = core.device
        var object = JSONObject()
        object["sleepState"] = .string(device.sleepState.name)
        object["sleepId"] = .integer(Int64(device.sleep))
        object["externalPower"] = device.externalPower.map { .bool($0) } ?? .null
        object["batteryLevel"] = JSON(device.batteryLevel.map { Double($0) / 100 })
        object["lowPowerMode"] = .bool(device.isLowPower)
        object["thermalState"] = .string(device.thermalState.name)
        object["memoryPressure"] = .string(device.memoryPressure.name)
        object["profile"] = .string(settings.board.name.isEmpty ? "none" : settings.board.name)
        object["inhibitDelayMax"] = JSON(device.inhibitDelayMax?.seconds)
        object["hardwareWatchdog"] = JSON(watchdog?.status)
        object["hardwareWatchdogProblem"] = JSON(watchdog?.problem)
        object["underVoltage"] = .bool(device.isUnderVoltage)
        object["limit"] = JSON(device.frontDenial?.explanation)
        object["polled"] = .array((boardWatch?.polled ?? []).map { .string($0) })
        object["bootCause"] = JSON(watchdog?.cause?.explanation)
        object["bootWasOrderly"] = JSON(watchdog?.cause?.wasOrderly)
        object["freezingProblem"] = JSON(freezingProblem)
        return .object(object)
    }

    /// `App` of io.curfew.Control.
    func appValue(_ id: AppID, _ view: AppView) -> JSON {
        let configuration = configured(view.name)
        let app = apps[id.rawValue]
        let process = view.instance.flatMap { processes[$0.rawValue] }
        var object = JSONObject()
        object["name"] = .string(view.name)
        object["invalid"] = .null
        object["problems"] = []
        object["scenePhase"] = JSON(view.phase?.name)
        object["taskState"] = .string(view.taskState.name)
        object["mainPID"] = JSON(process?.mainPID.map { Int64($0) })
        object["priorityBand"] = .integer(Int64(configuration?.policy.priorityBand ?? 100))
        object["backgroundModes"] = .array((configuration?.background.modes ?? []).map { .string($0.key) })
        object["backgroundRefresh"] = .bool(configuration?.background.refresh ?? true)
        object["backgroundTimeRemaining"] = JSON(timeRemaining(id))
        let noted = app?.failedHook?.text ?? (view.isLeftDown ? "left down after repeated failures" : nil)
        object["statusText"] = JSON(app?.statusText ?? noted)
        object["memoryBytes"] = JSON(process?.memoryBytes)
        object["launches"] = .integer(Int64(view.launches))
        object["leftDown"] = .bool(view.isLeftDown)
        object["user"] = JSON(app?.user.map { Int64($0) })
        // A reload is for the next instance. A command that was taken over has no configuration.
        let current = process.flatMap { $0.app.isAdopted ? nil : $0.configuration } ?? configuration
        object["sandbox"] = JSON(current?.sandbox.level.key)
        object["sandboxHas"] = .array((app.map { protections(of: $0, process) } ?? []).map { .string($0) })
        object["sandboxLacks"] = .array((app?.shortcomings ?? []).map { .string($0) })
        object["lastTermination"] = lastReports[id.rawValue]?.control ?? .null
        return .object(object)
    }

    /// An app whose file cannot be used.
    func invalidAppValue(_ name: String, _ errors: [ConfigurationError]) -> JSON {
        var object = JSONObject()
        object["name"] = .string(name)
        let problems = errors.map { $0.text }
        object["invalid"] = .string(problems.joined(separator: "; "))
        object["problems"] = .array(problems.map { .string($0) })
        object["scenePhase"] = .null
        object["taskState"] = "notRunning"
        object["mainPID"] = .null
        object["priorityBand"] = 0
        object["backgroundModes"] = []
        object["backgroundRefresh"] = false
        object["backgroundTimeRemaining"] = .null
        object["statusText"] = .null
        object["memoryBytes"] = .null
        object["launches"] = 0
        object["leftDown"] = false
        object["user"] = .null
        object["sandbox"] = .null
        object["sandboxHas"] = []
        object["sandboxLacks"] = []
        object["lastTermination"] = .null
        return .object(object)
    }

    /// Every configured app, the unusable ones too, by name.
    var appValues: [JSON] { appPlaces.compactMap { appValue(at: $0) } }

    /// By name: an AppID, or the complement of the place in the configuration of an app whose file cannot be used.
    var appPlaces: [Int] {
        var places: [String: Int] = [:]
        for id in core.appIDs {
            if let name = core.view(of: id)?.name { places[name] = id.rawValue }
        }
        for (index, app) in configuration.apps.enumerated() where !app.errors.isEmpty && places[app.name] == nil {
            places[app.name] = ~index
        }
        return Array(places.keys).sorted().compactMap { places[$0] }
    }

    /// nil: it is gone meanwhile.
    func appValue(at place: Int) -> JSON? {
        if place >= 0 {
            let id = AppID(rawValue: place)
            return core.view(of: id).map { appValue(id, $0) }
        }
        guard configuration.apps.indices.contains(~place) else { return nil }
        let app = configuration.apps[~place]
        return app.errors.isEmpty ? nil : invalidAppValue(app.name, app.errors)
    }

    /// `State` of io.curfew.Application.
    func applicationState(_ id: AppID, _ view: AppView) -> JSON {
        var object = JSONObject()
        object["app"] = .string(view.name)
        object["scenePhase"] = JSON(view.phase?.name)
        object["taskState"] = .string(view.taskState.name)
        object["backgroundTimeRemaining"] = JSON(timeRemaining(id))
        let refresh = configured(view.name)?.background.refresh ?? true
        object["backgroundRefreshStatus"] = .string(
            refresh ? core.device.isLowPower ? "restricted" : "available" : "denied")
        object["lowPowerMode"] = .bool(core.device.isLowPower)
        object["thermalState"] = .string(core.device.thermalState.name)
        return .object(object)
    }

    /// Seconds; nil for no limit.
    func timeRemaining(_ id: AppID) -> Double? {
        core.backgroundTimeRemaining(of: id, at: now.monotonic)?.seconds
    }

    /// `BackgroundTask` of io.curfew.Control, one each.
    func taskValues(_ id: AppID) -> [JSONObject] {
        guard let name = core.view(of: id)?.name else { return [] }
        return core.tasks(of: id, at: now.monotonic).map { taskValue(name, $0, ended: nil) }
    }

    func taskValue(_ app: String, _ task: BackgroundTaskView, ended: String?) -> JSONObject {
        var object: JSONObject = ["app": .string(app)]
        addTask(task, to: &object)
        object["timeRemaining"] = JSON(task.timeRemaining?.seconds)
        object["ended"] = JSON(ended)
        return object
    }

    /// `BackgroundTask` of io.curfew.Application, one each.
    func ownTaskValues(_ id: AppID) -> JSON {
        .array(
            core.tasks(of: id, at: now.monotonic).map { task in
                var object = JSONObject()
                addTask(task, to: &object)
                return .object(object)
            })
    }

    private func addTask(_ task: BackgroundTaskView, to object: inout JSONObject) {
        object["identifier"] = .integer(task.id.rawValue)
        object["name"] = .string(task.name)
        object["keepAwake"] = .bool(task.keepAwake)
        object["secondsHeld"] = .number(task.held.seconds)
    }
}
