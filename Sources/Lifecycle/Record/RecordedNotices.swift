// What the journal is told, as bytes.

extension Notice: Recorded {
    func write(to record: inout RecordWriter) {
        switch self {
        case .app(let notice): record.put(case: 0, notice)
        case .sleep(let notice): record.put(case: 1, notice)
        case .shutdown(let notice): record.put(case: 2, notice)
        case .board(let notice): record.put(case: 3, notice)
        case .fault(let fault, let app): record.put(case: 4, fault, app)
        }
    }
}

extension AppNotice: Recorded {
    func write(to record: inout RecordWriter) {
        switch self {
        case .launched(let app, let instance): record.put(case: 0, app, instance)
        case .restartScheduled(let app, let delay): record.put(case: 1, app, delay)
        case .leftDown(let app, let ends): record.put(case: 2, app, ends)
        case .overrun(let app, let instance, let reason): record.put(case: 3, app, instance, reason)
        case .phaseChanged(let app, let phase): record.put(case: 4, app, phase)
        case .heldUpSleep(let app): record.put(case: 5, app)
        case .keepsLock(let app, let instance): record.put(case: 6, app, instance)
        case .keepAwakeSpent(let app, let budget): record.put(case: 7, app, budget)
        case .essentialAppLost(let app, let reset): record.put(case: 8, app, reset)
        case .handlerNotStarted(let app, let handler): record.put(case: 9, app, handler)
        }
    }
}

extension SleepNotice: Recorded {
    func write(to record: inout RecordWriter) {
        switch self {
        case .preparing(let sleep, let allowance): record.put(case: 0, sleep, allowance)
        case .released(let sleep, let elapsed, let killed): record.put(case: 1, sleep, elapsed, killed)
        case .ended(let sleep, let outcome): record.put(case: 2, sleep, outcome)
        case .darkWake(let sleep, let allowance): record.put(case: 3, sleep, allowance)
        case .unannounced(let time): record.put(case: 4, time)
        }
    }
}

extension ShutdownNotice: Recorded {
    func write(to record: inout RecordWriter) {
        switch self {
        case .preparing(let allowance): record.put(case: 0, allowance)
        case .cancelled: record.put(case: 1)
        case .criticalBattery(let level): record.put(case: 2, level)
        }
    }
}

extension BoardNotice: Recorded {
    func write(to record: inout RecordWriter) {
        switch self {
        case .stalled(let time): record.put(case: 0, time)
        case .phaseLimited(let phase, let condition): record.put(case: 1, phase, condition)
        case .externalPower(let isExternal, let level): record.put(case: 2, isExternal, level)
        case .lowPowerMode(let isOn, let level): record.put(case: 3, isOn, level)
        case .underVoltage(let present): record.put(case: 4, present)
        case .thermalState(let state): record.put(case: 5, state)
        case .memoryPressure(let pressure): record.put(case: 6, pressure)
        case .memoryExhausted: record.put(case: 7)
        }
    }
}
