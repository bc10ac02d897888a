internal import SystemCalls

/// A delay lock on sleep that some process holds at logind: one of org.freedesktop.login1.Manager.ListInhibitors.
public struct ForeignLock: Equatable, Sendable {
    /// As its holder calls itself, and what it says that it does meanwhile.
    public let who: String
    public let why: String
    /// Whose it was when it was taken; a number that may be another's by now.
    public let user: UInt32
    public let pid: Int32

    public init(who: String, why: String, user: UInt32, pid: Int32) {
        self.who = who
        self.why = why
        self.user = user
        self.pid = pid
    }
}

extension LogindClient {
    /// The most of one user's that are looked at, one of each process: any user may take some thousand, and they are
    /// not to hide another's.
    private static let mostOfUser = 64
    /// Of one user, of any kind: logind has 8192 for all.
    private static let fewestOfCrowd = 256

    /// org.freedesktop.login1.Manager.ListInhibitors.
    public func readForeignLocks() {
        if readingLocks != nil { return }
        guard isAvailable, let bus else { return tellLater(.foreignLocks(nil)) }
        do throws(SystemError) {
            readingLocks = try bus.call(manager("ListInhibitors"), timeout: limits.answer) {
                [unowned(unsafe) self] reply in
                readingLocks = nil
                switch reply {
                case .success(let message):
                    let all = Self.foreignLocks(message)
                    if let all, !all.crowds.isEmpty { tell(.lockCrowds(all.crowds)) }
                    tell(.foreignLocks(all?.locks))
                case .failure: tell(.foreignLocks(nil))
                }
            }
        } catch {
            tellLater(.foreignLocks(nil))
        }
    }

    /// crowds: the last lock of each user who has so many, of any kind, as no honest program takes. nil where the
    /// message is malformed.
    private static func foreignLocks(_ message: Message) -> (locks: [ForeignLock], crowds: [ForeignLock])? {
        var locks: [ForeignLock] = []
        var seen: [UInt32: [Int32]] = [:]
        var all: [UInt32: (count: Int, last: ForeignLock)] = [:]
        let isWhole = message.readArray(of: "(ssssuu)") { message in
            var lock: ForeignLock?
            let isRead = message.readStruct("ssssuu") { fields in
                guard let what = fields.readString(), let who = fields.readString(), let why = fields.readString(),
                    let mode = fields.readString(), let user = fields.readUInt32(), let pid = fields.readUInt32()
                else { return false }
                let each = ForeignLock(who: who, why: why, user: user, pid: Int32(clamping: pid))
                all[user] = ((all[user]?.count ?? 0) + 1, each)
                if mode == LockMode.delay.name, names(what, Inhibitor.sleep.name) { lock = each }
                return true
            }
            if let lock, seen[lock.user, default: []].count < mostOfUser,
                !seen[lock.user, default: []].contains(lock.pid)
            {
                seen[lock.user, default: []].append(lock.pid)
                locks.append(lock)
            }
            return isRead
        }
        return isWhole ? (locks, all.values.filter { $0.count >= fewestOfCrowd }.map { $0.last }) : nil
    }

    /// "shutdown:sleep" names sleep.
    private static func names(_ what: String, _ kind: String) -> Bool {
        what.utf8.split(separator: UInt8(ascii: ":")).contains { $0.elementsEqual(kind.utf8) }
    }
}
