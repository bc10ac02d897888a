// Wishes that may be denied yet: where apps are to stand, and what is to start them.
//
// `App.grantedPhase` is where an app stands by what cannot be denied any more. The pending requests that change
// something are played over it, in their order. `App.launch` is as all wishes have it; `launchIfDenied` is what it
// would be without the launches that may be denied, and takes its place when the last of them is. So each request that
// is denied is as if it had never come, whatever came before or after it.

extension DeviceLifecycle {
    /// Where every app is to stand by all that is wished.
    mutating func deriveWishes() {
        var phases = apps.map { $0.grantedPhase }
        requests.play(over: &phases, isOneInFront: policy.front == .one)
        for index in apps.indices where apps[index].requestedPhase != phases[index] {
            apps[index].requestedPhase = phases[index]
            touch(index)
        }
    }

    /// What a request has changed cannot be denied any more: it is carried out, or its client is gone.
    mutating func grant(_ id: RequestID) {
        guard let granted = requests.grant(id, isOneInFront: policy.front == .one) else { return }
        if let phase = granted.change { grantPhase(granted.app, phase) }
        if granted.isForLaunch { letLaunchesStand(granted.app) }
    }

    /// Where it stands without any wish that may be denied.
    mutating func grantPhase(_ index: Int, _ phase: ScenePhase) {
        apps[index].grantedPhase = phase
        if policy.front == .one, phase == .active {
            for other in apps.indices where other != index { apps[other].grantedPhase = .background }
        }
        deriveWishes()
    }

    /// The launch is wished for good.
    mutating func letLaunchesStand(_ index: Int) {
        guard apps[index].launchIfDenied != nil else { return }
        apps[index].launchIfDenied = nil
        touch(index)
        requests.letLaunchesStand(index)
    }

    /// It is started, and comes up where a launch wished it; an activation of it may still be denied.
    mutating func grantLaunches(_ index: Int) {
        // The first that is granted lets all launches stand.
        for id in requests.launches(of: index) { grant(id) }
        letLaunchesStand(index)
    }

    /// A launch that may be denied.
    mutating func wishLaunch(_ index: Int) {
        if apps[index].launchIfDenied == nil { apps[index].launchIfDenied = apps[index].launch }
        forgive(index)
        queueLaunch(index, .user)
    }

    /// Nothing is launched from now on: the clients that wait for it are told, and it does not happen later either.
    /// A launch that has begun is completed when the board allows it, or ends with its app, and its client waits.
    ///
    /// isForGood: no end of that is in sight. Else one that goes on to background is waited for too.
    mutating func denyLaunches(_ denial: Denial, isForGood: Bool = false) {
        let present = apps.map { $0.instance?.id }
        let goingOn = isForGood ? [] : requests.filter { $0.isForLaunch && $0.isWishForBackground }
        deny(denial) { request in
            if request.isActivation { return true }
            if request.isWishForBackground { return isForGood && request.isUnbegun(present[request.app]) }
            return request.wish == .running && request.isForLaunch && !goingOn.contains { $0.app == request.app }
        }
    }

    /// Requests that cannot come true any more: those for another phase of the app and, where one app is in front at a
    /// time, those that would bring others there.
    mutating func denyOthers(_ index: Int, _ phase: ScenePhase) {
        let takesFront = policy.front == .one && phase == .active
        deny(.phaseChanged) {
            $0.app == index ? $0.wish == .phase && $0.phase != phase : takesFront && $0.isActivation
        }
    }

    /// What denied requests had changed is as it would be without them.
    @inline(never)
    mutating func deny(_ denial: Denial, _ which: (PendingRequest) -> Bool) {
        let denied = requests.take(which)
        if denied.isEmpty { return }
        for request in denied { reply(request.id, .app(.denied(denial))) }
        deriveWishes()
        for index in apps.indices { callOffLaunch(index) }
    }

    /// Denies requests of an app that is to end next. No restart is announced for it, which would have followed
    /// without the request.
    mutating func denyBeforeEnd(_ index: Int, _ denial: Denial, _ which: (PendingRequest) -> Bool) {
        apps[index].launchIfDenied?.isEndUnsaid = false
        deny(denial, which)
    }

    /// The launch falls back to what was planned without the request.
    private mutating func callOffLaunch(_ index: Int) {
        guard let launch = apps[index].launchIfDenied, !requests.wishesLaunch(of: index) else { return }
        apps[index].launchIfDenied = nil
        apps[index].launch = launch
        apps[index].launch.isEndUnsaid = false
        touch(index)
        if launch.isEndUnsaid { saySequel(index) }
    }
}
