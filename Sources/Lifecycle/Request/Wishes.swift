// Wishes that may be denied yet: where apps are to stand, and what is to start them.
//
// What cannot be denied any more is kept with the app: `grantedPhase`, and its launch state; of an app whose launch is
// wished, `launchIfDenied` is what that would be without. The pending requests that change something are played over
// it, in their order. So each that is denied is as if it had never come, whatever came before or after it.

extension DeviceLifecycle {
    /// Where every app is to stand by all that is wished.
    mutating func deriveWishes() {
        var phases = apps.map { $0.grantedPhase }
        for request in requests {
            guard let phase = request.change else { continue }
            phases[request.app] = phase
            guard policy.front == .one, phase == .active else { continue }
            for other in phases.indices where other != request.app { phases[other] = .background }
        }
        for index in apps.indices where apps[index].requestedPhase != phases[index] {
            apps[index].requestedPhase = phases[index]
            touch(index)
        }
    }

    /// A wish that cannot be denied.
    mutating func grant(_ index: Int, _ phase: ScenePhase) {
        forgetChanges(index, phase, before: requests.endIndex)
        keep(index, phase)
    }

    /// What a request has changed cannot be denied any more: it is carried out, or its client is gone.
    mutating func grant(_ place: Int) {
        let request = requests[place]
        if let phase = request.change {
            requests[place].change = nil
            forgetChanges(request.app, phase, before: place)
            keep(request.app, phase)
        }
        if request.launches { letLaunchesStand(request.app) }
    }

    private mutating func keep(_ index: Int, _ phase: ScenePhase) {
        apps[index].grantedPhase = phase
        if policy.front == .one, phase == .active {
            for other in apps.indices where other != index { apps[other].grantedPhase = .background }
        }
        deriveWishes()
    }

    /// What was wished earlier, and does not agree with what is granted now, counts no more.
    private mutating func forgetChanges(_ index: Int, _ phase: ScenePhase, before end: Int) {
        let takesFront = policy.front == .one && phase == .active
        for place in 0..<end where takesFront || requests[place].app == index { requests[place].change = nil }
    }

    /// The launch is wished for good.
    mutating func letLaunchesStand(_ index: Int) {
        apps[index].launchIfDenied = nil
        for place in requests.indices where requests[place].app == index { requests[place].launches = false }
    }

    /// It is started, and comes up where a launch wished it; an activation of it may still be denied.
    mutating func grantLaunches(_ index: Int) {
        // The first that is granted lets all launches stand.
        let begun = requests.indices.filter {
            requests[$0].app == index && requests[$0].launches && requests[$0].wish == .running
        }
        for place in begun { grant(place) }
        letLaunchesStand(index)
    }

    /// A launch that may be denied.
    mutating func wishLaunch(_ index: Int) {
        if apps[index].launchIfDenied == nil { apps[index].launchIfDenied = apps[index].launchState }
        forgive(index)
        queueLaunch(index, .user)
    }

    /// Nothing is launched from now on: the clients that wait for it are told, and it does not happen later either.
    mutating func denyLaunches(_ reason: String) {
        revoke(reason) { $0.wish == .running || $0.wish == .phase && $0.phase == .active }
    }

    /// Denies requests. What they had changed is as it would be without them.
    mutating func revoke(_ reason: String, _ which: (PendingRequest) -> Bool) {
        guard requests.contains(where: which) else { return }
        deny(reason, which)
        deriveWishes()
        for index in apps.indices { callOffLaunch(index) }
    }

    private func isLaunchWished(_ index: Int) -> Bool { requests.contains { $0.app == index && $0.launches } }

    /// What would have started it without the wish does.
    private mutating func callOffLaunch(_ index: Int) {
        guard let launch = apps[index].launchIfDenied, !isLaunchWished(index) else { return }
        apps[index].launchIfDenied = nil
        apps[index].launchState = launch
        touch(index)
        if let uptime = launch.endedAfter { delayRestart(index, uptime: uptime) }
    }

    /// Where one app is in front at a time, the others make way: one that is on its way to the front is denied that.
    mutating func sendOthersBack(_ index: Int) {
        guard policy.front == .one else { return }
        for other in apps.indices where other != index && apps[other].requestedPhase != .background {
            denyFront(other)
            touch(other)
        }
    }

    /// Another takes the front: an activation of this one does not come about.
    mutating func denyFront(_ index: Int) {
        giveWay(index, .background)
        callOffLaunch(index)
    }

    /// No start that was due or wished comes any more: an operator has ended the app.
    mutating func forgetLaunches(_ index: Int) {
        guard apps[index].launchIfDenied != nil else { return }
        apps[index].launchIfDenied = isLaunchWished(index) ? apps[index].launchState : nil
    }

    /// Requests for another phase of the same app will not come true any more.
    @inline(never)
    mutating func giveWay(_ index: Int, _ phase: ScenePhase, to id: RequestID? = nil) {
        deny("another request changed its phase") {
            $0.app == index && $0.wish == .phase && $0.phase != phase && $0.id != id
        }
    }
}
