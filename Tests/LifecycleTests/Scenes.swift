import Lifecycle
import Testing

// Boards and ways that several suites begin with.

extension Board {
    /// Every call that is open returns, and what is to freeze has frozen.
    mutating func answerAll() {
        for name in instances.keys.sorted() {
            _ = obey(handle(.handlerReturned(last(name), openCall(name))))
            _ = obey(handle(.frozen(last(name))))
        }
        _ = obey(wait(.milliseconds(100)))
    }

    /// A whole sleep of a minute in which every app is prompt; what was said to its announcement.
    mutating func sleepAMinute() -> [String] {
        let first = handle(.prepareForSleep(true, delayMax: .seconds(5), signalled: monotonic))
        let lines = lines(first)
        _ = obey(first)
        answerAll()
        _ = obey(wait(.seconds(5)))
        slept += .seconds(60)
        _ = obey(handle(.prepareForSleep(false, delayMax: nil, signalled: monotonic)))
        _ = handle(.lockTaken(.sleep))
        _ = handle(.preparingForSleep(false))
        answerAll()
        _ = obey(wait(.seconds(5)))
        answerAll()
        return lines
    }

    /// "active"; "-" where it does not run.
    func phase(_ name: String) -> String { core.id(of: name).flatMap { core.view(of: $0)?.phase?.name } ?? "-" }
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

func people(locked: Bool) -> Event { .session(SessionReading(users: 1, isLocked: locked, isIdle: false)) }

/// In m°C.
func zone(_ temperature: Int) -> Event {
    .temperatures([ThermalReading(temperature: temperature, fair: nil, serious: nil, critical: 90_000)])
}
