import EventLoop
import MessageBus
import SystemCalls
import Vocabulary

/// A loop with a logind client, and what it has told.
final class LogindFixture {
    let loop: EventLoop
    let client: LogindClient
    /// What it has told of sessions and conditions is apart from the rest.
    private(set) var events: [LoginMessage] = []
    private(set) var sessions: [SessionReading] = []
    private(set) var conditions: [LoginConditions] = []

    init(_ address: String, limits: LogindClient.Limits = LogindClient.Limits()) throws {
        loop = try EventLoop()
        client = try LogindClient(event: loop.handle, priority: 0, address: address, limits: limits)
        client.onEvent = { [unowned self] event in
            switch event {
            case .sessionChanged(let reading): sessions.append(reading)
            case .conditionsChanged(let board): conditions.append(board)
            default: events.append(event)
            }
        }
        client.start()
    }

    /// Started, logind found, and all read that is read then.
    static func connected(to bus: PrivateBus, limits: LogindClient.Limits = LogindClient.Limits()) throws
        -> LogindFixture
    {
        let fixture = try LogindFixture(bus.address, limits: limits)
        try fixture.wait { $0.isAvailable }
        try fixture.loop.run { !fixture.sessions.isEmpty }
        fixture.clear()
        return fixture
    }

    func clear() {
        events = []
        sessions = []
        conditions = []
    }

    /// Runs the loop until an event of this kind is among those told.
    @discardableResult
    func wait(for isWanted: (LoginMessage) -> Bool) throws -> LoginMessage {
        try loop.run { events.contains(where: isWanted) }
        guard let event = events.first(where: isWanted) else { throw TimedOut() }
        return event
    }

    func wait(count: Int) throws { try loop.run { events.count >= count } }

    /// Takes a lock; its descriptor.
    func take(_ kind: Inhibitor) throws -> Int32 {
        client.takeLock(kind, mode: .delay)
        guard case .lockTaken(kind, let descriptor) = try wait(for: { $0.isLockTaken(kind) }) else { throw TimedOut() }
        return descriptor
    }
}

extension LoginMessage {
    var isAvailable: Bool { if case .available = self { true } else { false } }
    var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
    var isLockRefused: Bool { if case .lockRefused = self { true } else { false } }
    var isSleepEdge: Bool { if case .prepareForSleep = self { true } else { false } }
    func isLockTaken(_ wanted: Inhibitor) -> Bool { if case .lockTaken(wanted, _) = self { true } else { false } }

    /// Without the time, for comparison.
    var short: String {
        switch self {
        case .available: "available"
        case .unavailable: "unavailable"
        case .prepareForSleep(let start, let delay, _): "sleep \(start) \(delay.map { "\($0)" } ?? "-")"
        case .prepareForShutdown(let start, let delay, _): "shutdown \(start) \(delay.map { "\($0)" } ?? "-")"
        case .lockTaken(let kind, _): "taken \(kind.name)"
        case .lockRefused(let kind, _): "refused \(kind.name)"
        case .lockLost(let kind): "lost \(kind.name)"
        case .preparingForSleep(let value): "preparing \(value.map { "\($0)" } ?? "-")"
        case .foreignLocks(let locks):
            "locks \(locks.map { $0.map { "\($0.who) \($0.pid)" }.joined(separator: " ") } ?? "-")"
        case .lockCrowds(let locks): "crowds \(locks.map { "\($0.user)" }.sorted().joined(separator: " "))"
        case .suspendRefused: "suspend refused"
        case .sessionChanged(let reading): "\(reading)"
        case .conditionsChanged(let board): "\(board)"
        case .powerOffRefused(let reason): "power-off refused: \(reason)"
        }
    }
}
