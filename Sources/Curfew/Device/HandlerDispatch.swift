internal import Varlink

extension Application {
    /// Calls the delegate, and says what to reply when it has returned.
    func handle(_ call: HandlerCall) async -> HandlerOutcome {
        var outcome: HandlerOutcome
        do {
            outcome = try await callDelegate(call)
        } catch {
            environment.say("\(call.name) failed: \(error)")
            outcome = call.isUpdate ? HandlerOutcome(.failed) : HandlerOutcome()
        }
        if case .willTerminate = call { outcome.onReplied = { [hasTerminated] in hasTerminated.open() } }
        return outcome
    }

    private func callDelegate(_ call: HandlerCall) async throws -> HandlerOutcome {
        switch call {
        case .didFinishLaunching(let reason, let deadline):
            try await delegate.didFinishLaunching(self, reason: reason, deadline: deadline)
        case .didBecomeActive(let deadline): try await delegate.didBecomeActive(self, deadline: deadline)
        case .willResignActive(let deadline): try await delegate.willResignActive(self, deadline: deadline)
        case .didEnterBackground(let deadline): try await delegate.didEnterBackground(self, deadline: deadline)
        case .willEnterForeground(let deadline): try await delegate.willEnterForeground(self, deadline: deadline)
        case .willTerminate(let reason, let deadline):
            try await delegate.willTerminate(self, reason: reason, deadline: deadline)
        case .backgroundTaskWillExpire(let task, let deadline): try await expire(task, deadline)
        case .performFetch(let deadline):
            return HandlerOutcome(try await delegate.performFetch(self, deadline: deadline))
        case .didReceiveRemoteNotification(let notification, let deadline):
            return HandlerOutcome(
                try await delegate.didReceiveRemoteNotification(self, notification, deadline: deadline))
        case .handleEventsForBackgroundSession(let session, let deadline):
            try await delegate.handleEventsForBackgroundSession(self, session: session, deadline: deadline)
        case .didReceiveMemoryWarning(let level): try await delegate.didReceiveMemoryWarning(self, level: level)
        case .powerStateDidChange(let state): try await delegate.powerStateDidChange(self, state)
        case .thermalStateDidChange(let state): try await delegate.thermalStateDidChange(self, state)
        }
        return HandlerOutcome()
    }

    /// A closure that holds the task is cancelled, and the device hears that the handler has returned when it has
    /// ended: so it is not suspended in the middle of cleaning up. One that does not stop is waited for nine tenths of
    /// the time only: a task with a time of its own then ends on the device, and the app lives on.
    private func expire(_ task: BackgroundTask, _ deadline: Deadline) async throws {
        let hold = hold(of: task)
        hold?.expire()
        let failure: (any Error)?
        do {
            try await delegate.backgroundTaskWillExpire(self, task, deadline: deadline)
            failure = nil
        } catch {
            failure = error
        }
        if let hold {
            open(hold.isReleased, after: deadline.timeRemaining * 9 / 10)
            await hold.isReleased.wait()
        }
        if let failure { throw failure }
    }
}

/// What a handler came to.
struct HandlerOutcome: Sendable {
    var parameters: JSONObject = [:]
    /// Called when the reply has been sent.
    var onReplied: (@Sendable () -> Void)?

    init() {}

    init(_ result: FetchResult) { parameters = ["result": .string(result.rawValue)] }
}
