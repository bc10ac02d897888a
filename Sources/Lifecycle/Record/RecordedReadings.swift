// What the board, its memory and clients say, as bytes in both directions.

extension BoardEvent: Replayed {
    func write(to record: inout RecordWriter) {
        switch self {
        case .session(let reading): record.put(case: 0, reading.users, reading.isLocked, reading.isIdle)
        case .lid(let closed): record.put(case: 1, closed)
        case .keyPressed(let key): record.put(case: 2, key)
        case .power(let reading): record.put(case: 3, reading.isExternal, reading.level)
        case .underVoltage(let present): record.put(case: 4, present)
        case .temperatures(let readings): record.put(case: 5, readings)
        case .network(let up): record.put(case: 6, up)
        case .polling(let interval): record.put(case: 7, interval)
        }
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        switch try record.byte() {
        case 0:
            self = .session(
                SessionReading(users: try record.take(), isLocked: try record.take(), isIdle: try record.take()))
        case 1: self = .lid(closed: try record.take())
        case 2: self = .keyPressed(try record.take())
        case 3: self = .power(PowerReading(isExternal: try record.take(), level: try record.take()))
        case 4: self = .underVoltage(try record.take())
        case 5: self = .temperatures(try record.take())
        case 6: self = .network(up: try record.take())
        case 7: self = .polling(interval: try record.take())
        default: throw RecordDamage()  // open set: bytes
        }
    }
}

extension ThermalReading: Replayed {
    func write(to record: inout RecordWriter) {
        record.put(zone)
        for degrees in [temperature, fair, serious, critical] { record.put(degrees) }
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        self.init(
            zone: try record.take(), temperature: try record.take(), fair: try record.take(),
            serious: try record.take(), critical: try record.take())
    }
}

extension MemoryEvent: Replayed {
    func write(to record: inout RecordWriter) {
        switch self {
        case .pressure(let level): record.put(case: 0, level)
        case .read(let available, let total, let uses): record.put(case: 1, available, total, uses)
        case .limitReached(let instance): record.put(case: 2, instance)
        case .killed(let instance, let killer): record.put(case: 3, instance, killer)
        }
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        switch try record.byte() {
        case 0: self = .pressure(try record.take())
        case 1: self = .read(available: try record.take(), total: try record.take(), try record.take())
        case 2: self = .limitReached(try record.take())
        case 3: self = .killed(try record.take(), by: try record.take())
        default: throw RecordDamage()  // open set: bytes
        }
    }
}

extension MemoryUse: Replayed {
    func write(to record: inout RecordWriter) {
        record.put(instance)
        record.put(bytes)
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        self.init(instance: try record.take(), bytes: try record.take())
    }
}

extension ClientEvent: Replayed {
    func write(to record: inout RecordWriter) {
        switch self {
        case .requested(let id, let request): record.put(case: 0, id, request)
        case .abandoned(let id): record.put(case: 1, id)
        }
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        switch try record.byte() {
        case 0: self = .requested(try record.take(), try record.take())
        case 1: self = .abandoned(try record.take())
        default: throw RecordDamage()  // open set: bytes
        }
    }
}

extension ClientRequest: Replayed {
    func write(to record: inout RecordWriter) {
        switch self {
        case .launch(let app, let background): record.put(case: 0, app, background)
        case .activate(let app): record.put(case: 1, app)
        case .background(let app): record.put(case: 2, app)
        case .terminate(let app, let force): record.put(case: 3, app, force)
        case .sleep(let start, let logical, let about): record.put(case: 4, start, logical, about)
        case .beginBackgroundTask(let instance, let parameters): record.put(case: 5, instance, parameters)
        case .endBackgroundTask(let instance, let task): record.put(case: 6, instance, task)
        case .adopt(let app, let parameters): record.put(case: 7, app, parameters)
        case .warnOfMemory(let app, let level): record.put(case: 8, app, level)
        case .setLowPower(let enabled): record.put(case: 9, enabled)
        }
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        switch try record.byte() {
        case 0: self = .launch(try record.take(), background: try record.take())
        case 1: self = .activate(try record.take())
        case 2: self = .background(try record.take())
        case 3: self = .terminate(try record.take(), force: try record.take())
        case 4: self = .sleep(start: try record.take(), logical: try record.take(), about: try record.take())
        case 5: self = .beginBackgroundTask(try record.take(), try record.take())
        case 6: self = .endBackgroundTask(try record.take(), try record.take())
        case 7: self = .adopt(app: try record.take(), try record.take())
        case 8: self = .warnOfMemory(try record.take(), try record.take())
        case 9: self = .setLowPower(try record.take())
        default: throw RecordDamage()  // open set: bytes
        }
    }
}

extension TaskParameters: Replayed {
    func write(to record: inout RecordWriter) {
        record.put(name)
        record.put(keepAwake)
        record.put(timeAllowed)
    }

    init(from record: inout RecordReader) throws(RecordDamage) {
        self.init(name: try record.take(), keepAwake: try record.take(), timeAllowed: try record.take())
    }
}
