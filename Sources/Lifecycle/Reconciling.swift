// What is done after every event, in which order, and why in this one.
//
// 1. advanceClocks: what an event says of a handler or a task is judged by clocks that know of stalls and of sleeps.
// 2. judgePools: a task that the event begins finds the budget that a day has filled.
// 3. apply: the event changes what is wanted or known, and touches the apps that it concerns.
// 4. judge: every deadline that is over. After the event: an answer that came in time counts, though its deadline has
//    passed since.
// 5. settleBoard: the board before its apps, which go no further than it allows.
//      conditions   first: they may ask for a sleep, or begin a shutdown
//      memory       what of it is over by now; it warns the apps
//      returns      of what memory or heat has ended: both are known by then
//      watchdogs    last: an app that comes back is not lost, and a sleep that the conditions have ended not there
// 6. settle: every touched app takes its steps (below); then, once none is touched any more, the three that wait for
//    all apps. What they do touches apps again, so this is repeated until nothing is left to do.
//      sleep        the lock is released once the last app is ready
//      keep-awake   by what the apps hold now; when the lock is given back, idle counts again, and so the conditions
//                   are settled once more
//      shutdown     last: its next wave begins when the one before is gone
// 7. answerRequests: by what has come of all that.
// 8. checkInvariants: what is announced has been judged.
// 9. announceChanges: views, once for an event.
//
// One step of an app. Each part needs what those before it have settled:
//      pool         whether its budget runs is known before its tasks are judged by it
//      stop         what is to end goes nowhere else
//      freezer      a call is made only to what is thawed
//      phase        the next call; handlers that it lacks have returned at once
//      pool         again: it may stand elsewhere now, so that its budget runs or is full
//      expirations  by that budget; at most one handler runs, and a phase's goes first
//      freezer      again: with nothing left to do where it stands now, it freezes
//      information  it is told what is so once all that is settled
//
// An app's instance:
//
//                    started              asked to end, or ends by itself
//      spawning ----------------> running --------------------------------> stopping
//        |  |                      |   |                                     |   |
//        |  | is not said to       |   | its time is over, its memory wanted, ...| its time is over
//        |  | have started         |   +-------------> killing <-------------+   |
//        |  |                      | exits                | exits                | exits
//        |  +----------------------+------------+---------+----------------------+
//        | failed to start                      v
//        +----------> none <--------------- clearing
//              nothing of its group is left, or what is left was reported as stuck
//
// A running one is in front, inactive or in background, and thawed, freezing, frozen or stuck. The stages of a sleep
// are drawn at `Sleep`.

extension DeviceLifecycle {
    /// What the board's own state asks, before its apps are taken towards it.
    mutating func settleBoard() {
        settleConditions()
        settleMemory()
        settleReturns()
        settleHardwareWatchdog()
        settleServiceWatchdog()
    }

    /// Takes every touched app towards its goal, and the sleep and the shutdown with them.
    mutating func settle() {
        repeat {
            var next = 0
            while next < touched.count {
                let index = touched[next]
                next += 1
                apps[index].isTouched = false
                settle(index)
                refresh(index)
                if !apps[index].isChanged {
                    apps[index].isChanged = true
                    changed.append(index)
                }
            }
            touched.removeAll(keepingCapacity: true)
            advanceSleep()
            advanceKeepAwake()
            advanceShutdown()
        } while !touched.isEmpty
    }

    /// One step of an app, in the order of what each part needs.
    private mutating func settle(_ index: Int) {
        guard let isAlive = apps[index].instance?.isAlive else { return launchIfDue(index) }
        guard isAlive else { return }
        // Whether its budget runs is known before its tasks are judged by it.
        settlePool(index)
        // What is to end goes nowhere else.
        settleStop(index)
        // A call is only made to what is thawed.
        settleFreezer(index)
        settlePhase(index)
        // Handlers that it lacks have returned at once: it may stand elsewhere now, its budget run or its work be done.
        settlePool(index)
        settleExpirations(index)
        settleFreezer(index)
        // It is told what is so once all that is settled.
        inform(index)
    }

    /// Brings what follows from an app's state up to date.
    mutating func refresh(_ index: Int) {
        noteKeepAwake(index)
        deadlineOfApp[index] = deadline(ofApp: index)
        checkOfApp[index] = apps[index].checkInterval(isLowPower: conditions.isLowPower)
        let runs = apps[index].instance?.isTimed == true
        if runs != apps[index].hasRunningCall {
            runningCalls += runs ? 1 : -1
            apps[index].hasRunningCall = runs
        }
        noteSettledForSleep(index)
    }
}
