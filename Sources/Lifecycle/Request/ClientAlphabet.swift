/// What clients of the Control interface ask, and what apps ask about background tasks.
public enum ClientEvent: Equatable, Sendable {
    /// A call of the Control interface, or an app's about its tasks; answered by one `reply`.
    case requested(RequestID, ClientRequest)
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

/// What a client asks for: an operator, or an app (its tasks).
public enum ClientRequest: Equatable, Sendable {
    case launch(AppID, background: Bool)
    case activate(AppID)
    case background(AppID)
    case terminate(AppID, force: Bool)
    /// One edge of a sleep: the sleep hook's, or (logical) that of an operator's sleep, of which kernel and logind do
    /// not know. about: the number of the sleep that a hook's end is about, as the answer to its start said; nil: not
    /// known.
    case sleep(start: Bool, logical: Bool, about: Int? = nil)
    case beginBackgroundTask(InstanceID, TaskParameters)
    case endBackgroundTask(InstanceID, BackgroundTaskID)
    /// A process that another has started becomes an app of its own for as long as it runs: `spawn` asks for it to be
    /// taken over.
    case adopt(app: String, TaskParameters)
    /// didReceiveMemoryWarning, to one app.
    case warnOfMemory(AppID, MemoryLevel)
    /// The user's own word on low power mode; nil: automatic.
    case setLowPower(Bool?)
}

/// How a request ended: each kind has its own ends.
public enum RequestOutcome: Equatable, Sendable {
    /// Of launch, activate, background, terminate and warnOfMemory.
    case app(AppAnswer)
    case sleep(SleepAnswer)
    case beginBackgroundTask(BeginBackgroundTaskAnswer)
    case endBackgroundTask(EndBackgroundTaskAnswer)
    case adopt(AdoptAnswer)
    case setLowPower

    public var denial: Denial? {
        switch self {
        case .app(.denied(let denial)), .sleep(.denied(let denial)), .beginBackgroundTask(.denied(let denial)),
            .adopt(.denied(let denial)):
            denial
        case .app(.done), .app(.notRunning), .app(.ended), .sleep(.ready), .beginBackgroundTask(.begun),
            .beginBackgroundTask(.tooMany),
            .endBackgroundTask, .adopt(.begun), .adopt(.ended), .setLowPower:
            nil
        }
    }
}

/// What comes of a request about an app.
public enum AppAnswer: Equatable, Sendable {
    case done
    case notRunning
    /// It ended before what was asked for was complete.
    case ended(Termination)
    case denied(Denial)
}

/// What comes of an edge of a sleep.
public enum SleepAnswer: Equatable, Sendable {
    /// killed: the names of the apps that had to be ended.
    case ready(sleep: Int, killed: [String])
    case denied(Denial)
}

/// What comes of a background task that an app begins.
public enum BeginBackgroundTaskAnswer: Equatable, Sendable {
    /// timeRemaining: nil for no limit.
    case begun(BackgroundTaskID, timeRemaining: Nanoseconds?)
    case tooMany(limit: Int)
    case denied(Denial)
}

/// What comes of the end of a background task.
public enum EndBackgroundTaskAnswer: Equatable, Sendable {
    /// Also where the process that the task names is gone.
    case ended
    case noSuchTask
}

/// What comes of a process that is to be taken over.
public enum AdoptAnswer: Equatable, Sendable {
    case begun(BackgroundTaskID, timeRemaining: Nanoseconds?)
    case ended(Termination)
    case denied(Denial)
}

extension DeviceLifecycle {
    mutating func hear(_ event: ClientEvent) {
        switch event {
        case .requested(let id, let request): hear(request, as: id)
        case .abandoned(let id): abandon(id)
        }
    }

    mutating func reply(_ id: RequestID, _ outcome: RequestOutcome) { emit(.client(.reply(id, outcome))) }
}
