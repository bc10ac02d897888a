internal import Lifecycle

/// The end of all apps comes in waves, those first that no app comes after.
///
/// - Whose turn it is, or was before a reload moved it, is asked with its wave; an app whose handler runs is excused
///   until that returns.
/// - What a willTerminate is told leaves each of the waves that are still to come as much.
final class WaveChecker: Checker {
    static let hears: [EventKind]? = [.configured, .stopping, .killedForMemory, .requested]
    static let sees: [EffectKind]? = [.call, .endNotice]

    private var order = LaunchOrder()
    private var isEnding = false
    /// MONOTONIC; nil: there is no limit.
    private var end: Nanoseconds?
    /// The level that is being ended; nil before the first wave.
    private var wave: Int?
    /// Those that end for reasons of their own.
    private var leaving: [InstanceID] = []
    /// Those that were there as a reload changed the order.
    private var reordered: [InstanceID] = []

    func heard(_ event: Event, _ scene: Scene) {
        switch event {
        case .configured:
            order.learn(scene.board.directory)
            // The present wave has the share that it was given, and those that were asked with it.
            end = nil
            if isEnding { reordered += scene.chronicle.records.map(\.instance) }
        case .app(.stopping(let instance)), .memory(.killed(let instance, _)): leaving.append(instance)
        case .client(.requested(_, .terminate(let app, _))):
            for record in scene.chronicle.records where record.app == app { leaving.append(record.instance) }
        default: break
        }
    }

    func did(_ effect: Effect, _ scene: Scene) {
        switch effect {
        case .note(.shutdown(.preparing(let allowance))):
            isEnding = true
            end = allowance.map { scene.now + $0 }
            wave = nil
        case .note(.shutdown(.cancelled)):
            isEnding = false
            wave = nil
            reordered = []
        case .app(.call(let instance, _, .willTerminate(let reason), let deadline)):
            if !scene.chronicle.isEnding, reason == "shutdown" || reason == "lowBattery" {
                violate("\(scene.name(instance)) is told of an end that was called off", scene)
            }
            guard isEnding, !order.isCircular, reason == "shutdown" || reason == "lowBattery",
                let app = scene.board.directory.app(of: instance)
            else { return }
            let level = order.level(app)
            if !isExcused(instance) {
                judgeOrder(instance, level, scene)
                wave = min(wave ?? level, level)
            }
            if let end { judgeShare(instance, level, deadline, left: end - scene.now, scene) }
        default: break
        }
    }

    private func isExcused(_ instance: InstanceID) -> Bool {
        leaving.contains(instance) || reordered.contains(instance)
    }

    private func judgeOrder(_ instance: InstanceID, _ level: Int, _ scene: Scene) {
        let client = scene.chronicle.records.first { record in
            order.level(record.app) > level && record.isSpawned && record.isAlive && !record.isKillAsked
        }
        guard let client else { return }
        violate("\(scene.name(instance)) is ended before \(scene.name(client.instance)), which comes after it", scene)
    }

    private func judgeShare(
        _ instance: InstanceID, _ level: Int, _ told: Nanoseconds, left: Nanoseconds, _ scene: Scene
    ) {
        var levels = [level]
        for record in scene.chronicle.records where record.isAlive && record.isSpawned && !record.isKillAsked {
            let other = order.level(record.app)
            if other < level, !levels.contains(other) { levels.append(other) }
        }
        guard told > left / Int64(levels.count) + .milliseconds(1) else { return }
        violate(
            "\(scene.name(instance)) is given \(told.text) of \(left.text), and \(levels.count) waves are to share it",
            scene)
    }

    /// Those that are ended first, of all that is left.
    private func highest(_ scene: Scene) -> Int? {
        scene.chronicle.records.filter { !$0.isGone }.map { order.level($0.app) }.max()
    }

    func stepped(_ step: Step, _ scene: Scene) {
        guard isEnding, !order.isCircular, let highest = highest(scene) else { return }
        let wave = min(self.wave ?? highest, highest)
        for record in scene.chronicle.records
        where record.isAlive && record.isSpawned && record.call == nil && !record.isTerminateAsked
            && !record.isKillAsked && order.level(record.app) >= wave && !isExcused(record.instance)
            // It may pass for the warning of a task that expires in this very step.
            && !step.effects.contains(.process(.terminate(record.instance)))
        {
            violate("\(scene.name(record.instance)) is not ended with its wave", scene)
        }
    }

    private func violate(_ message: String, _ scene: Scene) { scene.inspection.violate(.waves, message) }
}
