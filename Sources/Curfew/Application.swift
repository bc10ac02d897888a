internal import Synchronization
internal import Varlink

/// This process as an app of the device.
///
///     struct Camera: ApplicationDelegate {
///         func didEnterBackground(_ app: Application, deadline: Deadline) async { await save() }
///     }
///     let app = try await Application.start(delegate: Camera())
///     try await app.run()
///
/// It may be used from any task and thread. A thread of its own talks to the device; connections that are lost are made
/// again, after 10 ms at first and up to a second later on. Calls wait up to 5 s for the device before they throw
/// `CurfewError.connectionLost`; a cancellation does not make them shorter.
///
/// Outside Curfew, as at a developer's desk, it says so on stderr and works all the same: no handler is ever called,
/// and background tasks have no limit.
public final class Application: Sendable {
    /// The version of this library.
    public static let libraryVersion = "0.1.0"

    private enum Standing: Sendable {
        case app(name: String, DeviceThread)
        case desk(Desk)
    }

    private static let hasStarted = Mutex(false)

    let delegate: any ApplicationDelegate
    let environment: LaunchEnvironment
    private let standing: Standing
    private let holds = Mutex<[BackgroundTaskIdentifier: Hold]>([:])
    /// `willTerminate` has returned, and the device knows.
    let hasTerminated = Latch()

    // MARK: Its life

