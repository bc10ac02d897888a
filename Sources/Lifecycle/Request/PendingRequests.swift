/// The requests that are not answered yet, in the order in which they came, and what they still change.
///
/// A request that may be denied is played over what is granted (`play`). It is granted when it is carried out, or its
/// client is gone; one that is denied is taken out, and all is as if it had never come.
struct PendingRequests: Equatable {
    private(set) var all: [PendingRequest] = []

    var isEmpty: Bool { all.isEmpty }
    func filter(_ holds: (PendingRequest) -> Bool) -> [PendingRequest] { all.filter(holds) }

    /// A launch of the app is wished that may be denied yet.
    func wishesLaunch(of app: Int) -> Bool { all.contains { $0.app == app && $0.isForLaunch } }

    /// Those by which a launch of the app, which has now begun, was wished alone.
    func launches(of app: Int) -> [RequestID] {
        all.filter { $0.app == app && $0.isForLaunch && $0.wish == .running }.map { $0.id }
    }

    /// Where the apps are to stand by what is wished. phases: where they stand without it.
    func play(over phases: inout [ScenePhase], isOneInFront: Bool) {
        for request in all {
            guard let phase = request.change else { continue }
            phases[request.app] = phase
            guard isOneInFront, phase == .active else { continue }
            for other in phases.indices where other != request.app { phases[other] = .background }
        }
    }

    mutating func add(_ request: PendingRequest) { all.append(request) }

    mutating func remove(_ id: RequestID) { all.removeAll { $0.id == id } }

    /// Those that are answered.
    mutating func remove(_ answered: [PendingRequest]) {
        all.removeAll { request in answered.contains { $0.id == request.id } }
    }

    /// Takes out those that are denied.
    mutating func take(_ isDenied: (PendingRequest) -> Bool) -> [PendingRequest] {
        let denied = all.filter(isDenied)
        if !denied.isEmpty { all.removeAll(where: isDenied) }
        return denied
    }

    /// What it has changed cannot be denied any more: what was wished earlier for the app, and for any other where it
    /// takes the front from them, counts no more. Returns the request as it was.
    mutating func grant(_ id: RequestID, isOneInFront: Bool) -> PendingRequest? {
        guard let place = all.firstIndex(where: { $0.id == id }) else { return nil }
        let granted = all[place]
        guard let phase = granted.change else { return granted }
        all[place].change = nil
        let takesFront = isOneInFront && phase == .active
        for earlier in 0..<place where takesFront || all[earlier].app == granted.app { all[earlier].change = nil }
        return granted
    }

    /// The app's launch is wished for good.
    mutating func letLaunchesStand(_ app: Int) {
        for place in all.indices where all[place].app == app { all[place].isForLaunch = false }
    }

    /// apps: how many there are. Looked for after each event: only the newest can be there twice.
    func fault(apps: Int) -> Fault? {
        for request in all where !(0..<apps).contains(request.app) { return .strangeRequests }
        for earlier in all.dropLast() where earlier.id == all.last?.id { return .strangeRequests }
        return nil
    }

    mutating func archive(_ archive: inout StateArchive) {
        let blank = PendingRequest(id: RequestID(rawValue: 0), app: 0, wish: .running, phase: .active)
        archive.list(1, &all, blank) { $1.archive(&$0) }
    }
}
