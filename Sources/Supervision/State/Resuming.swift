internal import Configuration
internal import Lifecycle
internal import ProcessControl
internal import SystemCalls

// The loop goes on where the one before it was: what that knew counts, and what runs, runs on. What has ended with that
// loop all the same is started again.

extension Supervisor {
    /// signal: what has ended the loop before.
    func resume(_ former: DeviceLifecycle, _ state: KeptState.FormerState, signal: Int32) {
        core = former
        lastSignal = signal
        let known = former.lastTerminations
        for end in state.apps.ends {
            guard let (app, report) = end.report(known) else { continue }
            // What that loop was about to write it may have written.
            if end.isWritten || reports.last(of: report.name) == report.id { lastReports[app] = report }
        }
        takeFormerDevice()
        use(configuration)
        hasResumed = true
        let regained = regain(state.apps)
        keptLocks.regain()
        letGoOfRest()
        // Before an app that was adopted is forgotten, and before other ends of the same apps.
        for end in known where lastReports[end.app.rawValue] == nil { record(end) }
        let lost = former.instances.filter { !regained.contains($0) }
        isResuming = true
        // Before any of them is judged.
        dispatch(.process(.regained(regained)))
        for instance in lost { dispatch(.process(.exited(instance, lostEnd))) }
        // Its connections went with that loop. With its locks here nothing has come to an end: what logind has done
        // meanwhile it says as it is reached.
        if !keptLocks.hasRegained { dispatch(.login(.unavailable)) }
        for request in core.openRequests { dispatch(.client(.abandoned(request))) }
        dispatch(.freezing(available: groups != nil))
        // As a reload: with an error in the files nothing changes.
        apply(configuration, tellsCore: configuration.allErrors.isEmpty)
        applyPreferences()
        isResuming = false
        for instance in lost { dispatch(.process(.groupEmptied(instance))) }
        for instance in regained { goOn(with: instance) }
        for followed in state.apps.followed ?? [] { taskFollowers.followAgain(followed) }
        if let alarm = core.wakeAlarm { setWakeAlarm(alarm) }
    }

    /// Of what has ended and no keeper knows of.
    var lostEnd: ExitStatus { lastSignal == 0 ? .unknown : .withLoop(signal: lastSignal) }

    /// Whether that state knows of an instance ("camera.3") of which the control group was left.
    static func knows(_ former: DeviceLifecycle, _ instance: String) -> Bool {
        former.id(of: app(ofGroup: instance)).flatMap { former.view(of: $0)?.instance } != nil
    }
}
