/// What a client of the Control interface says, and apps of their background tasks.
public enum ClientEvent: Equatable, Sendable {
    /// A call of the Control interface; answered by one `reply`.
    case requested(RequestID, Request)
    /// Its client is gone: no reply is awaited any more.
    case abandoned(RequestID)
}

/// What clients are told.
public enum ClientEffect: Equatable, Sendable {
    case reply(RequestID, RequestOutcome)
    /// A background task has begun, is about to run out of time, or has ended.
    case taskChanged(AppID, InstanceID, BackgroundTaskView, TaskChange)
    /// What can be seen of an app has changed.
    case appChanged(AppID)
    case deviceChanged
}

/// What an operator asks for.
public enum Request: Equatable, Sendable {
    case launch(AppID, background: Bool)
    case activate(AppID)
    case background(AppID)
    case terminate(AppID, force: Bool)
    /// One edge of a sleep, from the sleep hook or for a logical sleep, which nothing but another edge ends. about: the
    /// number of the sleep that a hook's end is about, as the answer to its start said; nil: not known.
    case sleep(start: Bool, logical: Bool, about: Int? = nil)
    /// Answered by `taskBegun`, `tooManyTasks` or `denied`.
    case beginTask(InstanceID, TaskWish)
    /// Answered by `done` or `noSuchTask`. Also where the process that a task names is gone.
    case endTask(InstanceID, BackgroundTaskID)
    /// A process that somebody else has started becomes an app of its own for as long as it runs: `spawn` asks for
    /// it to be taken over. Answered by `taskBegun`, `appEnded` or `denied`.
    case adopt(app: String, TaskWish)
    /// didReceiveMemoryWarning, to one app.
    case warnOfMemory(AppID, MemoryLevel)
    /// The user's own word on low power mode; nil: automatic.
    case setLowPower(Bool?)
}

/// How a request ended.
public enum RequestOutcome: Equatable, Sendable {
    case done
    /// killed: the names of the apps that had to be ended.
    case sleepReady(sleep: Int, killed: [String])
    case notRunning
    case appEnded(Termination)
    /// "sleeping", "shutting down", ...
    case denied(String)
    /// timeRemaining: nil for no limit.
    case taskBegun(BackgroundTaskID, timeRemaining: Nanoseconds?)
    case tooManyTasks(limit: Int)
    case noSuchTask
}

extension DeviceLifecycle {
    mutating func hear(_ event: ClientEvent) {
        switch event {
        case .requested(let id, let request): hear(request, as: id)
        case .abandoned(let id): abandon(id)
        }
    }
}
