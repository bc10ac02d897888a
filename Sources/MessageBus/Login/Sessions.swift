internal import SystemCalls
internal import Vocabulary

/// Who is logged in and whether their screens are locked, and what the manager itself knows of the board.
///
/// A user who may log in may also lock and unlock, or open sessions, in a loop. So one question is under way at a time,
/// questions about everything are asked and changes are told once per interval, and what is known of sessions has a
/// bound.
final class Sessions {
    private static let limit = 64

    private final class Session {
        let path: String
        /// Its properties have to be read (again).
        var isStale = true
        /// How often logind did not speak of it, until it was read for the first time; nil from then on.
        var silences: Int? = 0
        /// Of a person.
        var isUser = false
        var hasSeat = false
        var isClosing = false
        /// What its locker says, and what it was asked for: where there is no locker, neither is said.
        var lockedHint = false
        var lockSignal = false

        init(path: String) { self.path = path }

        /// Takes one of its properties; false for others than those here.
        func read(_ name: String, _ value: Message) -> Bool {
            if name == "LockedHint" {
                guard let hint = value.readBoolVariant() else { return false }
                // Unlocked by its locker: there is no Unlock signal then.
                if lockedHint, !hint { lockSignal = false }
                lockedHint = hint
            } else if name == "Seat" {
                return value.readVariant("(so)") { value in
                    value.readStruct("so") { fields in
                        hasSeat = fields.readString()?.isEmpty == false
                        return fields.skip("o")
                    }
                }
            } else if name == "State" {
                guard let state = value.readStringVariant() else { return false }
                isClosing = state == "closing"
            } else if name == "Class" {
                guard let kind = value.readStringVariant() else { return false }
                // user, user-early, user-light and user-early-light; one that is incomplete has not logged in yet.
                isUser = kind.utf8.starts(with: "user".utf8) && kind != "user-incomplete"
            } else {
                // Its State has changed too, of which some logind say nothing.
                if name == "Active" { isStale = true }
                return false
            }
            return true
        }
    }

    private unowned(unsafe) let client: LogindClient
    private var sessions: [Session] = []
    private var isListed = false
    private var isIdle = false
    private var conditions = LoginConditions()
    private var toldReading: SessionReading?
    private var toldConditions = LoginConditions()
    /// The list and the manager's properties are to be read.
    private var round = Paced()
    private var isListWanted = false
    /// There is something to be told.
    private var news = Paced()
    private var question: BusSlot?
    /// MONOTONIC, nanoseconds: nothing is asked before, since logind has not answered.
    private var restsUntil: Int64 = 0
    private var work: Delay?

    init(event: OpaquePointer, priority: Int32, client: LogindClient) throws(SystemError) {
        self.client = client
        work = try Delay(event: event, priority: priority) { [unowned(unsafe) self] in turn() }
    }

    /// logind is there, and its properties have been read.
    func start() {
        isListWanted = true
        restsUntil = 0
        round = Paced()
        news = Paced(isWanted: true)
        work?.start(nanoseconds: 0)
    }

    /// logind is gone. A session that was locked stays so if there is one of its name afterwards.
    func drop() {
        work?.stop()
        question = nil
        isListed = false
        isIdle = false
        toldReading = nil
        conditions = LoginConditions()
        toldConditions = conditions
        for session in sessions { session.isStale = true }
    }

    func readAgain() {
        round.isWanted = true
        wake()
    }

    private func wake() {
        if client.isAvailable { work?.start(nanoseconds: 0) }
    }

    /// Does what is due, and comes back for the rest.
    private func turn() {
        let now = Clocks.monotonic
        let interval = client.limits.sessionInterval
        var next = Int64.max
        if restsUntil > now {
            next = restsUntil
        } else if question == nil {
            askNext(now, interval, &next)
        }
        // Before the first telling all has to be asked for; later what is new comes as it comes.
        let isKnown = isListed && (toldReading != nil || question == nil)
        let isTold = isKnown && news.isDue(at: now, every: interval, next: &next)
        if next != .max { work?.start(nanoseconds: next - now) }
        if isTold { tell() }
    }

    private func tell() {
        // The other ones may be locked, and this one open. One that logind never speaks of is not waited for.
        if toldReading != nil || sessions.allSatisfy({ $0.silences ?? Self.enough >= Self.enough }) { tellSessions() }
        guard conditions != toldConditions else { return }
        toldConditions = conditions
        client.tell(.conditionsChanged(conditions))
    }

    private static let enough = 2

    private func tellSessions() {
        var reading = SessionReading(users: 0, isLocked: false, isIdle: isIdle)
        var isOpen = false
        for session in sessions where session.isUser && !session.isClosing {
            reading.users += 1
            guard session.hasSeat else { continue }
            if session.lockedHint || session.lockSignal { reading.isLocked = true } else { isOpen = true }
        }
        if isOpen { reading.isLocked = false }
        guard reading != toldReading else { return }
        toldReading = reading
        client.tell(.sessionChanged(reading))
    }

    // MARK: Questions

    private enum Answer {
        case message(Message)
        /// There is no such thing.
        case none
        /// logind does not say: what was known counts, and it is asked again.
        case silence
    }

    private static let absences = [
        "org.freedesktop.login1.NoSuchSession", "org.freedesktop.DBus.Error.UnknownObject",
        "org.freedesktop.DBus.Error.UnknownInterface", "org.freedesktop.DBus.Error.UnknownMethod",
    ]

