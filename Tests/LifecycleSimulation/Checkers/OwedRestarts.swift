internal import Lifecycle

/// An app that ends by its own fault is to be started again until that has happened `restart-limit` times in a row. A
/// launch by hand begins a new row.
struct OwedRestarts {
    private struct Row {
        let app: AppID
        /// nil: it cannot be told.
        var ends: Int?
    }

    private var rows: [Row] = []
    /// Something else was asked of them since their last start.
    private var asked: [AppID] = []
    /// Launches that may yet be denied.
    private var wishes: [(id: RequestID, app: AppID)] = []
    // In this step.
    private var owed: [AppID] = []
    private var scheduled: [AppID] = []
    /// They have ended too often, or are said to have.
    private var spent: [AppID] = []
    private var leftDown: [AppID] = []

    mutating func hear(_ event: Event, _ scene: Scene) {
        switch event {
        case .configured, .login(.prepareForShutdown), .login(.available), .stopRequested:
            rows = []
            asked = scene.board.directory.entries.map(\.id)
        case .client(.requested(let id, .launch(let app, _))), .client(.requested(let id, .activate(let app))):
            if scene.refuses(id) { return }
            wishes.append((id, app))
            rows.removeAll { $0.app == app }
            // What runs already is not launched.
            let runs = scene.chronicle.records.contains { $0.app == app && !$0.isGone }
            rows.append(Row(app: app, ends: runs ? nil : 0))
            asked.append(app)
        case .client(.requested(_, .background(let app))), .client(.requested(_, .terminate(let app, _))):
            asked.append(app)
        default: break
        }
    }

    /// wasStable: whose uptime was surely long enough to begin a new row.
    mutating func see(_ effect: Effect, wasStable: AppID?, _ scene: Scene) {
        switch effect {
        case .process(.spawn(let app, _, let reason, _)):
            asked.removeAll { $0 == app }
            scheduled.append(app)
            if reason == .backgroundTask { asked.append(app) }
        case .note(.app(.restartScheduled(let app, _))): scheduled.append(app)
        case .note(.app(.leftDown(let app, _))): leftDown.append(app)
        case .note(.shutdown(.criticalBattery)):
            rows = []
            asked = scene.board.directory.entries.map(\.id)
        case .report(let end): count(end, isNewRow: wasStable == end.app, scene)
        // Undone: the row goes on, from where it was.
        case .client(.reply(let id, let outcome)):
            guard let wish = wishes.firstIndex(where: { $0.id == id }) else { return }
            let app = wishes.remove(at: wish).app
            guard outcome.isRefusal else { return }
            for index in rows.indices where rows[index].app == app { rows[index].ends = nil }
        default: break
        }
    }

    private mutating func count(_ end: Termination, isNewRow: Bool, _ scene: Scene) {
        guard let entry = scene.board.directory.entry(end.app),
            let index = rows.firstIndex(where: { $0.app == end.app })
        else { return }
        let reset = min(entry.policy.restartReset, entry.former.restartReset)
        if isNewRow {
            rows[index].ends = 1
        } else {
            rows[index].ends = scene.times.longest(end.instance) >= reset ? nil : rows[index].ends.map { $0 + 1 }
        }
        // Whether such an end counts is not for us to say.
        if asked.contains(end.app) || !isFault(end) { rows[index].ends = nil }
        let limit = min(entry.policy.restartLimit, entry.former.restartLimit)
        let isRestarted = entry.policy.restart != .never && entry.former.restart != .never
        if let ends = rows[index].ends, ends >= max(entry.policy.restartLimit, entry.former.restartLimit),
            isFault(end), !asked.contains(end.app), entry.isConfigured, !entry.isAdopted, isRestarted,
            !scene.chronicle.isEnding
        {
            spent.append(end.app)
        }
        guard let ends = rows[index].ends, ends < limit, isFault(end), !asked.contains(end.app), entry.isConfigured,
            !entry.isAdopted, isRestarted, !scene.chronicle.isEnding
        else { return }
        owed.append(end.app)
    }

    private func isFault(_ end: Termination) -> Bool {
        switch end.reason.namespace {
        case .crash, .exit, .watchdog, .launchFailure, .unknown: end.reason.isFailure
        default: false
        }
    }

    /// Whose restart is owed, and was not scheduled.
    mutating func step(_ scene: Scene) -> AppID? {
        let missing = owed.first { app in
            // One without a delay is not announced.
            let entry = scene.board.directory.entry(app)
            let isDelayed = min(entry?.policy.restartDelay ?? .zero, entry?.former.restartDelay ?? .zero) > .zero
            return !scheduled.contains(app) && (isDelayed || scene.board.core.view(of: app)?.restartPending != true)
        }
        owed = []
        scheduled = []
        return missing
    }

    /// Who ended for the last time that its limit allows, and is not said to be left down.
    mutating func exhausted() -> AppID? {
        defer {
            spent = []
            leftDown = []
        }
        return spent.first { !leftDown.contains($0) }
    }
}
