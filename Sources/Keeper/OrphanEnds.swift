internal import CLinux

/// How processes ended that became ours when their parents did, such as a daemon that puts itself into the background:
/// the last of them, for a loop that has followed one and asks. A process is known by its pid and its start: an app
/// that forks again and again may have a pid anew, and leave an end of it.
struct OrphanEnds {
    /// More than end between a process's end and the loop's question for it.
    private static let limit = 256

    private var ends: [(pid: Int32, start: UInt64, end: linux_exit)] = []
    private var next = 0
    /// What was asked for, and is not told yet.
    private var asked: [keeper_question] = []

    /// Before it is reaped.
    mutating func add(_ pid: Int32, _ end: linux_exit) {
        guard let start = Self.start(of: pid) else { return }
        if ends.count < Self.limit { return ends.append((pid, start, end)) }
        ends[next] = (pid, start, end)
        next = (next + 1) % Self.limit
    }

    mutating func ask(_ question: keeper_question) { asked.append(question) }

    mutating func forgetQuestions() { asked = [] }

    /// The next answer; nil: all was told. A code of 0: that is not known.
    var nextWord: keeper_word? {
        guard let question = asked.first else { return nil }
        var end = linux_exit()
        if let known = ends.first(where: { $0.pid == question.pid && $0.start == question.start }) {
            end = known.end
        } else if Self.start(of: question.pid) != question.start || linux_peek_end(question.pid, &end) != question.pid {
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

    private static func start(of pid: Int32) -> UInt64? {
        var status = linux_process_stat()
        return linux_read_process_stat(pid, 0, &status) == 0 ? status.start_ticks : nil
    }
}
