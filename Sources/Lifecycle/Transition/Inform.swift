// What an app is told without being waited for: of each kind the latest word, once it can hear it.

extension DeviceLifecycle {
    mutating func warnOfMemory(_ index: Int, _ level: MemoryLevel, _ request: RequestID) {
        guard apps[index].instance?.isAlive == true else { return reply(request, .app(.notRunning)) }
        apps[index].instance?.memoryWarning = level
        touch(index)
        reply(request, .app(.done))
    }

    /// Nothing is sent to a frozen app, nor after willTerminate.
    mutating func inform(_ index: Int) {
        guard let instance = apps[index].instance, instance.isLaunched,
            instance.stage == .running, instance.freezer == .thawed, instance.freezeReasons.isEmpty
        else { return }
        if let level = instance.memoryWarning {
            apps[index].instance?.memoryWarning = nil
            emit(.app(.inform(instance.id, .didReceiveMemoryWarning(level))))
        }
        if instance.knownPower != conditions.powerWord {
            apps[index].instance?.knownPower = conditions.powerWord
            emit(
                .app(
                    .inform(
                        instance.id,
                        .powerStateDidChange(
                            externalPower: conditions.lastExternal ?? true, batteryLevel: conditions.batteryLevel,
                            lowPowerMode: conditions.isLowPower))))
        }
        if instance.knownHeat != conditions.thermalState {
            apps[index].instance?.knownHeat = conditions.thermalState
            emit(.app(.inform(instance.id, .thermalStateDidChange(conditions.thermalState))))
        }
    }
}
