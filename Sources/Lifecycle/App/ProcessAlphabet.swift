/// What the kernel says of an instance.
public enum ProcessEvent: Equatable, Sendable {
    case spawned(InstanceID)
    /// code: errno; explanation: "exec /usr/bin/x: No such file or directory".
    case spawnFailed(InstanceID, code: Int32, explanation: String)
    /// The main process has ended; it may not be reaped yet. Where it was asked to end, what it has left behind has
    /// ended too, or is told of after `kill`.
    case exited(InstanceID, ExitStatus)
    /// The main process has ended as it was asked to. What it has left behind is asked too; `exited` comes when that is
    /// gone or killed.
    case leftBehind(InstanceID)
    /// Nothing is left in the control group, and it is removed.
    case groupEmptied(InstanceID)
    case frozen(InstanceID)
    /// The loop that had them in hand has died; this one has them now. What was asked of them may not have been done,
    /// and what they have said since is still to be read.
    case regained([InstanceID])
}

/// What is done to an app's processes.
public enum ProcessEffect: Equatable, Sendable {
    /// Start the app's program in a fresh control group; of a command that `curfew run` has started already, take it
    /// over (`Supervision/Task/TakeOver.swift`). Answered by `spawned` or `spawnFailed`.
    case spawn(AppID, InstanceID, LaunchReason, background: Bool)
    /// SIGTERM to the main process; to what it has left behind once that is gone.
    case terminate(InstanceID)
    /// Kill every process of the control group at once. Answered by `exited`.
    case kill(InstanceID)
    /// The main process is gone, or its start was given up: kill what is left in the control group and remove it.
    /// Answered by `groupEmptied`.
    case clear(InstanceID)
    /// Answered by `frozen`.
    case freeze(InstanceID)
    /// Not answered: a thaw that the kernel refuses is tried again by the shell.
    case thaw(InstanceID)
    /// Wait no longer for what logind says of its locks, and say which processes could not be frozen or killed. One
    /// that holds a lock of its own is left running.
    case reportStuck(InstanceID, Stuck)
}

/// What would not let go.
public enum Stuck: UInt8, Sendable {
    case unfreezable
    case unkillable
    /// Its program is still on its way to be started.
    case unstarted
}

extension DeviceLifecycle {
    mutating func hear(_ event: ProcessEvent) {
        switch event {
        case .spawned(let instance): didSpawn(instance)
        case .spawnFailed(let instance, let code, let explanation):
            spawnDidFail(instance, code: code, explanation: explanation)
        case .exited(let instance, let status): didExit(instance, status)
        case .leftBehind(let instance): mainIsGone(instance)
        case .groupEmptied(let instance): groupDidEmpty(instance)
        case .frozen(let instance): didFreeze(instance)
        case .regained(let instances): didRegain(instances)
        }
    }
}