    private func askNext(_ now: Int64, _ interval: Int64, _ next: inout Int64) {
        let manager = client.manager("ListSessions")
        if isListWanted {
            isListWanted = false
            ask(manager, []) { [unowned(unsafe) self] in hear(list: $0) }
        } else if let stale = sessions.first(where: { $0.isStale }) {
            askProperties(stale.path, LogindClient.session) { [unowned(unsafe) self] in hear($0, of: stale) }
        } else if round.isDue(at: now, every: interval, next: &next) {
            isListWanted = true
            askProperties(manager.path, manager.interface) { [unowned(unsafe) self] in
                if case .message(let message) = $0 { _ = message.readProperties(read) }
            }
        }
    }

    private func hear(_ answer: Answer, of session: Session) {
        switch answer {
        case .message(let message):
            let isWhole = message.readProperties(session.read)
            session.isStale = false
            session.silences = nil
            if !isWhole { sessions.removeAll { $0 === session } }
        case .none: sessions.removeAll { $0 === session }
        // Whether it is still there is asked first.
        case .silence:
            session.silences? += 1
            isListWanted = true
        }
    }

    private func hear(list answer: Answer) {
        switch answer {
        case .message(let message): listed(message)
        case .none: isListed = true
        case .silence:
            isListWanted = true
            for session in sessions { session.silences? += 1 }
        }
    }

    private func askProperties(_ path: String, _ interface: String, _ answer: @escaping (Answer) -> Void) {
        ask(BusMethod(client.owner, path, "org.freedesktop.DBus.Properties", "GetAll"), [interface], answer)
    }

    private func ask(_ method: BusMethod, _ arguments: [String], _ answer: @escaping (Answer) -> Void) {
        question = try? client.bus?.call(method, arguments, timeout: client.limits.answer) {
            [unowned(unsafe) self] reply in
            question = nil
            switch reply {
            case .success(let message): hear(.message(message), answer)
            case .failure(let error): hear(Self.absences.contains(error.name) ? .none : .silence, answer)
            }
        }
        if question == nil { hear(.silence, answer) }
    }

    private func hear(_ reply: Answer, _ answer: (Answer) -> Void) {
        if case .silence = reply { restsUntil = Clocks.monotonic + client.limits.answer }
        answer(reply)
        news.isWanted = true
        wake()
    }

    /// ListSessions: a(susso), of identifier, user, their name, seat and path.
    private func listed(_ message: Message) {
        isListed = true
        var listed: [Session] = []
        let isWhole = message.readArray(of: "(susso)") { message in
            message.readStruct("susso") { fields in
                guard fields.skip("sus"), let seat = fields.readString() else { return false }
                // Those on a seat come first, as only they have a screen.
                if seat.isEmpty, listed.count == Self.limit { return fields.skip("o") }
                guard let path = fields.readPath() else { return false }
                listed.insert(known(path) ?? Session(path: path), at: seat.isEmpty ? listed.count : 0)
                if listed.count > Self.limit { listed.removeLast() }
                return true
            }
        }
        if isWhole { sessions = listed }
    }

    /// Takes one of the manager's properties; false for others than those here.
    func read(_ name: String, _ value: Message) -> Bool {
        let names = ["IdleHint", "LidClosed", "Docked", "OnExternalPower"]
        guard let index = names.firstIndex(of: name), let flag = value.readBoolVariant() else { return false }
        switch index {
        case 0: isIdle = flag
        case 1: conditions.isLidClosed = flag
        case 2: conditions.isDocked = flag
        default: conditions.isOnExternalPower = flag
        }
        return true
    }

    private func known(_ path: String) -> Session? { sessions.first { $0.path == path } }

    // MARK: Signals

    /// A signal of logind's. IdleHint and LockedHint announce themselves, LidClosed since systemd 256; Docked and
    /// OnExternalPower do not.
    func hear(_ member: String, _ message: Message) {
        switch member {
        // What has changed for the manager by it is not announced.
        case "SessionNew", "SessionRemoved": return readAgain()
        case "Lock", "Unlock": place(message.path)?.lockSignal = member == "Lock"
        case "PropertiesChanged":
            let interface = message.readString()
            if interface == LogindClient.session {
                guard let session = place(message.path) else { return }
                _ = message.readProperties(session.read)
            } else if interface == client.manager("").interface {
                _ = message.readProperties(read)
            }
        default: return
        }
        news.isWanted = true
        wake()
    }

    /// Where that is known; one that is not is added if there is room, as it may be locked before it is listed.
    private func place(_ path: String) -> Session? {
        if let session = known(path) { return session }
        guard sessions.count < Self.limit else { return nil }
        let session = Session(path: path)
        sessions.append(session)
        return session
    }
}

extension LogindClient {
    /// Reads LidClosed, Docked, OnExternalPower and the sessions again.
    public func readConditions() {
        if isAvailable { sessions?.readAgain() }
    }
}

/// What is done when it is wanted, and not again before an interval is over.
private struct Paced {
    var isWanted = false
    private var notBefore: Int64 = 0

    init(isWanted: Bool = false) { self.isWanted = isWanted }

    /// Whether to do it now; if that is later, `next` is when at the latest.
    @inline(never)
    mutating func isDue(at now: Int64, every interval: Int64, next: inout Int64) -> Bool {
        guard isWanted else { return false }
        guard now >= notBefore else {
            next = min(next, notBefore)
            return false
        }
        isWanted = false
        notBefore = now + interval
        return true
    }
}
