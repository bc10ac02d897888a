internal import Lifecycle
internal import SystemCalls

// The loop goes on where the one before it was: what that knew counts, and the apps that have ended with it are started
// again.

extension Supervisor {
    /// signal: what has ended the loop before.
    func resume(_ former: DeviceLifecycle, _ lastEnds: LastEnds, signal: Int32) {
        core = former
        lastReports = lastEnds.reports(former)
        use(configuration)
        hasResumed = true
        isResuming = true
        for instance in former.instances { dispatch(.process(.exited(instance, .withLoop(signal: signal)))) }
        // Its connections and locks went with that loop.
        dispatch(.login(.unavailable))
        for request in core.openRequests { dispatch(.client(.abandoned(request))) }
        dispatch(.freezing(available: groups != nil))
        apply(configuration)
        applyPreferences()
        isResuming = false
        for instance in former.instances { dispatch(.process(.groupEmptied(instance))) }
        if let alarm = core.wakeAlarm { setWakeAlarm(alarm) }
    }

    /// Whether that state knows of an instance ("camera.3") of which the control group was left.
    static func knows(_ former: DeviceLifecycle, _ instance: String) -> Bool {
        former.id(of: app(ofGroup: instance)).flatMap { former.view(of: $0)?.instance } != nil
    }
}
