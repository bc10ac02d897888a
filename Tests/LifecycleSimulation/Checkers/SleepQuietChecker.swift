internal import Lifecycle

/// From the first `true` edge until the board is awake nothing is launched and nobody is thawed, but those that hold
/// tasks in a dark wake, or in a sleep of which it is in doubt whether it is one.
final class SleepQuietChecker: Checker {
    static let hears: [EventKind]? = []
    static let sees: [EffectKind]? = [.spawn, .thaw]

    func did(_ effect: Effect, _ scene: Scene) {
        guard scene.sleep.isBinding else { return }
        switch effect {
        case .spawn(let app, _, _, _):
            scene.inspection.violate(.quietInSleep, "\(scene.name(app)) is launched in a sleep")
        case .thaw(let instance):
            // A sleep that is in doubt freezes no app: what froze it was something else.
            if scene.sleep.isDoubtful { return }
            if scene.sleep.isDark, scene.chronicle.record(instance)?.tasks.isEmpty == false { return }
            scene.inspection.violate(.quietInSleep, "\(scene.name(instance)) is thawed in a sleep")
        case .call, .terminate, .kill, .clear, .freeze, .nameCulprits, .takeLock, .releaseLock,
            .readPreparingForSleep, .sleepHandled, .setWakeAlarm, .suspendDevice, .report, .reply, .inform,
            .taskChanged, .note,
            .appChanged, .deviceChanged, .powerOff, .pollBoard, .readMemory, .watchMemoryLimit, .feedHardwareWatchdog,
            .restHardwareWatchdog, .wakeHardwareWatchdog, .restServiceWatchdog, .wakeServiceWatchdog,
            .stopDaemon:
            break
        }
    }
}
