// The configuration, at start and at each reload.

extension DeviceLifecycle {
    /// What runs keeps running: policies count from now on, but for `liveness` and handlers; these, programs and
    /// arguments from the next launch. Apps that are gone are ended; new ones with `launch = "boot"` start.
    mutating func configure(_ policies: [AppPolicy], _ device: DevicePolicy) {
        policy = device
        if device.darkWakeInterval == nil || sleep.isLogical && !device.wakeSources.contains(.clock) { clearAlarm() }
        var isConfigured = [Bool](repeating: false, count: apps.count)
        var new: [Int] = []
        for policy in policies {
            if let index = indexOfName[policy.name] {
                // Of two apps with one name the first counts; configuration files cannot have that.
                if isConfigured[index] { continue }
                isConfigured[index] = true
                let isBack = apps[index].isRetired
                apps[index].isAdopted = false
                apps[index].isRetired = false
                change(index, to: policy)
                if isBack {
                    forgive(index)
                    apps[index].hasBeenActive = false
                    new.append(index)
                }
            } else {
                let index = apps.count
                indexOfName[policy.name] = index
                apps.append(App(policy: policy))
                deadlineOfApp.append(.never)
                checkOfApp.append(.max)
                isConfigured.append(true)
                new.append(index)
            }
        }
        for index in apps.indices where !isConfigured[index] && !apps[index].isRetired && !apps[index].isAdopted {
            retire(index)
        }
        // They may take the place of those that go.
        for index in new { start(index) }
        link()
        if policy.front == .one { keepOneInFront() }
        deriveWishes()
        if policy.front == .one { denyFormerFront() }
        touchAll()
    }

    /// A reload may have made it so that one app is in front at a time. What may be denied yet is played over it.
    private mutating func keepOneInFront() {
        let wanted = apps.indices.filter { !apps[$0].isRetired && apps[$0].grantedPhase != .background }
        let first =
            wanted.first { isThere($0) } ?? wanted.first { apps[$0].isGrantedLaunchPlanned } ?? wanted.first
        for index in wanted where index != first { apps[index].grantedPhase = .background }
    }

    /// Of several activations the last counts.
    private mutating func denyFormerFront() {
        let front = apps.firstIndex { !$0.isRetired && $0.requestedPhase != .background }
        let others = apps.indices.filter { $0 != front && !apps[$0].isRetired }
        deny(.phaseChanged) { $0.isActivation && others.contains($0.app) }
    }

    private mutating func change(_ index: Int, to policy: AppPolicy) {
        let launch = apps[index].policy.launch
        apps[index].policy = policy
        if launch == .boot, policy.launch != .boot, apps[index].hasEnded, !apps[index].endedForShutdown {
            apps[index].changeLaunch { $0.forgetBoot() }
        }
    }

    private mutating func start(_ index: Int) {
        guard isStarted, apps[index].policy.launch == .boot else { return }
        queueLaunch(index, .boot, phase: startPhase(index))
    }

    private mutating func retire(_ index: Int) {
        apps[index].isRetired = true
        let instance = instanceID(index)
        // A launch that has begun is answered by the end of the app.
        denyBeforeEnd(index, .configurationRemoved) {
            $0.app == index && ($0.isUnbegun(instance) || $0.change != nil)
        }
        apps[index].launch.isMeantToRun = false
        apps[index].endedForShutdown = false
        if !apps[index].hasInstance { dropAdoption(index) }
        stop(index, .configurationRemoved)
    }

    /// Resolves `after` by name. An edge that would close a cycle is left out: order is a wish, not a dependency.
    private mutating func link() {
        for index in apps.indices {
            apps[index].servers = []
            apps[index].clients = []
            apps[index].level = 0
        }
        for index in apps.indices where !apps[index].isRetired {
            for name in apps[index].policy.after {
                guard let server = indexOfName[name], !apps[server].isRetired, !reaches(from: server, to: index),
                    !apps[index].servers.contains(server)
                else { continue }
                apps[index].servers.append(server)
                apps[server].clients.append(index)
                raise(index, above: server)
            }
        }
    }

    /// Whether one app comes after another, directly or through others.
    private func reaches(from start: Int, to target: Int) -> Bool {
        if start == target { return true }
        // Each is above all that it comes after: most of thousands are known without a search.
        if apps[start].level <= apps[target].level || apps[target].clients.isEmpty { return false }
        var seen = [Bool](repeating: false, count: apps.count)
        var open = [start]
        while let index = open.popLast() {
            if index == target { return true }
            if seen[index] { continue }
            seen[index] = true
            open.append(contentsOf: apps[index].servers)
        }
        return false
    }

    private mutating func raise(_ index: Int, above server: Int) {
        var open = [(index, server)]
        while let (client, below) = open.popLast() {
            guard apps[client].level <= apps[below].level else { continue }
            apps[client].level = apps[below].level + 1
            for next in apps[client].clients { open.append((next, client)) }
        }
    }
}
