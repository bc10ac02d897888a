internal import Lifecycle

/// Which app is meant by an identifier: every policy ever configured, and every instance ever spawned.
struct AppDirectory {
    struct Entry {
        let id: AppID
        var policy: AppPolicy
        /// What it was before the last reload: a running instance may be treated by either.
        var former: AppPolicy
        var isConfigured: Bool
        /// A process that somebody else has started.
        var isAdopted = false
    }

    private(set) var entries: [Entry] = []
    private var instances: [Int64: AppID] = [:]

    mutating func learn(from event: Event, _ effects: [Effect], _ core: WatchedCore) {
        if case .requested(let request, .adopt(let name, let wish)) = event {
            let isAnswered = effects.contains { if case .reply(request, _) = $0 { true } else { false } }
            if !isAnswered, let id = core.id(of: name) { adopt(name, wish, as: id) }
        }
        guard case .configured(let policies, _) = event else { return }
        for index in entries.indices { entries[index].isConfigured = false }
        for policy in policies {
            guard let id = core.id(of: policy.name) else { continue }
            if let index = entries.firstIndex(where: { $0.id == id }) {
                entries[index].former = entries[index].policy
                entries[index].policy = policy
                entries[index].isConfigured = true
                entries[index].isAdopted = false
            } else {
                entries.append(Entry(id: id, policy: policy, former: policy, isConfigured: true))
            }
        }
    }

    private mutating func adopt(_ name: String, _ wish: TaskWish, as id: AppID) {
        var policy = AppPolicy(name: name)
        policy.restart = .never
        if let budget = wish.timeAllowed { policy.taskBudget = budget }
        entries.removeAll { $0.id == id }
        entries.append(Entry(id: id, policy: policy, former: policy, isConfigured: false, isAdopted: true))
    }

    mutating func note(_ instance: InstanceID, of app: AppID) { instances[instance.rawValue] = app }

    func entry(_ app: AppID) -> Entry? { entries.first { $0.id == app } }

    func app(of instance: InstanceID) -> AppID? { instances[instance.rawValue] }

    /// "camera".
    func name(_ app: AppID) -> String { entry(app)?.policy.name ?? "app\(app.rawValue)" }

    /// "camera#7".
    func name(_ instance: InstanceID) -> String {
        guard let app = app(of: instance) else { return "#\(instance.rawValue)" }
        return "\(name(app))#\(instance.rawValue)"
    }
}
