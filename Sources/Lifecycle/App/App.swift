/// An app as the core knows it, whether it runs or not.
struct App: Equatable {
    var policy: AppPolicy { didSet { hasWrittenPolicy.value = false } }
    /// Gone from the configuration; the place is taken again by the next app of that name.
    var isRetired = false
    /// The apps this one comes after, and those that come after it.
    var servers: [Int] = []
    var clients: [Int] = []
    /// The longest chain of servers below it: servers have a lower level than all their clients.
    var level = 0

    /// Where the app should stand when nothing on the board asks otherwise. Outlives the instance: a restart keeps it.
    var requestedPhase = ScenePhase.background
    /// The same without what may be denied yet.
    var grantedPhase = ScenePhase.background
    var launch = LaunchState()
    /// The same without its launch that is wished and may be denied yet; nil: none is.
    var launchIfDenied: LaunchState?
    var instance: Instance?
    /// What its background tasks have left; nil: not counted since it was last active. Its size is fixed as it enters
    /// background.
    var pool: TaskPool?
    /// Its time to keep the board awake; nil: all of it is left.
    var keepAwakePool: TaskPool?
    /// Not configured: a process that was taken over, for as long as it runs.
    var isAdopted = false
    /// Until its process is in our hands.
    var adoption: Adoption?
    /// It has been in front since it was configured.
    var hasBeenActive = false
    var launches = 0
    var lastTermination: Termination?
    /// A shutdown ends it: it comes back should that be cancelled.
    var endedForShutdown = false
    /// The sleeps at which it could not be frozen, it or an instance before.
    var freezeRecord = OverdueSleeps()
    /// The same, of a lock of its own, if it runs through sleeps.
    var lockRecord = OverdueSleeps()
    /// The sleeps that it has made late, it or an instance before.
    var late = LateSleeps()
    /// An instance that has ended and of which something is beyond killing. One more is started beside it, and no
    /// third.
    var leftover: InstanceID?
    /// Sleeps, up to four, at which it was ended for a handler that did not return, since it last went to background.
    var sleepOverruns = 0
    /// The last sleep (`Sleep.age`) of which its launch or its end took too much: the next ten do not wait for either.
    var heldUpSleep: Int?

    // What follows from the rest, kept so that one event costs the same however many apps there are.
    var isTouched = false
    var isChanged = false
    var isSettledForSleep = true
    var hasRunningCall = false
    var wantsAwake = false
    var announced: AppView?
    /// By `AppTable.archiveChanges`.
    var hasWrittenPolicy = Aside(false)

    /// The nearest to the front that it may come: as requested, or as granted where the request is denied.
    var nearestPhase: ScenePhase { max(requestedPhase, grantedPhase) }

    /// Something is to start it.
    var isLaunchPlanned: Bool { launch.isPlanned || endedForShutdown }

    /// The same without what may be denied yet.
    var isGrantedLaunchPlanned: Bool { (launchIfDenied ?? launch).isPlanned || endedForShutdown }

    var returnsWhenWell: Bool { launch.returnsWhenWell || launchIfDenied?.returnsWhenWell == true }

    /// Compared with nil, an instance would be compared whole: 3 KB of code, and as slow as it is long.
    var hasInstance: Bool {
        if case .some = instance { true } else { false }
    }

    /// Its main process has ended, though something of its group may be left.
    var hasEnded: Bool { !hasInstance || instance?.stage == .clearing }

    /// It runs in this phase, and nothing is under way.
    func stands(in phase: ScenePhase) -> Bool {
        guard let instance, instance.stage == .running, instance.isLaunched, instance.call == nil else { return false }
        return instance.phase == phase
    }

    /// The same; in background it is there when it is frozen, if it can be.
    func hasSettled(in phase: ScenePhase) -> Bool {
        guard stands(in: phase), let instance else { return false }
        return phase == .active || !instance.freezeReasons.contains(.background) || instance.freezer == .frozen
            || instance.freezer == .stuck
    }

    /// What happens to it whether its launch that is wished is denied or not.
    mutating func changeLaunch(_ change: (inout LaunchState) -> Void) {
        change(&launch)
        guard var denied = launchIfDenied else { return }
        change(&denied)
        launchIfDenied = denied
    }

    func nextDeadline(_ id: AppID, canLaunch: Bool, freezeBound: Nanoseconds, reprieveEnd: Nanoseconds) -> Deadline {
        var next = Deadline.never
        if canLaunch {
            next.consider(launch.restart.due, .restart(id))
            next.consider(launchIfDenied?.restart.due, .restart(id))
        }
        instance?.addDeadlines(to: &next, id, lead: lead, freezeBound: freezeBound, reprieveEnd: reprieveEnd)
        return next
    }

    var view: AppView {
        AppView(
            name: policy.name, phase: instance?.phase, taskState: instance?.taskState ?? .notRunning,
            instance: instance?.id, launches: launches,
            restartPending: launch.restart.due != nil || launch.queued != nil,
            isLeftDown: launch.restart.isLeftDown, lastTermination: lastTermination)
    }
}
