// An app that writes down what it is told, and holds a background task while it is in background.
//
//     walk TRACE_FILE [overrun] [keep-awake]

import CLinux
import Curfew
import SystemCalls

/// A line in the trace file for each thing that happens.
struct Trace: Sendable {
    let path: String

    func line(_ text: String) throws {
        try FileDescriptor.open(path, O_WRONLY | O_APPEND | O_CREAT, mode: 0o666).writeAll(Array((text + "\n").utf8))
    }
}

actor Walk: ApplicationDelegate {
    private let trace: Trace
    private let overruns: Bool
    private let keepsAwake: Bool?
    private var task: BackgroundTask?

    init(_ arguments: [String]) {
        trace = Trace(path: arguments[1])
        overruns = arguments.contains("overrun")
        keepsAwake = arguments.contains("keep-awake") ? true : nil
    }

    func didFinishLaunching(_ app: Application, reason: LaunchReason, deadline: Deadline) throws {
        try trace.line("DidFinishLaunching \(reason.rawValue)")
    }

    func didBecomeActive(_ app: Application, deadline: Deadline) throws { try trace.line("DidBecomeActive") }

    func willResignActive(_ app: Application, deadline: Deadline) throws { try trace.line("WillResignActive") }

    func didEnterBackground(_ app: Application, deadline: Deadline) async throws {
        try trace.line("DidEnterBackground")
        guard task == nil else { return }
        do {
            task = try await app.beginBackgroundTask(named: "upload", keepAwake: keepsAwake)
            let remaining = try await app.backgroundTimeRemaining
            try trace.line("began upload \(remaining.map { "\(Int(($0 / .seconds(1)).rounded()))" } ?? "inf")")
        } catch CurfewError.backgroundTimeDenied(let reason) {
            try trace.line("denied \(reason)")
        }
    }

    func willEnterForeground(_ app: Application, deadline: Deadline) async throws {
        try trace.line("WillEnterForeground")
        try await end(app)
    }

    func willTerminate(_ app: Application, reason: String, deadline: Deadline) throws {
        try trace.line("WillTerminate \(reason)")
    }

    func backgroundTaskWillExpire(_ app: Application, _ task: BackgroundTask, deadline: Deadline) async throws {
        try trace.line("BackgroundTaskWillExpire \(task.name)")
        if !overruns { try await end(app) }
    }

    func performFetch(_ app: Application, deadline: Deadline) throws -> FetchResult {
        try trace.line("PerformFetch")
        return .noData
    }

    func didReceiveRemoteNotification(
        _ app: Application, _ notification: RemoteNotification, deadline: Deadline
    ) throws -> FetchResult {
        try trace.line("DidReceiveRemoteNotification")
        return .noData
    }

    func handleEventsForBackgroundSession(_ app: Application, session: String, deadline: Deadline) throws {
        try trace.line("HandleEventsForBackgroundSession \(session)")
    }

    func powerStateDidChange(_ app: Application, _ state: PowerState) throws {
        let level = state.batteryLevel.map { "\(Int(($0 * 100).rounded()))" } ?? "-"
        try trace.line(
            "PowerStateDidChange \(state.isOnExternalPower ? "external" : "battery") \(level) "
                + (state.isLowPowerMode ? "low" : "normal"))
    }

    func thermalStateDidChange(_ app: Application, _ state: ThermalState) throws {
        try trace.line("ThermalStateDidChange \(state.rawValue)")
    }

    func didReceiveMemoryWarning(_ app: Application, level: MemoryLevel) throws {
        try trace.line("DidReceiveMemoryWarning \(level.rawValue)")
    }

    private func end(_ app: Application) async throws {
        guard let task else { return }
        self.task = nil
        try await app.endBackgroundTask(task)
        try trace.line("ended \(task.name)")
    }
}

guard CommandLine.arguments.count > 1 else {
    print("usage: walk TRACE_FILE [overrun] [keep-awake]")
    exit(2)
}
let app = try await Application.start(delegate: Walk(CommandLine.arguments))
try await app.run()
