extension Application {
    /// Runs `body` while a background task is held, so that the app may finish it when it is not in front any more. The
    /// task is ended when the body returns or throws.
    ///
    ///     try await app.withBackgroundTask(named: "upload") { _ in
    ///         for photo in album { try await upload(photo) }
    ///     }
    ///
    /// The body is cancelled when the task's time is about to run out, and when the calling task is. A body that then
    /// throws `CancellationError` because of the former has this throw `BackgroundTaskExpired`. It has a few seconds to
    /// come to an end; an app that still holds a task when its time is over is ended.
    ///
    /// - Parameters:
    ///   - name: shown where tasks are listed, and in reports; up to 255 bytes.
    ///   - keepAwake: whether the board is kept from going to sleep of its own accord meanwhile; true needs
    ///     `task-policy = "keep-awake"` in the app's configuration, nil is what is said there.
    ///   - timeAllowed: a limit of this task's own, within what the app has.
    /// - Throws: what the body throws, `BackgroundTaskExpired`, or a `CurfewError` when there is no time to be had; the
    ///   body has not run then.
    public func withBackgroundTask<Success: Sendable>(
        named name: String, keepAwake: Bool? = nil, timeAllowed: Duration? = nil,
        _ body: @escaping @Sendable (BackgroundTask) async throws -> Success
    ) async throws -> Success {
        let work = try await startBackgroundTask(named: name, keepAwake: keepAwake, timeAllowed: timeAllowed, body)
        return try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            work.cancel()
        }
    }

    /// The same, but returns as soon as the task is held: for handlers, which must not wait for what goes on after
    /// them.
    ///
    ///     func didEnterBackground(_ app: Application, deadline: Deadline) async throws {
    ///         try await app.startBackgroundTask(named: "upload") { _ in try await uploadAll() }
    ///     }
    ///
    /// - Returns: the Swift task that the body runs in. Cancelling it cancels the body; its value is what
    ///   `withBackgroundTask` returns or throws.
    @discardableResult
    public func startBackgroundTask<Success: Sendable>(
        named name: String, keepAwake: Bool? = nil, timeAllowed: Duration? = nil,
        _ body: @escaping @Sendable (BackgroundTask) async throws -> Success
    ) async throws(CurfewError) -> Task<Success, any Error> {
        let hold = Hold()
        let request = BackgroundTaskRequest(
            name: name, keepAwake: keepAwake, timeAllowed: timeAllowed, processIdentifier: nil)
        let task = try await begin(request, hold)
        let work = Task {
            let result: Result<Success, any Error>
            do {
                result = .success(try await body(task))
            } catch is CancellationError where hold.isExpired {
                result = .failure(BackgroundTaskExpired(task: task))
            } catch {
                result = .failure(error)
            }
            await release(task, hold)
            return try result.get()
        }
        hold.onExpiration { work.cancel() }
        return work
    }

    /// Begins a background task that has to be ended by `endBackgroundTask`, at the latest when the delegate's
    /// `backgroundTaskWillExpire` is called for it. Prefer `withBackgroundTask`, which cannot forget it.
    ///
    /// - Parameters:
    ///   - endingWith: a process of this app; the task ends by itself when that process does.
    ///   - name, keepAwake, timeAllowed: as for `withBackgroundTask`.
    public func beginBackgroundTask(
        named name: String, keepAwake: Bool? = nil, timeAllowed: Duration? = nil,
        endingWith processIdentifier: Int32? = nil
    ) async throws(CurfewError) -> BackgroundTask {
        try await begin(
            BackgroundTaskRequest(
                name: name, keepAwake: keepAwake, timeAllowed: timeAllowed, processIdentifier: processIdentifier))
    }

    /// Ends a background task. Throws `noSuchBackgroundTask` when it has ended already, and `connectionLost` when the
    /// device cannot be reached: it is then ended as soon as it can.
    public func endBackgroundTask(_ task: BackgroundTask) async throws(CurfewError) {
        try await end(task.identifier)
    }
}