    /// Makes this process an app: from here its delegate is called. Returns when the device can call it, or has been
    /// tried once. To be called once, in the app's main process, and early: the time for `didFinishLaunching` runs
    /// already. The app lives as long as the process.
    public static func start(delegate: some ApplicationDelegate) async throws(CurfewError) -> Application {
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            return !hasStarted
        }
        guard isFirst else { throw .alreadyStarted }
        return try await start(delegate: delegate, .inherited)
    }

    static func start(
        delegate: some ApplicationDelegate, _ environment: LaunchEnvironment
    ) async throws(CurfewError) -> Application {
        guard let name = environment.app else {
            environment.say(
                "not started by Curfew (no CURFEW_APP in the environment): no handler is called, and background tasks"
                    + " have no limit. `curfew try` runs an app as a device would")
            return Application(.desk(Desk()), delegate, environment)
        }
        let thread = try DeviceThread()
        let app = Application(.app(name: name, thread), delegate, environment)
        try thread.start { DeviceLink(environment, thread) { await app.handle($0) } }
        let isSettled = Latch()
        thread.perform { link in
            link.delegate.start(inherited: environment.delegate) { isSettled.open() }
            link.timers.after(environment.patience) { isSettled.open() }
        }
        await isSettled.wait()
        return app
    }

    private init(_ standing: Standing, _ delegate: some ApplicationDelegate, _ environment: LaunchEnvironment) {
        self.standing = standing
        self.delegate = delegate
        self.environment = environment
    }

    /// Returns when `willTerminate` has returned: end the process then, as the device does soon after. Throws
    /// `CancellationError` when the task it runs in is cancelled; the app goes on.
    public func run() async throws {
        if await !hasTerminated.wait() { throw CancellationError() }
    }

    /// Closes the connections to the device; nothing is called after that, and calls throw. For tests: an app lives as
    /// long as its process.
    func stop() {
        if case .app(_, let thread) = standing { thread.stop() }
    }

    /// Whether the device that launched this process calls its delegate and limits its background tasks.
    public var isSupervised: Bool { name != nil }

    /// The app's name on the device; nil outside Curfew.
    public var name: String? {
        if case .app(let name, _) = standing { name } else { nil }
    }

    // MARK: What it may know and set

    /// Where the app stands.
    public func state() async throws(CurfewError) -> ApplicationState {
        switch standing {
        case .desk: return Desk.applicationState
        case .app(_, let thread):
            let reply = try await ask(thread, "GetState")
            guard let state = ApplicationState(reply["state"]) else { throw .unreadable("GetState") }
            return state
        }
    }

    /// The background tasks the app holds, those that its other processes began among them.
    public func tasks() async throws(CurfewError) -> [HeldBackgroundTask] {
        switch standing {
        case .desk(let desk): return desk.tasks
        case .app(_, let thread):
            let reply = try await ask(thread, "GetState")
            let tasks = reply["tasks"]?.arrayValue?.map { HeldBackgroundTask($0) }
            guard let tasks, !tasks.contains(nil) else { throw .unreadable("GetState") }
            return tasks.compactMap { $0 }
        }
    }

    /// How long the app may go on in background if it holds a task; nil: no limit, as while it is in front.
    public var backgroundTimeRemaining: Duration? {
        get async throws(CurfewError) {
            switch standing {
            case .desk: return nil
            case .app(_, let thread):
                let reply = try await ask(thread, "GetBackgroundTimeRemaining")
                return reply["seconds"]?.doubleValue.map(Duration.init(wire:))
            }
        }
    }

    /// The least time between two calls of `performFetch`; nil: never call it. Returns what the device makes of it.
    @discardableResult
    public func setMinimumBackgroundFetchInterval(_ interval: Duration?) async throws(CurfewError) -> Duration? {
        switch standing {
        case .desk: return interval
        case .app(_, let thread):
            let seconds = JSON(interval?.wireSeconds)
            let reply = try await ask(thread, "SetMinimumBackgroundFetchInterval", ["seconds": seconds])
            return reply["effective"]?.doubleValue.map(Duration.init(wire:))
        }
    }

    private func ask(
        _ thread: DeviceThread, _ method: String, _ parameters: JSONObject = [:]
    ) async throws(CurfewError) -> JSONObject {
        try await submit(thread, Call("io.curfew.Application." + method, parameters), .question) { $0 }
    }

    /// `outcome` sees the answer on the device thread, before anything else that the device sends.
    private func submit<Value: Sendable>(
        _ thread: DeviceThread, _ call: Call, _ kind: ApplicationClient.Kind,
        _ outcome: @escaping @Sendable (JSONObject) throws(CurfewError) -> Value
    ) async throws(CurfewError) -> Value {
        let patience = environment.patience
        let result: Result<Value, CurfewError> = await withCheckedContinuation { continuation in
            let isTaken = thread.perform { link in
                link.client.submit(call, kind, patience: patience) { answer in
                    let result = answer.flatMap { parameters in
                        Result { () throws(CurfewError) in try outcome(parameters) }
                    }
                    continuation.resume(returning: result)
                }
            }
            if !isTaken { continuation.resume(returning: .failure(.connectionLost("this app no longer talks to it"))) }
        }
        return try result.get()
    }

    // MARK: Holding tasks

    func begin(_ request: BackgroundTaskRequest, _ hold: Hold? = nil) async throws(CurfewError) -> BackgroundTask {
        try request.check()
        switch standing {
        case .desk(let desk): return desk.begin(request)
        case .app(_, let thread):
            let call = Call("io.curfew.Application.BeginBackgroundTask", request.parameters)
            return try await submit(thread, call, .begin) { [self] parameters throws(CurfewError) in
                guard let number = parameters["identifier"]?.intValue else { throw .unreadable("BeginBackgroundTask") }
                let identifier = BackgroundTaskIdentifier(number)
                if let hold { holds.withLock { $0[identifier] = hold } }
                return BackgroundTask(identifier: identifier, name: request.name)
            }
        }
    }

    func end(_ identifier: BackgroundTaskIdentifier) async throws(CurfewError) {
        switch standing {
        case .desk(let desk): try desk.end(identifier)
        case .app(_, let thread):
            let call = ApplicationClient.end(.integer(identifier.rawValue))
            try await submit(thread, call, .end) { _ in }
        }
    }

    /// The closure that holds the task, where it is one of this process's.
    func hold(of task: BackgroundTask) -> Hold? {
        holds.withLock { $0[task.identifier] }
    }

    /// Opens the latch after so long, if it is not open before.
    func open(_ latch: Latch, after time: Duration) {
        guard case .app(_, let thread) = standing else { return }
        let isTaken = thread.perform { $0.timers.after(time.nanoseconds) { latch.open() } }
        if !isTaken { latch.open() }
    }

    /// Ends what a closure held. Where that does not work the task has ended already, or will when the device is back.
    func release(_ task: BackgroundTask, _ hold: Hold) async {
        try? await end(task.identifier)
        holds.withLock { _ = $0.removeValue(forKey: task.identifier) }
        hold.isReleased.open()
    }
}
