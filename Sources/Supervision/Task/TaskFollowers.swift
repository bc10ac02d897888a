internal import EventLoop
internal import Journal
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls
internal import Varlink

/// Who has to hear of background tasks, and whose end is theirs.
final class TaskFollowers {
    private unowned(unsafe) let supervisor: Supervisor
    /// By BackgroundTaskID: begun with "more", and not told yet that its time runs out, or that it has ended.
    private var waiting: [Int64: Request] = [:]
    /// By BackgroundTaskID: the process that a task named.
    private var named: [Int64: (process: ProcessHandle, source: IOSource, instance: InstanceID)] = [:] {
        didSet { supervisor.keptState?.noteFollowed() }
    }

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    /// It is answered when the task is about to run out of time, or has ended.
    func keep(_ request: Request, untilExpiring task: BackgroundTaskID) {
        waiting[task.rawValue] = request
        request.onCancelled = { [unowned(unsafe) self] in waiting[task.rawValue] = nil }
    }

    /// The task ends when that process does.
    func follow(_ process: ProcessHandle, _ task: BackgroundTaskID, of instance: InstanceID) {
        do throws(SystemError) {
            let source = try supervisor.loop.watch(process.descriptor, .readable) { [unowned(unsafe) self] _ in
                named[task.rawValue]?.source.cancel()
                supervisor.answers.submit(.endBackgroundTask(instance, task))
            }
            named[task.rawValue] = (process, source, instance)
        } catch {
            supervisor.log.daemon(.warning, error.text)
        }
    }

    /// For the loop after this one.
    var kept: [KeptApps.Followed] {
        named.compactMap { task, named in
            named.process.identity.map {
                KeptApps.Followed(
                    instance: named.instance.rawValue, task: task, pid: Int64(named.process.pid), identity: $0)
            }
        }
    }

    /// What an earlier loop has followed.
    func followAgain(_ kept: KeptApps.Followed) {
        let (instance, task) = (InstanceID(rawValue: kept.instance), BackgroundTaskID(rawValue: kept.task))
        if let pid = Int32(exactly: kept.pid), let process = try? ProcessHandle.open(pid),
            process.identity == kept.identity
        {
            follow(process, task, of: instance)
        } else {
            supervisor.answers.submit(.endBackgroundTask(instance, task))
        }
    }

    func didChange(_ instance: InstanceID, _ task: BackgroundTaskView, _ change: TaskChange) {
        // Not by the core: the app may be gone from the configuration.
        let name = supervisor.processes[instance.rawValue]?.app.name ?? ""
        switch change {
        case .began: supervisor.control?.monitors.taskDidChange(name, task, ended: nil)
        case .expiring:
            answer(task)
            let left = task.timeRemaining.map { $0.text } ?? "no time"
            supervisor.log.caused(
                by: name, .notice, "background task \"\(task.name)\" is about to run out of time: \(left) left",
                .taskExpiring)
            supervisor.control?.monitors.taskDidChange(name, task, ended: nil)
        case .ended, .expired, .died:
            var last = task
            last.timeRemaining = .zero
            answer(last)
            // Let go of in the next turn of the loop: its own handler may be running.
            if let entry = named.removeValue(forKey: task.id.rawValue) {
                entry.source.cancel()
                supervisor.loop.post { _ = entry }
            }
            supervisor.control?.monitors.taskDidChange(name, task, ended: change.name)
        }
    }

    private func answer(_ task: BackgroundTaskView) {
        guard let request = waiting.removeValue(forKey: task.id.rawValue) else { return }
        request.reply([
            "identifier": .integer(task.id.rawValue), "timeRemaining": JSON(task.timeRemaining?.seconds ?? 0),
        ])
    }
}

extension TaskChange {
    /// As `ended` of io.curfew.Control's BackgroundTask.
    var name: String {
        switch self {
        case .began: "began"
        case .expiring: "expiring"
        case .ended: "ended"
        case .expired: "expired"
        case .died: "died"
        }
    }
}
