import Lifecycle
import Testing

// Boards and ways that several suites begin with.

extension Board {
    /// Every call that is open returns, and what is to freeze has frozen.
    mutating func answerAll() {
        for name in instances.keys.sorted() {
            let instance = last(name)
            if let call = calls[instance] { follow(.app(.handlerReturned(instance, call))) }
            follow(.process(.frozen(instance)))
        }
        _ = obey(wait(.milliseconds(100)))
    }

    /// What an event leads to is answered at once, until nothing more comes.
    mutating func follow(_ event: Event) { _ = obey(handle(event)) }
    /// The same of what a client asks for.
    mutating func follow(_ id: Int64, _ request: ClientRequest) {
        follow(.client(.requested(RequestID(rawValue: id), request)))
    }

    /// Some time passes, in which every app is prompt.
    mutating func settle(_ time: Nanoseconds = .seconds(5)) {
        _ = obey(wait(time))
        answerAll()
    }

    /// The lid opens, and what it held back comes about.
    mutating func openLid() {
        follow(.board(.lid(closed: false)))
        settle()
    }

    /// The session is open again, and what that held back comes about.
    mutating func unlock() {
        follow(people(locked: false))
        settle()
    }

    /// Its process has ended, and nothing is left of its group: what the latter leads to.
    @discardableResult mutating func gone(
        _ name: String, _ status: Lifecycle.ExitStatus = .signalled(9), at place: SourceLocation = #_sourceLocation
    ) -> [String] {
        _ = exited(name, status, at: place)
        return emptied(name, at: place)
    }

    /// The same after a fault of its own.
    @discardableResult mutating func crash(_ name: String, at place: SourceLocation = #_sourceLocation) -> [String] {
        gone(name, .signalled(11), at: place)
    }

    /// The board has slept for so long, and logind says that it is over: what that leads to.
    mutating func wake(afterSleeping time: Nanoseconds) -> [String] {
        slept += time
        return sleepSignal(false)
    }

    /// The same, and every app is prompt.
    mutating func wakePromptly(afterSleeping time: Nanoseconds) {
        slept += time
        follow(.login(.prepareForSleep(false, delayMax: .seconds(5), signalled: monotonic)))
    }

    /// A whole sleep of a minute in which every app is prompt; what was said to its announcement.
    mutating func sleepAMinute() -> [String] {
        let first = handle(.login(.prepareForSleep(true, delayMax: .seconds(5), signalled: monotonic)))
        let lines = lines(first)
        _ = obey(first)
        answerAll()
        _ = obey(wait(.seconds(5)))
        wakePromptly(afterSleeping: .seconds(60))
        _ = handle(.login(.lockTaken(.sleep)))
        _ = handle(.login(.preparingForSleep(false)))
        answerAll()
        settle()
        return lines
    }

    /// "active"; "-" where it does not run.
    func phase(_ name: String) -> String { core.id(of: name).flatMap { core.view(of: $0)?.phase?.name } ?? "-" }
    /// The same of several.
    func phases(_ names: String...) -> [String] { names.map { phase($0) } }

    /// Its daemon is another from here, which has read the state.
    mutating func reborn() {
        guard let copy = DeviceLifecycle(archive: core.archived()) else {
            Issue.record("the archive cannot be read")
            return
        }
        #expect(copy == core)
        core = copy
    }
}

/// logind is there, and the apps are launched.
func startedBoard(
    _ apps: [AppPolicy], front: FrontPolicy = .many, _ change: (inout DevicePolicy) -> Void = { _ in }
) -> Board {
    var device = DevicePolicy()
    device.front = front
    change(&device)
    var board = Board(apps, device: device)
    board.login()
    board.start()
    return board
}

/// "camera" is being killed for a handler that overran.
func overrunBoard(_ change: (inout AppPolicy) -> Void = { _ in }) throws -> Board {
    var board = startedBoard([app("camera", change)])
    _ = try board.ask(90, .background(board.id("camera")))
    #expect(board.pass(.seconds(10)) == ["kill camera"])
    // So it stays in background, whatever is wished next.
    #expect(board.tell(.client(.abandoned(RequestID(rawValue: 90)))) == [])
    return board
}

/// "map" is in front; "server" is being started, and "radio" comes after it; "phone" is in background where only one
/// app is in front.
func waitingBoard(_ front: FrontPolicy = .one, _ change: (inout AppPolicy) -> Void = { _ in }) throws -> Board {
    let radio = manual("radio") {
        $0.after = ["server"]
        change(&$0)
    }
    var board = startedBoard([app("map"), manual("server"), radio, app("phone")], front: front)
    _ = try board.ask(90, .launch(board.id("server"), background: true))
    return board
}

func manual(_ name: String, _ change: (inout AppPolicy) -> Void = { _ in }) -> AppPolicy {
    app(name) {
        $0.launch = .manual
        change(&$0)
    }
}

/// One app is in front at a time.
func oneInFront() -> DevicePolicy {
    var device = DevicePolicy()
    device.front = .one
    return device
}

func people(locked: Bool) -> Event { .board(.session(SessionReading(users: 1, isLocked: locked, isIdle: false))) }

/// In m°C.
func zone(_ temperature: Int) -> Event {
    .board(.temperatures([ThermalReading(temperature: temperature, fair: nil, serious: nil, critical: 90_000)]))
}
