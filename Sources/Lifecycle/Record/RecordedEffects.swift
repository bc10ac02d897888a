// What is decided, as bytes: whether another core decides the same is seen by comparing them.

extension Effect: Recorded {
    func write(to record: inout RecordWriter) {
        switch self {
        case .process(let effect): record.put(case: 0, effect)
        case .app(let effect): record.put(case: 1, effect)
        case .login(let effect): record.put(case: 2, effect)
        case .sleep(let effect): record.put(case: 3, effect)
        case .board(let effect):
            switch effect {
            case .poll: record.put(case: 4)
            }
        case .memory(let effect): record.put(case: 5, effect)
        case .watchdog(let effect): record.put(case: 6, effect)
        case .client(let effect): record.put(case: 7, effect)
        case .report(let termination): record.put(case: 8, termination)
        case .note(let notice): record.put(case: 9, notice)
        case .stopDaemon: record.put(case: 10)
        }
    }
}

extension ProcessEffect: Recorded {
    func write(to record: inout RecordWriter) {
        switch self {
        case .spawn(let app, let instance, let reason, let background):
            record.put(case: 0, app, instance, reason, background)
        case .terminate(let instance): record.put(case: 1, instance)
        case .kill(let instance): record.put(case: 2, instance)
        case .clear(let instance): record.put(case: 3, instance)
        case .freeze(let instance): record.put(case: 4, instance)
        case .thaw(let instance): record.put(case: 5, instance)
        case .reportStuck(let instance, let stuck): record.put(case: 6, instance, stuck)
        }
    }
}

extension AppEffect: Recorded {
    func write(to record: inout RecordWriter) {
        switch self {
        case .call(let instance, let call, let handler, let allowance):
            record.put(case: 0, instance, call, handler, allowance)
        case .inform(let instance, let information): record.put(case: 1, instance, information)
        case .giveUp(let instance, let call): record.put(case: 2, instance, call)
        }
    }
}

extension HandlerCall: Recorded {
    func write(to record: inout RecordWriter) {
        record.put(handler)
        switch self {
        case .didFinishLaunching(let reason): record.put(reason)
        case .willTerminate(let reason): record.put(reason)
        case .backgroundTaskWillExpire(let id, let name):
            record.put(id)
            record.put(name)
        case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground: break
        }
    }
}

extension Information: Recorded {
    func write(to record: inout RecordWriter) {
        switch self {
        case .didReceiveMemoryWarning(let level): record.put(case: 0, level)
        case .powerStateDidChange(let isExternal, let level, let isLowPower):
            record.put(case: 1, isExternal, level, isLowPower)
        case .thermalStateDidChange(let state): record.put(case: 2, state)
        }
    }
}

extension LoginEffect: Recorded {
    func write(to record: inout RecordWriter) {
        switch self {
        case .takeLock(let kind): record.put(case: 0, kind)
        case .releaseLock(let kind): record.put(case: 1, kind)
        case .readPreparingForSleep: record.put(case: 2)
        case .suspendDevice: record.put(case: 3)
        case .powerOff: record.put(case: 4)
        }
    }
}

extension SleepEffect: Recorded {
    func write(to record: inout RecordWriter) {
        switch self {
        case .handled(let isHandled): record.put(case: 0, isHandled)
        case .setWakeAlarm(let moment): record.put(case: 1, moment)
        }
    }
}

extension MemoryEffect: Recorded {
    func write(to record: inout RecordWriter) {
        switch self {
        case .read(let uses): record.put(case: 0, uses)
        case .watchLimit(let instance): record.put(case: 1, instance)
        }
    }
}

extension WatchdogEffect: Recorded {
    func write(to record: inout RecordWriter) {
        let number: UInt8 =
            switch self {
            case .feed: 0
            case .rest: 1
            case .wake: 2
            case .retry: 3
            case .restService: 4
            case .wakeService: 5
            }
        record.put(case: number)
    }
}

extension ClientEffect: Recorded {
    func write(to record: inout RecordWriter) {
        switch self {
        case .reply(let request, let outcome): record.put(case: 0, request, outcome)
        case .taskChanged(let app, let instance, let task, let change):
            record.put(case: 1, app, instance, task, change)
        case .appChanged(let app): record.put(case: 2, app)
        case .deviceChanged: record.put(case: 3)
        }
    }
}

extension BackgroundTaskView: Recorded {
    func write(to record: inout RecordWriter) {
        record.put(id)
        record.put(name)
        record.put(keepAwake)
        record.put(held)
        record.put(timeRemaining)
    }
}

extension RequestOutcome: Recorded {
    func write(to record: inout RecordWriter) {
        switch self {
        case .app(.done): record.put(case: 0)
        case .app(.notRunning): record.put(case: 1)
        case .app(.ended(let termination)): record.put(case: 2, termination)
        case .app(.denied(let denial)): record.put(case: 3, denial)
        case .sleep(.ready(let sleep, let killed)): record.put(case: 4, sleep, killed)
        case .sleep(.denied(let denial)): record.put(case: 5, denial)
        case .beginBackgroundTask(.begun(let task, let remaining)): record.put(case: 6, task, remaining)
        case .beginBackgroundTask(.tooMany(let limit)): record.put(case: 7, limit)
        case .beginBackgroundTask(.denied(let denial)): record.put(case: 8, denial)
        case .endBackgroundTask(.ended): record.put(case: 9)
        case .endBackgroundTask(.noSuchTask): record.put(case: 10)
        case .adopt(.begun(let task, let remaining)): record.put(case: 11, task, remaining)
        case .adopt(.ended(let termination)): record.put(case: 12, termination)
        case .adopt(.denied(let denial)): record.put(case: 13, denial)
        case .setLowPower: record.put(case: 14)
        }
    }
}

extension Termination: Recorded {
    func write(to record: inout RecordWriter) {
        var copy = self
        record.put { copy.archive(&$0) }
    }
}

extension TerminationReason: Recorded {
    func write(to record: inout RecordWriter) {
        var copy = self
        record.put { copy.archive(&$0) }
    }
}

extension Denial: Recorded {
    func write(to record: inout RecordWriter) {
        switch self {
        case .sleeping: record.put(case: 0)
        case .shuttingDown: record.put(case: 1)
        case .noSuchApp: record.put(case: 2)
        case .phaseChanged: record.put(case: 3)
        case .ended: record.put(case: 4)
        case .configurationRemoved: record.put(case: 5)
        case .condition(let condition): record.put(case: 6, condition)
        case .taskHasNoFront: record.put(case: 7)
        case .taskEnded: record.put(case: 8)
        case .nameTaken(let name): record.put(case: 9, name)
        case .endedBeforeItBegan: record.put(case: 10)
        case .appEnding: record.put(case: 11)
        case .budgetSpent(let refill): record.put(case: 12, refill == .time)
        case .keepAwakeNotConfigured: record.put(case: 13)
        case .keepAwakeSpent: record.put(case: 14)
        case .loginPreparesSleep: record.put(case: 15)
        case .sleepCalledOff: record.put(case: 16)
        }
    }
}
