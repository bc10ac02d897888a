internal import Synchronization
internal import SystemCalls

/// What stands in for the device where there is none: time in background has no limit.
final class Desk: Sendable {
    private struct Entry {
        let task: BackgroundTask
        let keepsAwake: Bool
        let since: Int64
    }

    private struct State {
        var tasks: [Entry] = []
        var count: Int64 = 0
    }

    private let state = Mutex(State())

    func begin(_ request: BackgroundTaskRequest) -> BackgroundTask {
        state.withLock { state in
            state.count += 1
            let task = BackgroundTask(identifier: BackgroundTaskIdentifier(state.count), name: request.name)
            let since = Clocks.monotonic
            state.tasks.append(Entry(task: task, keepsAwake: request.keepAwake ?? false, since: since))
            return task
        }
    }

    func end(_ identifier: BackgroundTaskIdentifier) throws(CurfewError) {
        let isKnown = state.withLock { state in
            let before = state.tasks.count
            state.tasks.removeAll { $0.task.identifier == identifier }
            return state.tasks.count < before
        }
        if !isKnown { throw .noSuchBackgroundTask(identifier) }
    }

    var tasks: [HeldBackgroundTask] {
        let now = Clocks.monotonic
        return state.withLock { state in
            state.tasks.map {
                HeldBackgroundTask(
                    task: $0.task, keepsAwake: $0.keepsAwake, timeHeld: .nanoseconds(now - $0.since))
            }
        }
    }

    /// An app that is used, on a board that lacks nothing.
    static let applicationState = ApplicationState(
        name: "", scenePhase: .active, taskState: .running, backgroundTimeRemaining: nil,
        backgroundRefreshStatus: .available, isLowPowerMode: false, thermalState: .nominal)
}
