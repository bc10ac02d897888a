internal import Lifecycle

/// Which app is meant by an identifier: every policy ever configured, and every instance ever spawned.
struct AppDirectory {
    final class Entry {
        let id: AppID
        var policy: AppPolicy
        /// What it was before the last reload: a running instance may be treated by either.
        var former: AppPolicy
        var isConfigured: Bool
        /// A process that an operator has started.
        var isAdopted: Bool

        init(id: AppID, policy: AppPolicy, isAdopted: Bool = false) {
            self.id = id
            self.policy = policy
            former = policy
            isConfigured = !isAdopted
            self.isAdopted = isAdopted
        }
    }

    private(set) var entries: [Entry] = []
    /// By the app's identifier.
    private var places: [Entry?] = []
    private var instances: [Int64: AppID] = [:]
    /// In order.
    private var spawned: [(instance: InstanceID, app: AppID)] = []

    mutating func learn(from event: Event, _ effects: [Effect], _ core: WatchedCore) {
        if case .client(.requested(let request, .adopt(let name, let wish))) = event {
            let isAnswered = effects.contains { if case .client(.reply(request, _)) = $0 { true } else { false } }
            if !isAnswered, let id = core.id(of: name) { adopt(name, wish, as: id) }
        }
        guard case .configured(let policies, _) = event else { return }
        for entry in entries { entry.isConfigured = false }
        for policy in policies {
            guard let id = core.id(of: policy.name) else { continue }
            if let entry = entry(id) {
                entry.former = entry.policy
                entry.policy = policy
                entry.isConfigured = true
                entry.isAdopted = false
            } else {
                add(Entry(id: id, policy: policy))
            }
        }
    }

    private mutating func adopt(_ name: String, _ wish: TaskParameters, as id: AppID) {
        var policy = AppPolicy(name: name)
        policy.restart = .never
        if let budget = wish.timeAllowed { policy.taskBudget = budget }
        entries.removeAll { $0.id == id }
        add(Entry(id: id, policy: policy, isAdopted: true))
    }

    private mutating func add(_ entry: Entry) {
        entries.append(entry)
        while places.count <= entry.id.rawValue { places.append(nil) }
        places[entry.id.rawValue] = entry
    }

    mutating func note(_ instance: InstanceID, of app: AppID) {
        instances[instance.rawValue] = app
        spawned.append((instance, app))
    }

    func entry(_ app: AppID) -> Entry? { places.indices.contains(app.rawValue) ? places[app.rawValue] : nil }

    func app(of instance: InstanceID) -> AppID? { instances[instance.rawValue] }

    /// "camera".
    func name(_ app: AppID) -> String { entry(app)?.policy.name ?? "app\(app.rawValue)" }

    /// "camera.2": its second instance.
    func ordinalName(_ instance: InstanceID) -> String {
        guard let app = app(of: instance) else { return "\(instance.rawValue)" }
        let number = spawned.reduce(0) { $0 + ($1.app == app && $1.instance.rawValue <= instance.rawValue ? 1 : 0) }
        return "\(name(app)).\(number)"
    }

    /// "camera#7".
    func name(_ instance: InstanceID) -> String {
        guard let app = app(of: instance) else { return "#\(instance.rawValue)" }
        return "\(name(app))#\(instance.rawValue)"
    }
}
