// Events as bytes, in both directions. A number that is here stays with its case; `FlightRecord.format` is raised with
// every change.

extension Event: Replayed {
    func write(to record: inout RecordWriter) {
        switch self {
        case .configured(let apps, let device): record.put(case: 0, apps, device)
        case .started: record.put(case: 1)
        case .freezing(let available): record.put(case: 2, available)
        case .timePassed: record.put(case: 3)
        case .stopRequested: record.put(case: 4)
        case .process(let event): record.put(case: 5, event)
        case .app(let event): record.put(case: 6, event)
        case .login(let event): record.put(case: 7, event)
        case .sleep(let event): record.put(case: 8, event)
        case .board(let event): record.put(case: 9, event)
        case .memory(let event): record.put(case: 10, event)
        case .watchdog(let event): record.put(case: 11, event)
        case .client(let event): record.put(case: 12, event)
        }
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        switch try record.byte() {
        case 0: self = .configured(try record.take(), try record.take())
        case 1: self = .started
        case 2: self = .freezing(available: try record.take())
        case 3: self = .timePassed
        case 4: self = .stopRequested
        case 5: self = .process(try record.take())
        case 6: self = .app(try record.take())
        case 7: self = .login(try record.take())
        case 8: self = .sleep(try record.take())
        case 9: self = .board(try record.take())
        case 10: self = .memory(try record.take())
        case 11: self = .watchdog(try record.take())
        case 12: self = .client(try record.take())
        default: throw RecordDamage()  // open set: bytes
        }
    }
}

extension AppPolicy: Replayed {
    func write(to record: inout RecordWriter) {
        var copy = self
        record.put { copy.archive(&$0) }
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        var policy = AppPolicy(name: "")
        try record.archive { policy.archive(&$0) }
        self = policy
    }
}

extension DevicePolicy: Replayed {
    func write(to record: inout RecordWriter) {
        var copy = self
        record.put { copy.archive(&$0) }
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        var policy = DevicePolicy()
        try record.archive { policy.archive(&$0) }
        self = policy
    }
}

extension ProcessEvent: Replayed {
    func write(to record: inout RecordWriter) {
        switch self {
        case .spawned(let instance): record.put(case: 0, instance)
        case .spawnFailed(let instance, let code, let explanation): record.put(case: 1, instance, code, explanation)
        case .exited(let instance, let status): record.put(case: 2, instance, status)
        case .leftBehind(let instance): record.put(case: 3, instance)
        case .groupEmptied(let instance): record.put(case: 4, instance)
        case .frozen(let instance): record.put(case: 5, instance)
        case .regained(let instances): record.put(case: 6, instances)
        }
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        switch try record.byte() {
        case 0: self = .spawned(try record.take())
        case 1: self = .spawnFailed(try record.take(), code: try record.take(), explanation: try record.take())
        case 2: self = .exited(try record.take(), try record.take())
        case 3: self = .leftBehind(try record.take())
        case 4: self = .groupEmptied(try record.take())
        case 5: self = .frozen(try record.take())
        case 6: self = .regained(try record.take())
        default: throw RecordDamage()  // open set: bytes
        }
    }
}

extension ExitStatus: Replayed {
    func write(to record: inout RecordWriter) {
        switch self {
        case .exited(let status): record.put(case: 0, status)
        case .signalled(let signal): record.put(case: 1, signal)
        case .unknown: record.put(case: 2)
        case .withLoop(let signal): record.put(case: 3, signal)
        }
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        switch try record.byte() {
        case 0: self = .exited(try record.take())
        case 1: self = .signalled(try record.take())
        case 2: self = .unknown
        case 3: self = .withLoop(signal: try record.take())
        default: throw RecordDamage()  // open set: bytes
        }
    }
}

extension AppEvent: Replayed {
    func write(to record: inout RecordWriter) {
        switch self {
        case .handlerReturned(let instance, let call): record.put(case: 0, instance, call)
        case .ready(let instance): record.put(case: 1, instance)
        case .ping(let instance): record.put(case: 2, instance)
        case .stopping(let instance): record.put(case: 3, instance)
        case .extendTimeout(let instance, let time): record.put(case: 4, instance, time)
        case .handlerStarting(let instance, let call): record.put(case: 5, instance, call)
        case .handlerStarted(let instance, let call): record.put(case: 6, instance, call)
        }
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        switch try record.byte() {
        case 0: self = .handlerReturned(try record.take(), try record.take())
        case 1: self = .ready(try record.take())
        case 2: self = .ping(try record.take())
        case 3: self = .stopping(try record.take())
        case 4: self = .extendTimeout(try record.take(), try record.take())
        case 5: self = .handlerStarting(try record.take(), try record.take())
        case 6: self = .handlerStarted(try record.take(), try record.take())
        default: throw RecordDamage()  // open set: bytes
        }
    }
}

extension LoginEvent: Replayed {
    func write(to record: inout RecordWriter) {
        switch self {
        case .available(let delayMax, let sleeping, let down): record.put(case: 0, delayMax, sleeping, down)
        case .unavailable: record.put(case: 1)
        case .lockTaken(let kind): record.put(case: 2, kind)
        case .lockRefused(let kind): record.put(case: 3, kind)
        case .prepareForSleep(let start, let delayMax, let at): record.put(case: 4, start, delayMax, at)
        case .prepareForShutdown(let start, let delayMax, let at): record.put(case: 5, start, delayMax, at)
        case .preparingForSleep(let value): record.put(case: 6, value)
        case .suspendRefused: record.put(case: 7)
        case .powerOffRefused: record.put(case: 8)
        case .appHoldsLock(let instance): record.put(case: 9, instance)
        case .appReleasedLock(let instance): record.put(case: 10, instance)
        case .appFillsLocks(let instance): record.put(case: 11, instance)
        }
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        switch try record.byte() {
        case 0:
            self = .available(
                delayMax: try record.take(), preparingForSleep: try record.take(),
                preparingForShutdown: try record.take())
        case 1: self = .unavailable
        case 2: self = .lockTaken(try record.take())
        case 3: self = .lockRefused(try record.take())
        case 4:
            self = .prepareForSleep(try record.take(), delayMax: try record.take(), signalled: try record.take())
        case 5:
            self = .prepareForShutdown(try record.take(), delayMax: try record.take(), signalled: try record.take())
        case 6: self = .preparingForSleep(try record.take())
        case 7: self = .suspendRefused
        case 8: self = .powerOffRefused
        case 9: self = .appHoldsLock(try record.take())
        case 10: self = .appReleasedLock(try record.take())
        case 11: self = .appFillsLocks(try record.take())
        default: throw RecordDamage()  // open set: bytes
        }
    }
}

extension SleepEvent: Replayed {
    func write(to record: inout RecordWriter) {
        switch self {
        case .kernelSlept(let hasSlept): record.put(case: 0, hasSlept)
        case .noted(let timeAsleep): record.put(case: 1, timeAsleep)
        }
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        switch try record.byte() {
        case 0: self = .kernelSlept(try record.take())
        case 1: self = .noted(timeAsleep: try record.take())
        default: throw RecordDamage()  // open set: bytes
        }
    }
}

extension WatchdogEvent: Replayed {
    func write(to record: inout RecordWriter) {
        switch self {
        case .hardware(let timeout): record.put(case: 0, timeout)
        case .lost: record.put(case: 1)
        case .service: record.put(case: 2)
        }
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        switch try record.byte() {
        case 0: self = .hardware(timeout: try record.take())
        case 1: self = .lost
        case 2: self = .service
        default: throw RecordDamage()  // open set: bytes
        }
    }
}
