internal import CLinux

/// How processes ended that became ours when their parents did, such as a daemon that puts itself into the background:
/// those that a loop follows, and the last of all others, as a loop hears of a process that it is to follow only later.
/// A process is known by its pid and its identity: an app that forks again and again may have a pid anew, and leave an
/// end of it.
struct OrphanEnds {
    private static let limit = 256
    /// One for each app that runs; more are a mistake.
    private static let mostFollowed = 4096

    private struct Known {
        var pid: Int32
        var identity: UInt64
        /// nil: it has not ended as ours.
        var end: linux_exit?
        /// By the loop that there is.
        var isWanted = true

        func isOf(_ question: keeper_question) -> Bool { pid == question.pid && identity == question.identity }
    }

    private var followed: [Known] = []
    private var ends: [(pid: Int32, identity: UInt64, end: linux_exit)] = []
    private var next = 0
    /// What was asked for, and is not told yet.
    private var asked: [keeper_question] = []

    /// Before it is reaped.
    mutating func add(_ pid: Int32, _ end: linux_exit) {
        guard let identity = Self.identity(of: pid) else { return }
        if let place = followed.firstIndex(where: { $0.pid == pid && $0.identity == identity }) {
            followed[place].end = end
            return
        }
        if ends.count < Self.limit { return ends.append((pid, identity, end)) }
        ends[next] = (pid, identity, end)
        next = (next + 1) % Self.limit
    }

    mutating func follow(_ question: keeper_question, _ isFollowed: Bool) {
        let place = followed.firstIndex { $0.isOf(question) }
        guard isFollowed else {
            if let place { followed.remove(at: place) }
            return
        }
        if let place { return followed[place].isWanted = true }
        guard followed.count < Self.mostFollowed else { return }
        let end = ends.first { $0.pid == question.pid && $0.identity == question.identity }?.end
        followed.append(Known(pid: question.pid, identity: question.identity, end: end))
    }

    mutating func ask(_ question: keeper_question) { asked.append(question) }

    /// The next one says anew whom it follows.
    mutating func loopEnded() {
        asked = []
        for place in followed.indices { followed[place].isWanted = false }
    }

    mutating func forgetUnclaimed() { followed.removeAll { !$0.isWanted } }

    /// The next answer; nil: all was told. A code of 0: that is not known.
    var nextWord: keeper_word? {
        guard let question = asked.first else { return nil }
        var end = linux_exit()
        if let known = followed.first(where: { $0.isOf(question) })?.end {
            end = known
        } else if let known = ends.first(where: { $0.pid == question.pid && $0.identity == question.identity }) {
            end = known.end
        } else if Self.identity(of: question.pid) != question.identity
            || linux_peek_end(question.pid, &end) != question.pid
        {
            end.code = 0
        }
        var word = keeper_word()
        word.kind = UInt32(KEEPER_ORPHAN_ENDED)
        word.id = question.id
        word.pid = question.pid
        word.code = end.code
        word.status = end.status
        return word
    }

    mutating func told() { asked.removeFirst() }

    /// For another version of this program.
    func leave(_ handover: inout Handover) {
        func add(_ kind: Handover.Kind, _ pid: Int32, _ identity: UInt64, _ end: linux_exit?) {
            handover.add(
                kind, [Int64(pid), Int64(bitPattern: identity), Int64(end?.code ?? 0), Int64(end?.status ?? 0)])
        }
        for known in followed { add(.followed, known.pid, known.identity, known.end) }
        for known in ends[next...] + ends[..<next] { add(.orphanEnd, known.pid, known.identity, known.end) }
    }

    mutating func take(_ handover: Handover) {
        func end(_ record: Handover.Record) -> linux_exit {
            linux_exit(code: record.short(2), status: record.short(3), cpu_ns: 0, max_rss_bytes: 0)
        }
        for record in handover.all(.followed) {
            followed.append(
                Known(
                    pid: record.short(0), identity: UInt64(bitPattern: record[1]),
                    end: record[2] == 0 ? nil : end(record), isWanted: false))
        }
        for record in handover.all(.orphanEnd).suffix(Self.limit) {
            ends.append((record.short(0), UInt64(bitPattern: record[1]), end(record)))
        }
    }

    /// nil: it is gone.
    static func identity(of pid: Int32) -> UInt64? {
        let pidfd = linux_pidfd_open(pid)
        guard pidfd >= 0 else { return nil }
        defer { close(pidfd) }
        let identity = linux_process_identity(pid, pidfd)
        return identity == 0 ? nil : identity
    }
}
